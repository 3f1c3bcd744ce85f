#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""account.py - compares what a consumer got with what the hosts know.

usage: account.py EVENTS TRUTH...

EVENTS is what `eventspace events --format json` wrote; the TRUTHs are what
`eventspace list --elements --format json` wrote on each host. Every tuple of every
element must have been given exactly once, or be among those the consumer was told to be
lost. Prints one line: "T tuples, G given, L lost", behind it what is wrong, and ends
with 1 if anything is.
"""

import collections
import json
import sys


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_truth(paths):
    """Tuples ever published, by host, rank and element."""
    return {(item["host"], item["rank"], item["element"]): item["tuples"]
            for path in paths for item in lines_of(path) if item["type"] == "element"}


def read_events(path):
    """Positions given, by element, and the numbers of lost tuples told."""
    given = collections.defaultdict(list)
    stated = None
    for item in lines_of(path):
        if item["type"] == "event":
            given[item["host"], item["rank"], item["element"]].append(item["position"])
        elif item["type"] == "end":
            stated = item["lost"] + item["overwritten_before"]
    return given, stated


def faults(truth, given, stated):
    for element in sorted(given):
        positions = given[element]
        twice = len(positions) - len(set(positions))
        if twice:
            yield f"{element}: {twice} given twice"
        if element not in truth:
            yield f"{element}: no host knows it"
        elif max(positions) >= truth[element]:
            yield f"{element}: position {max(positions)} of {truth[element]} tuples"
    missing = sum(truth.values()) - sum(len(set(p)) for p in given.values())
    if stated is None:
        yield "the consumer did not say what was lost"
    elif missing != stated:
        yield f"{missing} are missing, {stated} were stated as lost"


def main():
    truth = read_truth(sys.argv[2:])
    given, stated = read_events(sys.argv[1])
    print(f"{sum(truth.values())} tuples, {sum(map(len, given.values()))} given, "
          f"{stated} lost")
    wrong = list(faults(truth, given, stated))
    for fault in wrong[:20]:
        print(fault)
    return 1 if wrong or not truth else 0


if __name__ == "__main__":
    sys.exit(main())
