# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Reads operations.tab, the table of MPI routines; the table itself tells its form."""

import re
from dataclasses import dataclass, field, replace
from typing import List, Optional

CLASSES = (
    "none",
    "send",
    "receive",
    "completion",
    "collective",
    "communicator",
    "one-sided",
    "io",
    "other",
    "monitor",
    "contribute",
    "arrival",
    "departure",
)
ORDERS = (
    "all-to-all",
    "root-to-all",
    "all-to-root",
    "prefix",
    "exclusive-prefix",
    "neighbours",
)
COUNTS = {"vector": "vector", "own-counts": "own"}
RMA = (
    "put",
    "get",
    "accumulate",
    "fetch",
    "swap",
    "free",
    "fence",
    "post",
    "start",
    "complete",
    "wait",
    "test",
    "lock",
    "unlock",
    "flush",
    "flush-local",
)
FACTS = (
    "nonblocking",
    "synchronizing",
    "persistent",
    "posts",
    "buffered",
    "ready",
    "combined",
    "probe",
    "waits",
    "any",
    "poll",
    "completes",
    "starts",
)
PROGRESS = {"progress": "generated", "progress-by-hand": "by-hand"}
LARGE_COUNT_CODES = 2000  # what is added to a code for the _c variant


class TableError(Exception):
    """Something is wrong in the table; the text begins with FILE:LINE."""


@dataclass
class Call:
    """before(...) or after(...): a function's name, and C text for its arguments."""

    name: str
    arguments: str


@dataclass
class Operation:
    """One routine or pseudo-operation; a +c row has become two of these."""

    name: str
    code: int = 0  # 0 = not recorded
    op_class: str = "none"
    chapter: str = ""
    arguments: Optional[List[str]] = None  # None: a pseudo-operation, or not wrapped
    order: str = "none"
    counts: str = "alike"  # of the ranks of a collective
    rma: str = "none"  # what it does with a window
    nonblocking: bool = False
    synchronizing: bool = False
    persistent: bool = False  # only makes a request
    posts: bool = False  # recorded at once, though another call completes it
    buffered: bool = False  # a send that never waits for its receiver
    ready: bool = False  # a send whose receive was posted before
    combined: bool = False  # a half of a send and receive
    probe: bool = False  # asks for a message that another call receives
    waits: bool = False  # until requests are complete
    poll: bool = False  # asks and does not wait
    any: bool = False  # of several requests one suffices
    completes: bool = False  # requests
    starts: bool = False  # persistent requests
    tree: bool = False  # instrumented trees can do it
    progress: str = ""  # "generated" or "by-hand": its form that advances others
    before: Optional[Call] = None
    after: Optional[Call] = None
    custom: bool = False
    counts_object: Optional[Call] = None  # not recorded, but what it makes is counted
    why: str = ""  # why it is not recorded

    @property
    def is_pseudo(self):
        return " " in self.name

    @property
    def is_wrapped(self):
        return self.custom or self.before is not None or self.counts_object is not None

    @property
    def constant(self):
        """Its name in enum es_op."""
        return "ES_OP_" + self.name.replace(" ", "_")


@dataclass
class Chapter:
    name: str
    first: int
    last: int
    operations: List[Operation] = field(default_factory=list)


ROUTINE = r"(?P<name>MPIX?_\w+)\((?P<arguments>[^()]*)\)"
CHAPTER = re.compile(r"chapter (?P<name>\w+) (?P<first>\d+) (?P<last>\d+)$")
ROW = re.compile(
    r"(?P<code>\d+) (?P<op_class>[\w-]+) %s(?P<flags>[^=]*) = (?P<recipe>.+)$" % ROUTINE
)
PSEUDO = re.compile(
    r'(?P<code>\d+) (?P<op_class>[\w-]+) "(?P<name>[\w ]+)"(?P<flags>[^=]*)$'
)
SILENT = re.compile(r"- none %s = custom (?P<why>.+)$" % ROUTINE)
COUNTED = re.compile(
    r"- none %s(?P<large> \+c)? = counts (?P<call>\w+\([^()]*\)) (?P<why>.+)$" % ROUTINE
)
UNWRAPPED = re.compile(r"- none (?P<why>[^=]+) = (?P<names>.+)$")
CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)$")


def read_table(path):
    """Returns the chapters of the table; raises TableError."""
    chapters = []
    for line, text in logical_lines(path):
        try:
            match = CHAPTER.match(text)
            if match:
                chapters.append(
                    Chapter(match["name"], int(match["first"]), int(match["last"]))
                )
            elif not chapters:
                raise ValueError("a row must stand in a chapter")
            else:
                chapters[-1].operations += parse_row(text, chapters[-1])
        except ValueError as error:
            raise TableError("%s:%d: %s" % (path, line, error)) from None
    check_unique(path, chapters)
    return chapters


def all_operations(chapters):
    return [operation for chapter in chapters for operation in chapter.operations]


def logical_lines(path):
    """Yields (line number, text): continuation lines joined, comments left out."""
    start, parts = 0, []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if line.startswith("#") or not line.strip():
                continue
            if not line[0].isspace():
                if parts:
                    yield start, " ".join(parts)
                start, parts = number, []
            parts += line.split()
    if parts:
        yield start, " ".join(parts)


def parse_row(text, chapter):
    """One logical line: a list of operations."""
    match = SILENT.match(text)
    if match:
        return [
            Operation(
                name=match["name"],
                chapter=chapter.name,
                arguments=split_arguments(match["arguments"]),
                custom=True,
                why=match["why"],
            )
        ]
    match = COUNTED.match(text)
    if match:
        return parse_counted(match, chapter)
    match = UNWRAPPED.match(text)
    if match:
        return [
            Operation(name=name, chapter=chapter.name, why=match["why"])
            for name in expand_names(match["names"].split())
        ]
    match = ROW.match(text) or PSEUDO.match(text)
    if match:
        return parse_recorded(match.groupdict(), chapter)
    raise ValueError("neither a chapter nor a row: " + text[:60])


def parse_counted(match, chapter):
    operation = Operation(
        name=match["name"],
        chapter=chapter.name,
        arguments=split_arguments(match["arguments"]),
        counts_object=Call(**CALL.match(match["call"]).groupdict()),
        why=match["why"],
    )
    large = replace(operation, name=operation.name + "_c")
    return [operation, large] if match["large"] else [operation]


def expand_names(words):
    for word in words:
        match = re.match(r"(MPIX?_\w+?)(\[_c\])?$", word)
        if not match:
            raise ValueError("not the name of a routine: " + word)
        yield match[1]
        if match[2]:
            yield match[1] + "_c"


def split_arguments(text):
    return [word.strip() for word in text.split(",")] if text.strip() else []


def parse_recorded(row, chapter):
    operation = Operation(
        name=row["name"],
        code=int(row["code"]),
        op_class=row["op_class"],
        chapter=chapter.name,
    )
    if operation.op_class not in CLASSES[1:]:
        raise ValueError("unknown class " + operation.op_class)
    if not chapter.first <= operation.code <= chapter.last:
        raise ValueError("%s has a code of another chapter" % operation.name)
    has_large = parse_flags(operation, row["flags"].split())
    if "recipe" in row:
        operation.arguments = split_arguments(row["arguments"])
        parse_recipe(operation, row["recipe"])
    return [operation, large_variant(operation)] if has_large else [operation]


def parse_flags(operation, flags):
    """Sets what the flags say; returns whether there is a large-count variant."""
    for flag in flags:
        if flag in ORDERS:
            operation.order = flag
        elif flag in COUNTS:
            operation.counts = COUNTS[flag]
        elif flag.startswith("rma-") and flag[4:] in RMA:
            operation.rma = flag[4:]
        elif flag in FACTS or flag == "tree":
            setattr(operation, flag, True)
        elif flag in PROGRESS:
            operation.progress = PROGRESS[flag]
        elif flag != "+c":
            raise ValueError("unknown flag " + flag)
    return "+c" in flags


def parse_recipe(operation, recipe):
    if recipe == "custom":
        operation.custom = True
        return
    calls = [CALL.match(part.strip()) for part in recipe.split(";")]
    if len(calls) > 2 or None in calls:
        raise ValueError("%s: a recipe is before(...); after(...)" % operation.name)
    operation.before = Call(**calls[0].groupdict())
    if len(calls) == 2:
        operation.after = Call(**calls[1].groupdict())


def large_variant(operation):
    """The row of NAME_c."""
    return replace(
        operation,
        name=operation.name + "_c",
        code=operation.code + LARGE_COUNT_CODES,
    )


def check_unique(path, chapters):
    names, codes = set(), set()
    for operation in all_operations(chapters):
        if operation.name in names:
            raise TableError("%s: %s has two rows" % (path, operation.name))
        if operation.code and operation.code in codes:
            raise TableError(
                "%s: %s has the code %d of another"
                % (path, operation.name, operation.code)
            )
        names.add(operation.name)
        codes.add(operation.code)
