#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Compares docs/pathmap.schema.json with the tables in pathmap/schema.c.

print_schema prints the tables.  Names, their order, required members, types, bounds,
choices and defaults must be equal.  The tables of docs/pathmap.md must have the same
members, with requirement, bounds, choices and defaults.  If python3 has the jsonschema
module, it also validates the maps of tests/data/pathmap.
"""

import json
import os
import re
import subprocess
import sys

TOP = os.environ.get("top_srcdir", ".")
BUILD = os.environ.get("top_builddir", ".")
DATA = os.path.join(TOP, "tests/data/pathmap")
TEXT_PATTERNS = {
    "name": r"^[A-Za-z0-9_.-]+$",
    "host": r"^[A-Za-z0-9_.:-]+$",
    "pattern": r"^\S+$",
    "ranges": r"^(\*|[0-9]+(-[0-9]*)?(,[0-9]+(-[0-9]*)?)*)$",
}
# Cases with a wrong type or name, which the schema must refuse. (To it 4.0 is an
# integer.)
STRUCTURAL = re.compile(
    r"error_(collective_(fan_out_low|edge_|operation|shape|level_)|unknown|ranks_(zero|too)|version_|application|host_(cores|without|name)|collector_"
    r"(class|split|on_full|threshold|enabled|name)|scope_(without|view_unknown|stage_per_u|"
    r"prop)|not_an|mapping_ranks_|path_(threshold|property|on_full|stage_"
    r"(type|count)))"
)
# The tables of docs/pathmap.md, in their order.
DOCUMENTED = (
    ["map", "application", "cluster", "host", "mapping", "collector", "collective"]
    + ["scope", "view", "stage", "path"]
)

faults = []


def fault(text):
    faults.append(text)


def read_tables():
    program = os.path.join(BUILD, "tests/pathmap/print_schema")
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    tables = {}
    for line in lines.splitlines():
        table, name, kind, need, low, high, initial, detail, _ = line.split("\t")
        member = (kind, need == "required", int(low), int(high), int(initial), detail)
        tables.setdefault(table, {})[name] = member
    return tables


def expected_of(kind, low, high, detail):
    """The JSON schema of such a member, without description and default."""
    if kind in TEXT_PATTERNS:
        wanted = {"type": "string", "pattern": TEXT_PATTERNS[kind]}
        if kind != "ranges":
            wanted["maxLength"] = high
        return wanted
    listed = {"type": "array"}
    return {
        "string": {"type": "string", "minLength": 1, "maxLength": high},
        "integer": {"const": low}
        if low == high
        else {"type": "integer", "minimum": low, "maximum": high},
        "boolean": {"type": "boolean"},
        "choice": {"enum": detail.split(",")},
        "flags": {
            **listed, "minItems": 1, "uniqueItems": True, "items": {"enum": detail.split(",")}},
        "edges": {
            **listed,
            "minItems": 1,
            "items": {
                **listed,
                "minItems": 2,
                "maxItems": 2,
                "items": {"type": "integer", "minimum": low, "maximum": high},
            },
        },
        "integers": {
            **listed,
            "items": {"type": "integer", "minimum": low, "maximum": high},
        },
        "object": {"$ref": "#/$defs/" + detail},
        "objects": {**listed, "items": {"$ref": "#/$defs/" + detail}},
        "properties": {"type": "object"},
    }[kind]


def default_of(kind, initial, detail):
    """The default of an optional member; None if it has no JSON form."""
    if kind == "choice":
        return detail.split(",")[initial]
    if kind == "boolean":
        return initial != 0
    return initial if kind == "integer" and initial != 0 else None


def compare_member(place, member, said):
    kind, required, low, high, initial, detail = member
    wanted = expected_of(kind, low, high, detail)
    got = {k: v for k, v in said.items() if k not in ("description", "default")}
    if kind == "objects":  # other code checks the number of items
        got = {k: v for k, v in got.items() if k not in ("minItems", "maxItems")}
    if got != wanted:
        fault("%s: the schema says %s, the table %s" % (place, got, wanted))
    default = default_of(kind, initial, detail)
    if not required and default is not None and said.get("default") != default:
        fault("%s: default %s, table %s" % (place, said.get("default"), default))
    if not said.get("description"):
        fault("%s: no description" % place)


def compare_table(name, members, definition):
    if definition.get("additionalProperties") is not False:
        fault("%s: takes any member" % name)
    if list(definition["properties"]) != list(members):
        fault("%s: members %s, table %s" % (name, list(definition["properties"]), list(members)))
        return
    required = [key for key, member in members.items() if member[1]]
    if definition["required"] != required:
        fault("%s: requires %s, table %s" % (name, definition["required"], required))
    for key, member in members.items():
        compare_member(name + "." + key, member, definition["properties"][key])


def compare_tables(schema, tables):
    definitions = dict(schema["$defs"], map=schema)
    if sorted(definitions) != sorted(tables):
        fault("definitions %s, tables %s" % (sorted(definitions), sorted(tables)))
        return
    for name, members in tables.items():
        compare_table(name, members, definitions[name])


def read_documented(text):
    """The tables of the document in their order: {member: (holds, whole row)}."""
    documented = []
    for block in re.findall(r"^\| member \|.*\n\|[ -|]*\n((?:\|.*\n)+)", text, re.M):
        rows = {}
        for line in block.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" |")]
            for name in re.findall(r"`([^`]+)`", cells[0]):
                rows[name] = (cells[1], line)
        documented.append(rows)
    return documented


def documented_default(kind, initial, detail):
    """The text required for the default; None if any text is allowed."""
    if kind == "choice":
        return "default `%s`" % detail.split(",")[initial]
    if kind == "boolean":
        return "default " + ("true" if initial else "false")
    return "default %d" % initial if kind == "integer" and 0 < initial < 2**63 - 1 else None


def compare_documented_member(place, member, holds, row):
    kind, required, low, high, initial, detail = member
    if required != ("required" in holds):
        fault("docs/pathmap.md: %s: required or not" % place)
    bounds = re.match(r"([0-9]+) to ([0-9]+)", holds)
    if bounds and (int(bounds[1]), int(bounds[2])) != (low, high):
        fault("docs/pathmap.md: %s: %s, table %d to %d" % (place, bounds[0], low, high))
    for choice in detail.split(",") if kind in ("choice", "flags") else []:
        # The row may say "the same with an `i` before".
        if "`%s`" % choice not in row and not ("`i`" in row and "`%s`" % choice[1:] in row):
            if place != "view.classes":  # those of collectors
                fault("docs/pathmap.md: %s: `%s` is missing" % (place, choice))
    default = documented_default(kind, initial, detail)
    if default and not required and default not in holds:
        fault("docs/pathmap.md: %s: expected %s" % (place, default))


def compare_documented(tables, text):
    documented = read_documented(text)
    if len(documented) != len(DOCUMENTED):
        fault("docs/pathmap.md: %d tables, expected %d" % (len(documented), len(DOCUMENTED)))
        return
    for name, rows in zip(DOCUMENTED, documented):
        members = {key: m for key, m in tables[name].items() if key != "comment"}
        if list(members) != [key for key in rows if key != "comment"]:
            fault("docs/pathmap.md: %s: %s, table %s" % (name, list(rows), list(members)))
            continue
        for key, member in members.items():
            compare_documented_member(name + "." + key, member, *rows[key])


def check_documented(tables):
    with open(os.path.join(TOP, "docs/pathmap.md"), encoding="utf-8") as page:
        text = page.read()
    compare_documented(tables, text)
    for table, members in tables.items():
        for name in members:
            if "`%s`" % name not in text:
                fault("docs/pathmap.md does not explain `%s` (%s)" % (name, table))


def judge_maps(schema):
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("skipped: the maps are not judged by the schema: no python3 jsonschema")
        return
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for case in sorted(os.listdir(DATA)):
        for name in ("input", "expected", "expanded"):
            path = os.path.join(DATA, case, name)
            if not os.path.exists(path):
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    document = json.load(file)
            except ValueError:
                continue  # not JSON: no input for a schema
            valid = validator.is_valid(document)
            if "error_" not in case and not valid:
                fault("%s/%s: good, but the schema refuses it" % (case, name))
            if STRUCTURAL.match(case) and valid:
                fault("%s/%s: wrong, but the schema accepts it" % (case, name))


def main():
    with open(os.path.join(TOP, "docs/pathmap.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    tables = read_tables()
    compare_tables(schema, tables)
    check_documented(tables)
    judge_maps(schema)
    for text in faults:
        print(text)
    print("%d tables, %d members compared" % (len(tables), sum(map(len, tables.values()))))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
