#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""make_assets.py - writes files of the page as a table in C (page_assets.h).

usage: make_assets.py FILE... >page_assets.c
"""

import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
BYTES_PER_LINE = 16


def type_of(name):
    ending = os.path.splitext(name)[1]
    if ending not in TYPES:
        sys.exit(f"make_assets.py: {name}: no type of HTTP is known for '{ending}'")
    return TYPES[ending]


def write_bytes(number, content):
    print(f"static const unsigned char bytes_{number}[] = {{")
    for at in range(0, len(content), BYTES_PER_LINE):
        part = content[at:at + BYTES_PER_LINE]
        print("    " + " ".join(f"{byte}," for byte in part))
    print("    0,\n};\n")  # so that an empty file has one, too


def main(paths):
    print("/* SPDX-License-Identifier: BSD-3-Clause */\n"
          "/* Copyright (c) 2026 the EventSpace authors */\n"
          "/* page_assets.c - made by make_assets.py: do not edit. */")
    print('#include "config.h"\n\n#include "cli/page/page_assets.h"\n')
    rows = []
    for number, path in enumerate(paths):
        name = os.path.basename(path)
        with open(path, "rb") as file:
            content = file.read()
        write_bytes(number, content)
        shown = "/" if name == "index.html" else "/" + name
        rows.append(f'    {{"{shown}", "{type_of(name)}", bytes_{number}, '
                    f'{len(content)}}},')
    print("const struct esi_page_asset esi_page_assets[] = {")
    print("\n".join(rows + ["    {0},", "};"]))


main(sys.argv[1:])
