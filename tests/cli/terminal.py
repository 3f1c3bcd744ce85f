#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Runs a command on a terminal of its own and passes on what it writes there.

    terminal.py COLUMNS COMMAND [ARGUMENT...]

Lines end with a newline only.  The exit status is the command's.
"""

import fcntl
import os
import pty
import signal
import struct
import sys
import termios

ROWS = 40


def read_all(terminal):
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the last writer has gone
            return
        if not part:
            return
        sys.stdout.buffer.write(part.replace(b"\r\n", b"\n"))
        sys.stdout.buffer.flush()


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    process, terminal = pty.fork()
    if process == 0:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        os.environ["TERM"] = "xterm"
        os.environ.pop("COLUMNS", None)
        os.execvp(command[0], command)
    read_all(terminal)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
