#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""metrics_names.py - reads what `eventspace metrics` prints.

usage: metrics_names.py series FILE
       metrics_names.py names FILE DOCUMENT

`series`: the strict parser of python3-prometheus-client takes FILE, all families have
the table's types, and no run has more than 80 series. `names`: the table of the document is
what the heads in FILE say.
"""

import collections
import re
import sys

SUFFIXES = {"counter": ["_total"], "info": ["_info"], "gauge": [""],
            "summary": ["_sum", "_count"]}


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_series(path):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    runs = collections.Counter()
    for family in text_string_to_metric_families(read_text(path)):
        if family.type not in SUFFIXES or not family.documentation:
            sys.exit(f"{family.name}: {family.type}, {family.documentation!r}")
        for sample in family.samples:
            runs[sample.labels["run"]] += 1
    if any(count > 80 for count in runs.values()):
        sys.exit(f"too many series: {runs}")


def read_heads(text):
    """(name, type, unit, help) of each family."""
    heads = re.findall(r"^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n(?:# UNIT \S+ (\S+)\n)?",
                       text, re.MULTILINE)
    return [(name, kind, unit, words) for name, words, kind, unit in heads]


def read_labels(text):
    """The names of the labels of each series' name."""
    labels = collections.defaultdict(set)
    for name, inside in re.findall(r"^(\w+)\{(.*)\} \S+$", text, re.MULTILINE):
        labels[name] |= set(re.findall(r'(?:^|,)(\w+)="', inside))
    return labels


def check_document(text, labels, path):
    rows = set(re.findall(r"^\| `eventspace_.*$", read_text(path), re.MULTILINE))
    expected = set()
    for name, kind, unit, words in read_heads(text):
        suffix = SUFFIXES[kind][0] if kind in ("counter", "info") else ""
        own = sorted(labels.get(name + SUFFIXES[kind][0], set()) - {"run"})
        shown = ", ".join(f"`{label}`" for label in own)
        expected.add(f"| `{name}{suffix}` | {kind} | {unit} | {shown} | {words} |")
    for row in sorted(expected - rows):
        yield f"{path} lacks: {row}"
    for row in sorted(rows - expected):
        yield f"{path} has: {row}"


def main():
    what, path, *others = sys.argv[1:]
    if what == "series":
        check_series(path)
        return
    text = read_text(path)
    labels = read_labels(text)
    faults = [*check_document(text, labels, others[0])]
    print("\n".join(faults))
    sys.exit(bool(faults))


main()
