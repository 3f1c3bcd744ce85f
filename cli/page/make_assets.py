#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""make_assets.py - writes files of the page as a table in C, and all of them as one file
that needs no server (page_assets.h).

usage: make_assets.py FILE... >page_assets.c
"""

import base64
import hashlib
import json
import os
import re
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


# --- One file that needs no server --------------------------------------------------

# What index.html loads, and what stands for it.
STYLE = '<link rel="stylesheet" href="/page.css">'
SCRIPT = '<script type="module" src="/main.js"></script>'
DATA = '<script type="application/zlib;base64" id="eventspace-data">'
POLICY = ("default-src 'none'; script-src {} data:; style-src {}; img-src data: blob:; "
          "base-uri 'none'; form-action 'none'")


def replace_once(text, old, new):
    if text.count(old) != 1:
        sys.exit(f"make_assets.py: index.html: expected '{old}' once")
    return text.replace(old, new)


def module_address(text):
    """A module that imports others by their bare names: "./" has no meaning here."""
    content = re.sub(r"from '\./([\w.]+)'", r"from '\1'", text).encode()
    return "data:text/javascript;base64," + base64.b64encode(content).decode()


def with_hash(kind, attributes, content):
    """An element, and how the policy names what is in it."""
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"<{kind}{attributes}>{content}</{kind}>", f"'sha256-{digest}'"


def bundle(files):
    """The page, in two parts: its data comes between them."""
    modules = {name: module_address(text) for name, text in files.items()
               if name.endswith(".js")}
    style, style_hash = with_hash("style", "", files["page.css"])
    names, names_hash = with_hash("script", ' type="importmap"',
                                  json.dumps({"imports": modules}))
    script, script_hash = with_hash("script", ' type="module"', "import 'main.js';")
    policy = POLICY.format(f"{names_hash} {script_hash}", style_hash)
    page = replace_once(files["index.html"], STYLE, style)
    page = replace_once(page, '<meta charset="utf-8">',
                        '<meta charset="utf-8">\n  '
                        f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
    page = replace_once(page, SCRIPT, "")
    page = replace_once(page, "</body>", f"{DATA}</script>\n{names}\n{script}\n</body>")
    ahead, behind = page.split(DATA)
    return ahead + DATA, behind


def write_text(name, content):
    print(f"static const char {name}[] = {{")
    content = content.encode()
    for at in range(0, len(content), BYTES_PER_LINE):
        print("    " + " ".join(f"{byte - 256 if byte > 127 else byte},"
                                for byte in content[at:at + BYTES_PER_LINE]))
    print("    0,\n};\n")


def main(paths):
    print("/* SPDX-License-Identifier: BSD-3-Clause */\n"
          "/* Copyright (c) 2026 the EventSpace authors */\n"
          "/* page_assets.c - made by make_assets.py: do not edit. */")
    print('#include "config.h"\n\n#include "cli/page/page_assets.h"\n')
    rows = []
    texts = {}
    for number, path in enumerate(paths):
        name = os.path.basename(path)
        with open(path, "rb") as file:
            content = file.read()
        write_bytes(number, content)
        texts[name] = content.decode()
        shown = "/" if name == "index.html" else "/" + name
        rows.append(f'    {{"{shown}", "{type_of(name)}", bytes_{number}, '
                    f'{len(content)}}},')
    print("const struct esi_page_asset esi_page_assets[] = {")
    print("\n".join(rows + ["    {0},", "};", ""]))
    for name, content in zip(("saved_ahead", "saved_behind"), bundle(texts)):
        write_text(name, content)
    print("const char *const esi_page_saved[2] = {saved_ahead, saved_behind};")


main(sys.argv[1:])
