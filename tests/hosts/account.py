#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""account.py - compares the events that a consumer received with what the hosts hold.

usage: account.py EVENTS TRUTH...

EVENTS is the output of `eventspace events --format json` or of tests/hosts/consumer;
the TRUTHs are the outputs of `eventspace list --elements --format json` on each host.
Every tuple of every element must be delivered exactly once or be reported as lost.
Prints the line "T tuples, G given, L lost", then the errors found, and exits with 1 if
there are any.
"""

import collections
import json
import sys


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_truth(paths):
    """Number of tuples ever published, by host, rank and element."""
    return {(item["host"], item["rank"], item["element"]): item["tuples"]
            for path in paths for item in lines_of(path) if item["type"] == "element"}


def read_events(path):
    """Delivered positions by element, and the number of tuples reported as lost."""
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
