#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""header_examples.py - calls shown in comments of headers are valid.

usage: header_examples.py TOP

A call of a function of ours in a comment of a header must be of a declared function. It
must have the right number of arguments, unless it has none or contains `...`.
"""

import os
import re
import sys

FOLDERS = ("base", "tuplespace", "pathmap", "wrappers", "scopes", "monitors", "cli", "include")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NAME = re.compile(r"\b(esi?_\w+)\(")


def arguments(text, begin):
    """Returns the arguments between parentheses after `begin` as a list, or None."""
    depth, parts = 0, [""]
    for char in text[begin:]:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return [part.strip() for part in parts]
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return None


def headers(top):
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(top, folder)):
            for name in names:
                if name.endswith(".h"):
                    path = os.path.join(where, name)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, top), file.read()


def faults(top):
    texts = dict(headers(top))
    declared = {}
    for text in texts.values():
        code = COMMENT.sub("", text)
        for match in NAME.finditer(code):
            declared.setdefault(match[1], arguments(code, match.end()))
    for path, text in sorted(texts.items()):
        for comment in COMMENT.finditer(text):
            shown = re.sub(r"\n *\*", "\n  ", comment[0])
            for match in NAME.finditer(shown):
                line = text.count("\n", 0, comment.start()) + shown.count("\n", 0, match.start())
                given = arguments(shown, match.end())
                if match[1] not in declared:
                    yield f"{path}:{line + 1}: {match[1]}() does not exist"
                elif given is None or "".join(given) == "" or "..." in "".join(given):
                    continue
                elif len(given) != len(declared[match[1]]):
                    yield (f"{path}:{line + 1}: {match[1]}() takes "
                           f"{len(declared[match[1]])} arguments")


def main():
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
