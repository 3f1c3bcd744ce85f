#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""schema_members.py - a JSON Schema says what a document tells of what commands print.

usage: schema_members.py DOCUMENT SCHEMA FOLDER

DOCUMENT and FOLDER are as of record_members.py.  SCHEMA has a definition COMMAND-TYPE for
each record, with dashes for blanks: it must name the same members as the document.  Where
python3 has the jsonschema module, each line that is printed must be as its definition says.
Prints what is not so, and ends with 1 if there is anything.
"""

import glob
import json
import os
import sys

from record_members import told_members


def definition_of(command, kind):
    return f"{command}-{kind}".replace(" ", "-")


def said_members(definition, prefix=""):
    """The members of a definition, those of objects in it by their paths."""
    for name, member in definition.get("properties", {}).items():
        yield prefix + name
        yield from said_members(member.get("items", member), prefix + name + ".")


def compare(told, definitions):
    """Faults, a line each."""
    names = {definition_of(*record): members for record, members in told.items()}
    for name in sorted(set(names) ^ (set(definitions) - {"measure"})):
        yield f"{name}: is told or defined, but not both"
    for name in sorted(set(names) & set(definitions)):
        said = set(said_members(definitions[name]))
        yield from (f"{name} {m}: is told, but not defined" for m in sorted(names[name] - said))
        yield from (f"{name} {m}: is defined, but not told" for m in sorted(said - names[name]))


def types_and_times(definitions):
    """Every object has a type, and what ends in _ns is a number."""
    for name, definition in definitions.items():
        members = definition["properties"]
        if name != "measure" and not members.get("type", {}).get("const"):
            yield f"{name}: has no type"
        yield from (f"{name} {member}: is no number" for member, value in members.items()
                    if member.endswith("_ns") and "string" in str(value))


def judge(schema, folder):
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("skipped: what is printed is not judged by the schema: no python3 jsonschema")
        return
    Draft202012Validator.check_schema(schema)
    for path in sorted(glob.glob(folder + "/*.json")):
        command = os.path.basename(path)[:-len(".json")]
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            value = json.loads(line)
            name = definition_of(command, value["type"])
            chosen = {**schema, "anyOf": [{"$ref": "#/$defs/" + name}]}
            for error in Draft202012Validator(chosen).iter_errors(value):
                inner = error.context[0] if error.context else error
                yield f"{name}, line {number}: {'.'.join(map(str, inner.path))}: {inner.message[:200]}"


def main():
    document, schema, folder = sys.argv[1:4]
    told = told_members(open(document, encoding="utf-8").read())
    with open(schema, encoding="utf-8") as file:
        schema = json.load(file)
    faults = list(compare(told, schema["$defs"])) + list(types_and_times(schema["$defs"]))
    faults += judge(schema, folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
