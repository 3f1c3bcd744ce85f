# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_errors.py PROGRAM LIBRARY FOLDER - runs `errors` (errors.c) alone, plain and with
the library preloaded, and compares exit status, output and messages.

By default each error is tried with one level and one object, which differ from error to
error. With ES_ERRORS=all in the environment all errors x levels x objects are tried, and
with ES_ERRORS=PATTERN those whose "LEVEL OBJECT ERROR" contains the pattern."""

import concurrent.futures
import difflib
import os
import re
import subprocess
import sys

program, library, folder = sys.argv[1:]
LEVELS = ["single", "multiple"]
BOTH_AT_ONCE = 2

# What differs from run to run: addresses, process ids, MPICH's number of the error (whose
# last bits are the status), ports. With MPI_STATUS_IGNORE MPI prints the address of a
# status of ours; `errors` passes statuses.
VARYING = [
    (r"0x[0-9a-f]+", "ADDRESS"),
    (r"Abort\(\d+\)", "Abort(CODE)"),
    (r"\[([^][ :]+):\d+\]", r"[\1:PID]"),
    (r"(reported by process) \[\d+,", r"\1 [JOB,"),
    (r"\[\[\d+,", "[[JOB,"),
    (r"\bPID:? *\d+", "PID"),
]


def plain(text):
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def run(case, number, preload):
    environment = dict(
        os.environ, LD_PRELOAD=preload,
        ES_TEST_FILE=os.path.join(folder, "file-%d" % number))
    done = subprocess.run(
        [program, *case], env=environment, stdin=subprocess.DEVNULL, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return [
        "status %d" % done.returncode,
        *plain(done.stdout).splitlines(),
        *plain(done.stderr).splitlines(),
    ]


def compare(case, number):
    alone = run(case, number, "")
    collected = run(case, number, library)
    # Open MPI hands its message to its launcher, and sometimes ends before it arrives.
    for _ in range(5):
        if collected == alone:
            break
        alone = run(case, number, "")
        collected = run(case, number, library)
    return alone, collected


def choose(names):
    """The cases: level, object, error."""
    wanted = os.environ.get("ES_ERRORS", "")
    cases = []
    for i, line in enumerate(names):
        error, *objects = line.split()
        every = [[level, item, error] for item in objects for level in LEVELS]
        if wanted == "":
            cases.append(every[i * 5 % len(every)])
        else:
            cases += [case for case in every if wanted in ["all"] or wanted in " ".join(case)]
    return cases


def main():
    listed = subprocess.run(
        [program, "--list"], stdout=subprocess.PIPE, check=True, text=True)
    cases = choose(listed.stdout.splitlines())
    differ = 0
    fatal = 0
    with concurrent.futures.ThreadPoolExecutor(BOTH_AT_ONCE) as pool:
        results = pool.map(compare, cases, range(len(cases)))
        for case, (alone, collected) in zip(cases, results):
            fatal += alone[0] != "status 3"
            if alone != collected:
                differ += 1
                print("# differs: " + " ".join(case))
                for line in difflib.unified_diff(
                        alone, collected, "alone", "collected", lineterm="", n=9):
                    print("#   " + line)
    print("# %d cases, of which %d ended the program; %d differ" % (len(cases), fatal, differ))
    return 1 if differ or not fatal else 0


sys.exit(main())
