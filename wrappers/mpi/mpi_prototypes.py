# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Finds the prototypes of MPI routines in a preprocessed mpi.h."""

import re
from dataclasses import dataclass
from typing import List

PROTOTYPE = re.compile(
    r"(?P<result>[\w* ]*?)\s*\b(?P<name>MPIX?_\w+)\s*\((?P<parameters>.*)\)$"
)
# A parameter is text with one name in it, which stands last but for array bounds.
PARAMETER = re.compile(r"(?P<before>.*?)(?P<name>\b\w+)(?P<bounds>(\s*\[\w*\])*)$")


@dataclass
class Prototype:
    name: str
    result: str
    parameters: List[str]  # as declared, "const int counts[]"; empty for (void)
    is_variadic: bool

    def declare(self, names):
        """The parameter list with other names for the parameters."""
        if not self.parameters:
            return "void"
        return ", ".join(map(rename, self.parameters, names))


def rename(parameter, name):
    match = PARAMETER.match(parameter)
    return match["before"] + name + match["bounds"]


def read_prototypes(path):
    """Returns {name: Prototype} of the MPI_ and MPIX_ routines that mpi.h declares."""
    with open(path, encoding="utf-8", errors="replace") as preprocessed:
        text = preprocessed.read()
    text = without_attributes(re.sub(r"^#.*$", "", text, flags=re.MULTILINE))
    prototypes = {}
    for statement in text.split(";"):
        prototype = parse_prototype(" ".join(statement.split()))
        if prototype:
            prototypes[prototype.name] = prototype
    return prototypes


def without_attributes(text):
    """Takes out __attribute__((...)) with whatever parentheses are inside."""
    parts, position = [], 0
    while True:
        start = text.find("__attribute__", position)
        if start < 0:
            return "".join(parts) + text[position:]
        parts.append(text[position:start])
        position = closing_parenthesis(text, text.index("(", start)) + 1


def closing_parenthesis(text, position):
    depth = 0
    while True:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return position
        position += 1


def parse_prototype(statement):
    statement = re.sub(r"^(extern|__extension__) ", "", statement)
    match = PROTOTYPE.match(statement)
    if not match or statement.startswith("typedef") or not match["result"]:
        return None
    text = match["parameters"].strip()
    parts = [] if text in ("void", "") else text.split(",")
    parameters = [part.strip() for part in parts]
    return Prototype(
        name=match["name"],
        result=match["result"].strip(),
        parameters=parameters,
        is_variadic="..." in parameters,
    )
