#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""record_members.py - the members of what commands print are those that a document tells.

usage: record_members.py DOCUMENT FOLDER [UNPROVOKED...]

FOLDER/COMMAND.json holds JSON Lines of COMMAND.  DOCUMENT has a table for each record
under a heading such as "### `events`: `event`, `open`": the commands, and the values of the
member `type` ("object" where these are not records of their own).  The first column names
the members, those of objects in the record as OBJECT.MEMBER.  An object that has just the
members which the section "### Measures" names is one value.

Prints what is printed but not told, or told but not printed, and ends with 1 if there is
such a member.  UNPROVOKED are members, or whole records, that need not be printed, such as
"list process signal" or "collectives applied"; "all" leaves out all records that are not
printed.
"""

import glob
import json
import os
import re
import sys

HEADING = re.compile(r"^### (`[\w `,]+`): (`[\w `,]+`)$")


def names_in(text):
    return re.findall(r"`([\w. ]+)`", text)


def told_members(document):
    """{(command, type): set of members}"""
    told, records = {}, []
    for line in document.splitlines():
        heading = HEADING.match(line)
        if heading:
            records = [(command, kind) for command in names_in(heading[1])
                       for kind in names_in(heading[2])]
            told.update((record, set()) for record in records)
        elif line.startswith("#"):
            records = []
        elif records and line.startswith("| `"):
            for record in records:
                told[record].update(names_in(line.split("|")[1]))
    return told


def paths(value, measure, prefix=""):
    """The members of an object, those of objects in it by their paths."""
    for name, member in value.items():
        yield prefix + name
        for item in member if isinstance(member, list) else [member]:
            if isinstance(item, dict) and set(item) != measure:
                yield from paths(item, measure, prefix + name + ".")


def printed_members(folder, told, measure):
    printed = {}
    for path in sorted(glob.glob(folder + "/*.json")):
        command = os.path.basename(path)[:-len(".json")]
        for line in open(path, encoding="utf-8"):
            value = json.loads(line)
            record = (command, value.get("type", "object"))
            if record not in told and (command, "object") in told:
                record = (command, "object")
            printed.setdefault(record, set()).update(paths(value, measure))
    return printed


def main():
    document = open(sys.argv[1], encoding="utf-8").read()
    unprovoked = set(sys.argv[3:])
    measure = set(names_in(re.search(r"^### Measures$(.*?)^#", document, re.S | re.M)[1]))
    told = told_members(document)
    printed = printed_members(sys.argv[2], told, measure)
    faults = []
    for record in sorted(set(told) | set(printed)):
        name = " ".join(record)
        if record not in printed and unprovoked & {name, "all"}:
            continue
        here, there = printed.get(record, set()), told.get(record, set())
        faults += [f"{name} {m}: is printed, but not told" for m in sorted(here - there)]
        faults += [f"{name} {m}: is told, but not printed" for m in sorted(there - here)
                   if f"{name} {m}" not in unprovoked]
    print("\n".join(faults))
    return 1 if faults or len(told) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
