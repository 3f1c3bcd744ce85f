#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""metrics_names.py - reads what `eventspace metrics` prints.

usage: metrics_names.py series FILE...
       metrics_names.py names FILE DASHBOARD DOCUMENT

`series`: the strict parser of python3-prometheus-client takes each FILE, all families
have the table's types, and no run has more than 80 series. `names`: each metric and label
that an expression of the dashboard names is in FILE, and the table of the document is
what the heads in FILE say.
"""

import collections
import json
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


def texts_of(value, key=None):
    """Expressions and legends of a dashboard."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from texts_of(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner, key)
    elif key in ("expr", "query", "legendFormat"):
        yield key, value


def check_dashboard(labels, path):
    every = set().union(*labels.values())
    expressions = 0
    named = set()
    for key, text in texts_of(json.loads(read_text(path))):
        if key == "legendFormat":
            for label in re.findall(r"{{(\w+)}}", text):
                if label not in every:
                    yield f"{path}: {text}: no label {label}"
            continue
        expressions += 1
        found = re.findall(r"(eventspace_\w+)(?:\{([^}]*)\})?", text)
        if not found and key == "expr":
            yield f"{path}: {text}: no metric"
        for name, inside in found:
            named.add(name)
            if name not in labels:
                yield f"{path}: {text}: no metric {name}"
            for label in re.findall(r"(\w+)\s*[=!]~?\s*\"", inside):
                if label not in labels.get(name, ()):
                    yield f"{path}: {text}: {name} has no label {label}"
        for group in re.findall(r"(?:by|on|without|group_left)\s*\(([\w, ]*)\)", text):
            for label in re.findall(r"\w+", group):
                if not all(label in labels.get(name, ()) for name, _ in found) and (
                        "group_left" not in text or label not in every):
                    yield f"{path}: {text}: no label {label}"
        for name, label in re.findall(r"label_values\((\w+), (\w+)\)", text):
            if label not in labels.get(name, ()):
                yield f"{path}: {text}: {name} has no label {label}"
    if expressions < 10:
        yield f"{path}: only {expressions} expressions"
    for name in sorted(set(labels) - named):
        yield f"{path} has no {name}"


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
        for each in (path, *others):
            check_series(each)
        return
    text = read_text(path)
    labels = read_labels(text)
    faults = [*check_dashboard(labels, others[0]),
              *check_document(text, labels, others[1])]
    print("\n".join(faults))
    sys.exit(bool(faults))


main()
