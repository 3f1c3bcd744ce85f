#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_printed.py - what a document quotes is what its commands print.

usage: check_printed.py DOCUMENT OUTPUT

Blocks fenced with ```text printed quote output.  The words of each line must stand in
this order in a line of OUTPUT, and the lines of a block in the order of the block: columns
and lines may be left out.  Numbers of one digit are compared; others, and times, are not.
Prints the lines that were not found, and ends with 1 if there are some.
"""

import re
import socket
import sys

BLOCK = re.compile(r"^```text printed\n(.*?)^```$", re.S | re.M)


def words(line):
    line = line.replace(socket.gethostname(), "node")
    line = re.sub(r"\b\d+(\.\d+)? (ns|us|ms|s|min)\b", "TIME", line)
    return re.sub(r"\b(\d+\.\d+|\d{2,})\b", "NUMBER", line).split()


def are_in(some, line):
    rest = iter(line)
    return all(word in rest for word in some)


def missing_lines(block, output):
    position = 0
    for line in filter(str.strip, block.split("\n")):
        place = next((i for i in range(position, len(output))
                      if are_in(words(line), output[i])), None)
        if place is None:
            yield line
        else:
            position = place


def main():
    document, printed = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
    output = [words(line) for line in printed.split("\n")]
    blocks = BLOCK.findall(document)
    missing = [line for block in blocks for line in missing_lines(block, output)]
    print("\n".join(f"{sys.argv[1]}: not printed: {line}" for line in missing))
    return 1 if missing or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
