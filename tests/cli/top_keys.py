#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Sends random keys to a command on a terminal whose size changes at random.

    top_keys.py SEED COUNT COMMAND [ARGUMENT...]

The command has to live until `q` ends it, with status 0, and has to leave the terminal as
it was. Prints the seed and what is wrong; ends with 1 then.
"""

import fcntl
import os
import pty
import random
import select
import signal
import struct
import sys
import termios
import time

KEYS = ["\033[A", "\033[B", "\033OA", "\033OB", "\033[5~", "\033[6~", "\033[H", "\033[F",
        "\033OP", "\033OR", "\033OS", "\033[15~", "\033[17~", "\033", "\t", "\r", "\177",
        "t", "*", "+", "-", "<", ">", "I", "Z", "w", "n", "h", "/", "\\", "\014",
        "0", "7", "3-", "stall", "x", " ", ",", "\303\274", "\377"]
LEAVES = b"\033[?1049l"
LIMIT = 60


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, command):
        wait, begin = os.pipe()
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.close(begin)
            os.read(wait, 1)  # ends when `before` is known
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            os.environ["TERM"] = "xterm-256color"
            os.environ["LINES"] = os.environ["COLUMNS"] = "5"  # is not to be believed
            os.execvp(command[0], command)
        self.before = termios.tcgetattr(self.fd)
        os.close(wait)
        os.close(begin)
        self.written = b""

    def resize(self, rows, columns):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, size)

    def read(self, seconds):
        """Whether the command still holds the terminal, after it was quiet or it was time."""
        until = time.monotonic() + seconds
        while select.select([self.fd], [], [], max(0, until - time.monotonic()))[0]:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                return False
            if not part:
                return False
            self.written += part
        return True

    def send(self, keys):
        os.write(self.fd, keys.encode("latin-1"))


def end(terminal):
    """The exit status after `q`, whatever is open; None: it does not end."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        try:
            terminal.send("\033")
            terminal.read(0.1)
            terminal.send("q")
        except OSError:
            pass
        if not terminal.read(0.3):
            _, status = os.waitpid(terminal.process, 0)
            return os.waitstatus_to_exitcode(status)
    return None


def main():
    seed, count, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    draw = random.Random(seed)
    terminal = Terminal(command)
    terminal.resize(24, 80)
    until = time.monotonic() + LIMIT
    while b"RANK" not in terminal.written and time.monotonic() < until:
        if not terminal.read(0.05):
            break
    print(f"seed {seed}")
    for number in range(count):
        if draw.random() < 0.2:
            terminal.resize(draw.randint(1, 70), draw.randint(1, 250))
        else:
            terminal.send(draw.choice(KEYS))
        if not terminal.read(0.004):
            print(f"ended at key {number}: {terminal.written[-2000:]!r}")
            return 1
    status = end(terminal)
    if status != 0:
        print(f"ended with {status}: {terminal.written[-2000:]!r}")
        return 1
    if LEAVES not in terminal.written[-4096:]:
        print("did not leave the alternate screen")
        return 1
    try:
        if termios.tcgetattr(terminal.fd) != terminal.before:
            print("the terminal is not as it was")
            return 1
    except termios.error:
        pass  # it went with its last user
    return 0


if __name__ == "__main__":
    sys.exit(main())
