#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""damage.py - damages files of an archive at random, and runs commands on it.

usage: damage.py EVENTSPACE ARCHIVE FOLDER SEED ROUNDS|SECONDSs

Each round damages a copy of ARCHIVE in FOLDER at one to three places: a byte, a word of
a stream, a number in a table, a line, or the end of a file.  Each command must end by
itself with one of its documented statuses, without a report of a sanitizer, within 30 s
of processor time and 64 MiB of output.  Prints what did not, with the seed that repeats
it, and ends with 1.
"""

import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import time

CPU_SECONDS, OUTPUT_BYTES = 30, 64 << 20
NUMBERS = (-1, 0, 1, 255, 2**31 - 1, -2**31, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1,
           -2**63, 2**63, 2**64 - 1, "1e300", "-0.5", "null", '""', "[]")
WORDS = (0, 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
# Of an archive, written @; + is a new output, which is removed.
COMMANDS = """
why @|why -v --format json @|time @|time --format json @|profile @|profile --format json @
profile --matrix +.svg @|compare --all @ @|collectives --once @|list @
export --to svg @|export --to svg --axis level @|export --to html @|export --to csv @
export --to chrome @|export --to dot @|export --to shiviz @|export --to event-set @
export --to otf2 -o + @|order --stats @|search -p mpi @|import @ -o +|record --repair @
time --follow @|export --to svg --since 1ms @|export --to svg --cone 0.0:3 @
""".replace("|", "\n").split("\n")


def damage_bytes(data, where):
    if len(data) >= 8 and where.random() < 0.5:
        at = where.randrange(len(data) - 7)
        if where.random() < 0.7:  # a field of a record
            at = at // 4 * 4
        word = where.choice(WORDS)
        data[at:at + 8] = struct.pack("<Q", word)
    else:
        at = where.randrange(len(data))
        data[at] = where.choice((0, 1, 0x7f, 0x80, 0xff, data[at] ^ 1 << where.randrange(8)))


def damage_text(data, where):
    found = list(re.finditer(rb"-?\b\d+(\.\d+)?", bytes(data)))
    way = where.random()
    if found and way < 0.8:
        number = where.choice(found)
        data[number.start():number.end()] = str(where.choice(NUMBERS)).encode()
    elif way < 0.9:
        lines = bytes(data).splitlines(keepends=True)
        at = where.randrange(len(lines))
        lines[at:at + 1] = lines[at:at + 1] * where.choice((0, 2))
        data[:] = b"".join(lines)
    else:
        damage_bytes(data, where)


def damage(folder, where):
    files = sorted(os.path.join(place, name)
                   for place, _, names in os.walk(folder) for name in names)
    for _ in range(where.randint(1, 3)):
        path = where.choice(files)
        with open(path, "rb") as stream:
            data = bytearray(stream.read())
        if not data:
            continue
        if where.random() < 0.05:
            del data[where.randrange(len(data)):]
        elif path.endswith((".jsonl", ".json", "metadata")):
            damage_text(data, where)
        else:
            damage_bytes(data, where)
        with open(path, "wb") as stream:
            stream.write(data)


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    for name in (path, path + ".svg"):
        if os.path.lexists(name):
            os.unlink(name)


def run(program, command, folder):
    """What is wrong with the end of a command; None if nothing is."""
    new = os.path.join(folder, "new")
    remove(new)
    words = [word.replace("+", new).replace("@", os.path.join(folder, "damaged"))
             for word in command.split()]
    out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        try:
            status = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=stdout,
                                    stderr=stderr, preexec_fn=limit, timeout=600).returncode
        except subprocess.TimeoutExpired:
            return "hangs"
    with open(err, "rb") as stream:
        said = stream.read().decode(errors="replace")
    if re.search(r"runtime error|Sanitizer|Assertion", said):
        return said[:1500]
    if status not in (0, 1, 2, 3, 4):
        return f"ended with {status}: {said[:300]}"
    if status == 2 and not said.startswith("eventspace "):
        return f"status 2 without a reason: {said[:300]}"
    return None


def main():
    program, archive, folder, seed, amount = sys.argv[1:]
    commands = [command for command in COMMANDS if command]
    end = time.monotonic() + float(amount[:-1]) if amount.endswith("s") else None
    rounds, faults = 0, 0
    while time.monotonic() < end if end else rounds < int(amount):
        where = random.Random(f"{seed}/{rounds}")
        damaged = os.path.join(folder, "damaged")
        remove(damaged)
        shutil.copytree(archive, damaged)
        damage(damaged, where)
        for command in where.sample(commands, 3):
            wrong = run(program, command, folder)
            if wrong:
                faults += 1
                print(f"seed {seed}, round {rounds}: {command}: {wrong}", flush=True)
        rounds += 1
    print(f"{rounds} rounds, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
