#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Types command lines and TAB into an interactive shell on a terminal of its own, and
checks that completion evaluates nothing of them.

    complete_typing.py SHELL EVENTSPACE COMPLETIONS

Works in the current folder, which is to be empty.  The exit status is 1 if a line was
evaluated, or if the shell did not ask the command or did not complete "heartb".
"""

import os
import pty
import select
import signal
import sys
import time

WAIT_S = 60

# {X} is the file that appears if the line is evaluated.
LINES = [
    "eventspace list '$(touch {X})'",
    "eventspace run -- x 'a; touch {X}'",
    "eventspace list '`touch {X}`'",
    "eventspace events --host='$(touch {X})'",
    "eventspace list a\\;touch\\ {X}",
    "eventspace record -o out 'a' '\"; touch {X}; \"'",
    "./other/eventspace list '{X}'",
    "eventspace list '$(touch {X})/a",
]

START = {
    "bash": (["bash", "--norc", "-i"], ". {scripts}/bash/eventspace"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "fpath=({scripts}/zsh $fpath); autoload -U compinit; compinit -u -d dump",
    ),
    "fish": (["fish", "--no-config", "-i"], "source {scripts}/fish/eventspace.fish"),
}

# What the shell finds in PATH, and what it is not to run although a line names it.
ASKED = """printf '%s\\n' "$*" >>'{folder}/asked'
exec '{eventspace}' "$@"
"""
NAMED = "for last; do :; done; touch \"$(echo \"$last\" | tr -d \\')\"\n"


class Shell:
    def __init__(self, command):
        environment = dict(
            os.environ, TERM="xterm", HOME=os.getcwd(), XDG_CONFIG_HOME=os.getcwd(),
            XDG_DATA_HOME=os.getcwd(), PATH=os.getcwd() + "/bin:" + os.environ["PATH"],
        )
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            os.execvpe(command[0], command, environment)
        self.marks = 0

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, condition, what):
        """Reads what the shell writes, so that it never blocks, until the condition."""
        end = time.monotonic() + WAIT_S
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"{sys.argv[1]}: no {what} within {WAIT_S} s")
            if select.select([self.terminal], [], [], 0.05)[0]:
                os.read(self.terminal, 65536)

    def finish_line(self):
        """Discards the line and waits until the shell has read all that was typed."""
        self.marks += 1
        mark = f"mark{self.marks}"
        self.type(f"\x01\x0b\x15touch {mark}\r")
        self.wait_for(lambda: os.path.exists(mark), mark)


def write_program(folder, text):
    os.mkdir(folder)
    with open(folder + "/eventspace", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(folder + "/eventspace", 0o755)


def asked():
    try:
        with open("asked", encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def main():
    name, eventspace, scripts = sys.argv[1:]
    command, start = START[name]
    folder = os.getcwd()
    write_program("bin", ASKED.format(folder=folder, eventspace=eventspace))
    write_program("other", NAMED)

    shell = Shell(command)
    shell.type(start.format(scripts=scripts) + "\r")
    shell.finish_line()
    faults = 0
    for number, line in enumerate(LINES):
        evaluated = f"evaluated{number}"
        before = len(asked())
        shell.type(line.format(X=evaluated) + "\t")
        shell.wait_for(lambda: len(asked()) > before, f"question after {line}")
        shell.finish_line()
        if os.path.exists(evaluated):
            print(f"{name}: TAB evaluates: {line}")
            faults += 1
    before = len(asked())
    shell.type("eventspace heartb\t")
    shell.wait_for(lambda: len(asked()) > before, "question after eventspace heartb")
    shell.type(" --help >help\r")
    shell.wait_for(lambda: len(asked()) > before + 1, "command run")
    if "heartbeat --help" not in asked():
        print(f"{name}: 'eventspace heartb' is not completed: {asked()[-2:]}")
        faults += 1
    shell.type("exit\r")
    os.close(shell.terminal)
    os.waitpid(shell.process, 0)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
