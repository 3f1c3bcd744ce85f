#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Compares the output of `eventspace collectives --format json` with known values.

    collective_truth.py late MONITOR PROGRAM RANK HOST   lateness printed by imbalance
    collective_truth.py nodes MONITOR PROGRAM RANK       waiting of its tree's nodes
    collective_truth.py faster MONITOR BEFORE AFTER PART time in trees of two versions
    collective_truth.py count MONITOR TREE COUNT         at least so many operations
    collective_truth.py whole MONITOR PROGRAM            all operations, and nothing else
    collective_truth.py advice MONITOR PART              effect of --apply against forecast
"""

import json
import re
import sys


def read_monitor(path):
    """The lines of the last report, by type."""
    lines = {}
    with open(path, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["type"] == "operation" and "summary" in lines:
                lines = {}
            lines.setdefault(line["type"], []).append(line)
    return lines


def read_late(path, rank):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    count = re.search(r"(\d+) times MPI \w+ over (\d+) ranks correct", text)
    seconds = re.search(rf"^rank {rank}: late by (\S+) s", text, re.MULTILINE)
    return int(count[1]), int(count[2]), float(seconds[1]) * 1e9


def complaints(facts):
    """Prints the statements that are false and returns their number."""
    wrong = [text for text, holds in facts if not holds]
    for text in wrong:
        print(f"  it does not hold that {text}")
    return len(wrong)


def check_late(monitor, program, rank, host):
    count, ranks, late_ns = read_late(program, rank)
    lines = read_monitor(monitor)
    (operation,) = lines["operation"]
    summary = lines["summary"][-1]
    culprit = next(line for line in lines["rank"] if line["rank"] == rank)
    part = culprit["debt_ns"] / ((ranks - 1) * late_ns)
    print(f"rank {rank} was late by {late_ns / 1e6:.1f} ms; the {ranks - 1} others lost "
          f"{culprit['debt_ns'] / 1e6:.1f} ms, {part:.3f} times that each; bound of the "
          f"clocks {operation['error_ns'] / 1e6:.2f} ms; {summary['repaired']} repaired")
    return complaints((
        ("all operations are seen", operation["count"] == count),
        ("nothing is lost", not summary["incomplete"] and not summary["lost_tuples"]),
        ("no time is beyond the bounds", summary["impossible"] == 0),
        (f"rank {rank} is to blame", summary["culprit"] == rank),
        (f"it runs on {host}", culprit["host"] == host),
        ("it is last nearly always", culprit["last"] > 0.9 * count),
        # Results reach the ranks at different times, since the line delays both
        # directions.
        ("they lost as much as it was late", 0.75 < part < 1.25),
        ("it was not waiting itself", culprit["wait_ns"] < 0.1 * late_ns),
        ("entries are as far apart", operation["spread_ns"]["sum"] < 1.5 * late_ns)))


def check_nodes(monitor, program, rank):
    """In a tree levels:host,cluster the rank's parent waits for it, and the root for
    the parent."""
    count, _, late_ns = read_late(program, rank)
    nodes = read_monitor(monitor).get("node", [])
    failures = complaints((("there are two internal nodes", len(nodes) == 2),))
    child = rank
    for node in sorted(nodes, key=lambda line: -line["rank"]):
        last = max(node["children"], key=lambda line: line["last"])
        # The median: other load delays some parents of the rank, too.
        part = node["wait_ns"]["p50"] * count / late_ns
        print(f"node {node['rank']} on {node['host']} waited {part:.3f} times what rank "
              f"{rank} was late, for {last['member']}")
        failures += complaints((
            ("all operations are seen", node["count"] == count),
            ("the last child is the late one", last["member"] == child),
            ("it is so nearly always", last["last"] > 0.9 * count),
            ("the node waits as long as it is late", 0.75 < part < 1.5)))
        child = node["member"]
    return failures


def read_trees(monitor):
    """Lines of one operation by tree version; "library" is the MPI library's own
    algorithm."""
    return {str(line["version"]) if line["tree"] else "library": line
            for line in read_monitor(monitor).get("operation", [])}


def check_faster(monitor, before, after, most):
    trees = read_trees(monitor)
    for version, line in sorted(trees.items()):
        print(f"tree {version}: {line['count']} operations, "
              f"{line['tree_ns']['mean'] / 1e6:.2f} ms in the tree, bound of the clocks "
              f"{line['error_ns'] / 1e6:.2f} ms")
    if complaints([(f"there is tree {v}", v in trees) for v in (before, after)]):
        return 1
    old, new = (trees[version]["tree_ns"]["mean"] for version in (before, after))
    return complaints((
        ("there are operations before", trees[before]["count"] >= 20),
        ("there are operations after", trees[after]["count"] >= 20),
        (f"the time is less than {most} of what it was", new < most * old)))


def check_count(monitor, tree, least):
    return read_trees(monitor).get(tree, {"count": 0})["count"] < least


def check_whole(monitor, program):
    count, *_ = read_late(program, 0)
    summary = read_monitor(monitor)["summary"][-1]
    seen = sum(line["count"] for line in read_trees(monitor).values())
    print(f"{count} operations, {seen} seen")
    nothing = ("incomplete", "open", "lost_tuples", "duplicates", "late", "impossible")
    return complaints((
        ("all operations are seen", seen == count),
        *((f"nothing is {key}", summary[key] == 0) for key in nothing)))


def check_advice(monitor, most):
    lines = read_monitor(monitor)
    if complaints([("something was applied", len(lines.get("applied", [])) == 1)]):
        return 1
    (done,) = lines["applied"]
    before, foretold, measured = (
        (done[key] or 0) / 1e6 for key in ("before_ns", "predicted_ns", "measured_ns"))
    print(f"{done['before']} takes {before:.2f} ms, {done['after']} was foretold to take "
          f"{foretold:.2f} ms and takes {measured:.2f} ms")
    return complaints((
        ("it was kept", not done["went_back"]),
        (f"it takes less than {most} of the time", 0 < measured < most * before),
        ("that was foretold", foretold < most * before),
        ("by the amount that came", 1 / 3 < measured / foretold < 3)))


def main():
    command, *words = sys.argv[1:]
    if command == "late":
        return check_late(words[0], words[1], int(words[2]), words[3])
    if command == "nodes":
        return check_nodes(words[0], words[1], int(words[2]))
    if command == "advice":
        return check_advice(words[0], float(words[1]))
    if command == "count":
        return check_count(words[0], words[1], int(words[2]))
    if command == "whole":
        return check_whole(words[0], words[1])
    return check_faster(words[0], words[1], words[2], float(words[3]))


if __name__ == "__main__":
    sys.exit(main() > 0)
