#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""ask_closure.py SET SEED - questions about an event set, on standard output, and their
answers by the closure of its edges, on standard error."""
import json
import random
import sys


def read(path):
    """Of each event what is right before it; of syncs their partners, too."""
    edges, sync = {}, {}
    with open(path, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            event = json.loads(line)
            here = event["trace"], event["index"]
            partners = [tuple(partner) for partner in event.get("partners", [])]
            edges[here] = [(here[0], here[1] - 1)] if here[1] > 1 else []
            edges[here] += partners
            if event.get("kind") == "sync":
                sync[here] = partners
    for here, partners in sync.items():
        for partner in partners:  # both halves have what either has, not each other
            edges[here] += [e for e in edges[partner] if e != here]
            edges[here].remove(partner)
    return edges


def past(edges, event):
    """What is before an event."""
    seen, todo = set(), list(edges[event])
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += edges[at]
    return seen


def main():
    edges = read(sys.argv[1])
    chance = random.Random(int(sys.argv[2]))
    ids = list(edges)
    for _ in range(40):
        a = chance.choice(ids)
        before = past(edges, a)
        for b in chance.sample(ids, min(len(ids), 10)):
            relation = ("equal" if a == b else "after" if b in before else
                        "before" if a in past(edges, b) else "concurrent")
            print(json.dumps({"a": a, "b": b}))
            print(relation, file=sys.stderr)


main()
