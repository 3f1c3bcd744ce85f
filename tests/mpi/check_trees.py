#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Checks the tuples of collective trees (output of `tuples`, on stdin): every edge has
both ends, all ranks used the same version for the same operation, and each rank
contributed once. Prints the number of operations that used trees, and of their
versions.
"""

import sys
from collections import Counter, defaultdict

OTHER_END = {
    "tree arrival up": "tree departure up",
    "tree arrival down": "tree departure down",
}


def read_tuples(lines):
    """Edges by (communicator, instance), and the ranks of each instance."""
    edges, ranks = defaultdict(list), defaultdict(set)
    own = {}  # rank in the communicator, by process and communicator
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if fields[0] == "communicator":
            own[int(fields[1]), fields[3]] = int(fields[4])
        if fields[0] == "open":
            yield "open", fields[3], fields[4]
        if fields[0] != "tuple":
            continue
        rank, operation, key, peer, tag, instance, size = (
            int(fields[1]), fields[4], fields[5], *fields[6:10])
        rank = own.get((rank, key), rank)
        if operation.startswith("tree "):
            edges[key, instance].append((rank, operation, int(peer), int(tag), size))
        elif instance != "?" and key != "-":
            ranks[key, instance].add(rank)
    yield edges, ranks, None


def faults_of(edges, members):
    if len({tag for _, _, _, tag, _ in edges}) != 1:
        yield "tags differ"
    arrivals, departures = Counter(), Counter()
    contributed = Counter()
    inner = {rank for rank, operation, *_ in edges if operation == "tree departure up"}
    for rank, operation, peer, _, size in edges:
        if operation == "tree contribute":
            contributed[rank] += 1
            if peer >= 0 and rank not in inner:  # a leaf contributes by its departure
                departures["tree departure up", rank, peer, size] += 1
        elif operation in OTHER_END:
            arrivals[OTHER_END[operation], peer, rank, size] += 1
        else:
            departures[operation, rank, peer, size] += 1
    if arrivals != departures:
        yield "ends of edges differ: arrived %s, departed %s" % (
            dict(arrivals - departures), dict(departures - arrivals))
    if any(count != 1 for count in contributed.values()):
        yield "contributions: %s" % contributed
    if len({rank for rank, *_ in edges}) != len(members):
        yield "not all ranks took part"


def main():
    *opened, (edges, ranks, _) = read_tuples(sys.stdin)
    faults = ["an open tuple of %s is left" % what for _, _, what in opened]
    for instance, found in edges.items():
        for fault in faults_of(found, ranks[instance]):
            faults.append("%s: %s: %s" % (*instance, fault))
    versions = {tag >> 16 for found in edges.values() for _, _, _, tag, _ in found}
    print("%d operations by tree, %d versions, %d operations in all, %d faults" % (
        len(edges), len(versions), len(ranks), len(faults)))
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
