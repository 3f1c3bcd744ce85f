#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Runs MPI programs as jobs of an interactive shell on a terminal, as a user does.

    terminal_jobs.py FOLDER EVENTSPACE MPIEXEC RING

Programs wait for a file before their first MPI call.  Prints each wrong result.
"""

import os
import pty
import re
import select
import signal
import sys
import time

LIMIT_S = 45  # a busy machine takes long; nothing else waits for a time

folder, eventspace, mpiexec, ring = sys.argv[1:]
faults = 0


def fault(what):
    global faults
    faults += 1
    print(f"fault: {what}", flush=True)


def until(condition, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def processes(word):
    """The state of each process with this word on its command line."""
    states = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/stat", "rb") as file:
                state = file.read().rsplit(b")", 1)[1].split()[0].decode()
        except OSError:
            continue
        if word.encode() in words:
            states[int(pid)] = state
    return states


class Program:
    """A program of two ranks, which waits for `go`."""

    def __init__(self, name):
        self.path = f"{folder}/{name}"
        with open(self.path, "w") as file:
            file.write(f"#!/bin/sh\n: >'{self.path}.started'\n"
                       f"until [ -e '{self.path}.go' ]; do sleep 0.05; done\n"
                       f"exec '{ring}' --rounds 2\n")
        os.chmod(self.path, 0o755)

    def has_started(self):
        return os.path.exists(self.path + ".started")

    def go(self):
        open(self.path + ".go", "w").close()

    def kill(self):
        for pid in processes(self.path):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Shell:
    """An interactive bash with job control on a terminal of its own."""

    def __init__(self):
        self.seen = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.chdir(folder)
            os.environ.update(PS1="", HISTFILE="", TERM="dumb")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

    def type(self, text):
        os.write(self.terminal, text.encode())

    def shows(self, pattern):
        """Whether this is printed after what was found before."""
        def is_there():
            while select.select([self.terminal], [], [], 0)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode()
                except OSError:
                    break
            return re.search(pattern, self.seen)
        if not until(is_there):
            return False
        self.seen = self.seen[re.search(pattern, self.seen).end():]
        return True

    def close(self):
        if self.terminal >= 0:
            os.close(self.terminal)
            self.terminal = -1
            os.waitpid(self.pid, 0)


RUN = f"{eventspace} run -n 2 --name {os.environ['prefix']}-NAME"
ROADS = {
    "alone": f"{mpiexec} -n 2",
    "run": f"{RUN} --",
    "record": f"{RUN} --record {folder}/NAME.archive --",
    "watch": f"{RUN} --watch --",
    "exec": f"{mpiexec} -n 2 {eventspace} exec --",
}


def steps(case, shell, program, expected):
    """Each step is an action or what must then be shown or hold."""
    for i, (what, step) in enumerate(expected):
        if what == "type":
            shell.type(step)
        elif what == "shows" and not shell.shows(step):
            fault(f"{case}: step {i}: '{step}' in vain: {shell.seen!r}, "
                  f"{processes(program.path)}")
            return
        elif what == "holds" and not until(step):
            fault(f"{case}: step {i} does not hold: {shell.seen!r}, "
                  f"{processes(program.path)}")
            return
        elif what == "do":
            step()


def try_case(case, road, make_steps):
    began = time.monotonic()
    program, shell = Program(case), Shell()
    command = f"{ROADS[road].replace('NAME', case)} {program.path}"
    try:
        steps(f"{case} ({command})", shell, program,
              make_steps(shell, program, command))
    finally:
        program.kill()
        shell.close()
    print(f"{case}: {time.monotonic() - began:.1f} s", flush=True)


def background(shell, program, command):
    return [("type", f"{command} &\n"),
            ("holds", program.has_started),
            ("do", program.go),
            ("type", "wait %1; echo ended $?\n"),
            ("shows", r"ring: 2 rounds"),
            ("shows", r"ended 0\s")]


def suspended(shell, program, command):
    def has_stopped():
        return "T" in processes(program.path).values()

    return [("type", f"{command}\n"),
            ("holds", program.has_started),
            ("type", "\x1a"),
            ("shows", r"Stopped"),
            ("holds", has_stopped),
            ("type", "fg\n"),
            ("holds", lambda: not has_stopped()),
            ("type", "\x1a"),
            ("shows", r"Stopped"),
            # Nothing is typed afterwards: MPICH 4.2's launcher ends with an error if it sees
            # a key before the shell does.
            ("type", "bg; wait %1; echo ended $?\n"),
            ("holds", lambda: not has_stopped()),
            ("do", program.go),
            ("shows", r"ended 0\s")]


def interrupted(shell, program, command):
    return [("type", f"{command}\n"),
            ("holds", program.has_started),
            ("type", "\x03"),
            ("holds", lambda: not processes(program.path)),
            ("type", "echo ended $?\n"),
            ("shows", r"ended 130\s")]


def is_in(path, text):
    def look():
        with open(path, errors="replace") as file:
            return text in file.read()
    return look


def without_hangup(shell, program, command):
    output = program.path + ".out"
    return [("type", f"nohup {command} >{output} 2>&1 &\n"),
            ("holds", program.has_started),
            ("do", shell.close),
            ("do", program.go),
            ("holds", is_in(output, "ring: 2 rounds")),
            ("holds", lambda: not processes(program.path))]


def own_session(shell, program, command):
    output = program.path + ".out"
    return [("type", f"setsid {command} >{output} 2>&1 &\n"),
            ("holds", program.has_started),
            ("do", shell.close),
            ("do", program.go),
            ("holds", is_in(output, "ring: 2 rounds")),
            ("holds", lambda: not processes(program.path))]


def closed(shell, program, command):
    return [("type", f"{command}\n"),
            ("holds", program.has_started),
            ("do", shell.close),
            ("holds", lambda: not processes(program.path))]


for road in ROADS:
    try_case(f"background-{road}", road, background)
for case, road, make_steps in (
        ("suspended", "record", suspended),
        ("suspended-exec", "exec", suspended),
        ("interrupted", "run", interrupted),
        ("nohup", "watch", without_hangup),
        ("setsid", "record", own_session),
        ("closed", "record", closed),
        ("closed-alone", "alone", closed)):
    try_case(case, road, make_steps)
sys.exit(faults > 0)
