#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""compare_exports.py FORMAT FILE [FILE] - compares two exports of the same events
(without times), or checks that one export is valid for readers of the format."""
import collections
import csv
import json
import re
import sys


# Concurrent events may be in any order.


def place(event):
    return int(event.get("trace", -1)), int(event.get("index", 0))


def set_lines(path):
    events = [json.loads(line) for line in open(path, encoding="utf-8")]
    for event in sorted(events, key=place):
        for key in "start", "stop":
            event.get("attributes", {}).pop(key, None)
        yield event


def csv_lines(path):
    rows = csv.DictReader(open(path, newline="", encoding="utf-8"))
    for row in sorted(rows, key=place):
        yield {key: row[key] for key in row if key not in ("start", "stop")}


def chrome_lines(path):
    """Slices may nest differently if times differ, so only the numbers of events of
    each kind are compared."""
    counts = collections.Counter()
    for event in json.load(open(path, encoding="utf-8"))["traceEvents"]:
        phase = "X" if event["ph"] == "b" else event["ph"]
        if phase != "e":
            counts[phase, event["name"] if phase in "XM" else ""] += 1
    yield {key: count for key, count in counts.items() if key[0] in "Msf"}


def shiviz_lines(path):
    lines = open(path, encoding="utf-8").read().splitlines()
    return sorted(zip(lines[::2], lines[1::2]))


def dot_lines(path):
    return sorted(open(path, encoding="utf-8"))


LINES = {"event-set": set_lines, "csv": csv_lines, "chrome": chrome_lines,
         "shiviz": shiviz_lines, "dot": dot_lines}


def check_slices(slices):
    """Each slice of a thread is inside the open slice, or begins after its end."""
    stack = []
    for start, stop in sorted(slices, key=lambda slice: (slice[0], -slice[1])):
        while stack and stack[-1] <= start:
            stack.pop()
        assert not stack or stop <= stack[-1], (start, stop, stack)
        stack.append(stop)


def check_chrome(path):
    events = json.load(open(path, encoding="utf-8"))["traceEvents"]
    threads, ends = collections.defaultdict(list), collections.defaultdict(dict)
    names = collections.defaultdict(set)
    earliest = None
    for event in events:
        if event["ph"] == "M":
            continue
        nanoseconds = round(event["ts"] * 1000)
        assert nanoseconds >= 0
        earliest = nanoseconds if earliest is None else min(earliest, nanoseconds)
        thread = event["pid"], event["tid"]
        if event["ph"] == "X":
            threads[thread].append((nanoseconds, nanoseconds + round(event["dur"] * 1000)))
        else:
            kind = "flow" if event["ph"] in "sf" else "async"
            assert event["ph"] not in ends[kind, event["id"]], event
            ends[kind, event["id"]][event["ph"]] = nanoseconds, thread
            names[kind, event["id"]].add((event["name"], event["cat"]))
            assert event["ph"] != "f" or event["bp"] == "e"
    assert earliest == 0, earliest
    for slices in threads.values():
        check_slices(slices)
    assert all(len(name) == 1 for name in names.values()), names
    for (kind, _), pair in ends.items():
        first, last = pair["s" if kind == "flow" else "b"], pair["f" if kind == "flow" else "e"]
        assert len(pair) == 2
        assert kind == "flow" or (first[0] <= last[0] and first[1][0] == last[1][0]), pair
        for at, thread in (first, last) if kind == "flow" else ():
            assert any(a <= at <= b for a, b in threads[thread]), (at, thread)
    assert threads and any(kind == "flow" for kind, _ in ends)


def check_shiviz(path):
    own, named = collections.Counter(), set()
    lines = open(path, encoding="utf-8").read().splitlines()
    assert len(lines) % 2 == 0 and lines
    for text, clock in zip(lines[::2], lines[1::2]):
        host, vector = re.fullmatch(r"(\S*) ({.*})", clock).groups()
        vector = json.loads(vector)
        assert text.strip()
        own[host] += 1
        assert vector[host] == own[host] and all(entry > 0 for entry in vector.values())
        named |= set(vector)
    assert named == set(own)


def check_csv(path):
    rows = list(csv.DictReader(open(path, newline="", encoding="utf-8")))
    counts, there = collections.Counter(), set()
    for row in rows:
        counts[row["trace"]] += 1
        assert int(row["index"]) == counts[row["trace"]]
        there.add(f"{row['trace']}:{row['index']}")
    for row in rows:
        assert set(row["partners"].split()) <= there
        assert not row["attributes"] or isinstance(json.loads(row["attributes"]), dict)


def check_dot(path):
    """There are nodes and edges, and each end of an edge is a node."""
    text = open(path, encoding="utf-8").read()
    nodes = set(re.findall(r'{ "(\d+:\d+)" \[', text))
    edges = re.findall(r'"(\d+:\d+)" -> "(\d+:\d+)"', text)
    assert nodes and edges and {end for edge in edges for end in edge} <= nodes


def check_set(path):
    assert sum(1 for _ in set_lines(path)) > 1


CHECKS = {"event-set": check_set, "csv": check_csv, "chrome": check_chrome,
          "shiviz": check_shiviz, "dot": check_dot}


def main():
    kind, *paths = sys.argv[1:]
    if len(paths) == 1:
        CHECKS[kind](paths[0])
        return
    first, second = (list(LINES[kind](path)) for path in paths)
    for one, other in zip(first, second):
        if one != other:
            sys.exit(f"{one}\n{other}")
    sys.exit(len(first) != len(second))


main()
