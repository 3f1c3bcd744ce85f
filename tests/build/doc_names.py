# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""doc_names.py - our functions, types and files that documents name exist, and so do the
files and headings that they link to.

usage: doc_names.py TOP BUILD
"""

import glob
import os
import re
import sys

FOREIGN_FILES = {"hwloc.h", "jansson.h", "mpi.h", "mpif.h", "test_CONCEPT.c"}
# Ignore copies of the sources: `make dist` and check_dist.sh create and remove them.
SKIPPED_FOLDERS = re.compile(r"\.git$|autom4te\.cache$|__pycache__$|check-dist-|eventspace-[0-9]")
CODE = (".c", ".h", ".am", ".sh", ".py", ".tab", ".txt")
NAME = re.compile(r"\b(?:esi?_\w*[a-z0-9]|ESI?_[A-Z]\w*[A-Z0-9])\b(?![*_])")
FILE = re.compile(r"(?<![\w*\]])[\w/-]+\.(?:c|h|sh|py|am)\b(?![\w*])")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        return text.read()


def read_if_there(path):
    """Returns the text, or "" if another test has removed the file meanwhile."""
    try:
        return read(path)
    except FileNotFoundError:
        return ""


def anchors(path):
    """Returns what links to the headings of a document end in."""
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.S | re.M)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(path, line):
    for target, anchor in LINK.findall(line):
        linked = os.path.join(os.path.dirname(path), target) if target else path
        if "://" in target:
            continue
        if not os.path.exists(linked):
            yield f"file {target}"
        elif anchor and anchor not in anchors(linked):
            yield f"heading #{anchor} in {target or os.path.basename(path)}"


def main():
    top, build = sys.argv[1:3]
    names, files = set(), set(FOREIGN_FILES)
    for folder in {top, build}:
        for where, folders, found in os.walk(folder):
            folders[:] = [f for f in folders if not SKIPPED_FOLDERS.match(f)]
            files.update(found)
            for name in found:
                if name.endswith(CODE):
                    names.update(NAME.findall(read_if_there(os.path.join(where, name))))
    faults = 0
    for path in sorted(glob.glob(top + "/*.md") + glob.glob(top + "/docs/*.md")):
        has_old_names = os.path.basename(path) == "CHANGELOG.md"
        for number, line in enumerate(read(path).splitlines(), 1):
            gone = {n for n in NAME.findall(line) if n not in names}
            gone |= {f for f in FILE.findall(line) if os.path.basename(f) not in files}
            if has_old_names:
                gone = set()
            for name in [*sorted(gone), *dead_links(path, line)]:
                print(f"{os.path.relpath(path, top)}:{number}: there is no {name}")
                faults += 1
    return 1 if faults or len(names) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
