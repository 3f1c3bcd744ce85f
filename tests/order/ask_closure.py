#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""ask_closure.py SET SEED - prints questions about an event set to standard output, and
their answers, by transitive closure of its edges, to standard error.
"""
import json
import random
import sys


def read(path):
    """The names of traces, and the immediate predecessors of each event. Both halves of
    a sync have the predecessors of either."""
    edges, sync = {}, {}
    with open(path, encoding="utf-8") as lines:
        names = json.loads(next(lines))["traces"]
        for line in lines:
            event = json.loads(line)
            here = event["trace"], event["index"]
            partners = [tuple(partner) for partner in event.get("partners", [])]
            edges[here] = [(here[0], here[1] - 1)] if here[1] > 1 else []
            edges[here] += partners
            if event.get("kind") == "sync":
                sync[here] = partners
    for here, partners in sync.items():
        for partner in partners:  # not each other
            edges[here] += [e for e in edges[partner] if e != here]
            edges[here].remove(partner)
    return names, edges


def reach(edges, event):
    """The predecessors of an event; with reversed edges its successors."""
    seen, todo = set(), list(edges.get(event, []))
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += edges.get(at, [])
    return seen


def turned(edges):
    after = {}
    for here, before in edges.items():
        for event in before:
            after.setdefault(event, []).append(here)
    return after


def by_trace(events):
    traces = {}
    for trace, index in events:
        traces.setdefault(trace, []).append(index)
    return sorted(traces.items())


def interval(indices):
    """The concurrent events of a trace are consecutive."""
    first, last = min(indices), max(indices)
    assert last - first + 1 == len(indices)
    return str(first) if first == last else f"{first}-{last}"


def ask_traces(names, ids, event, before, after, chance):
    """Asks all questions about one event and each trace."""
    beside = [e for e in ids if e[0] != event[0] and e not in before and e not in after]
    answers = {
        "greatest-predecessors": [(t, max(found)) for t, found in by_trace(before)],
        "least-successors": [(t, min(found)) for t, found in by_trace(after)],
        "greatest-concurrent": [(t, max(found)) for t, found in by_trace(beside)],
        "concurrent": [(t, interval(found)) for t, found in by_trace(beside)],
    }
    for question, found in answers.items():
        if chance.random() < 0.5:
            print(json.dumps({"question": question, "event": event}))
        else:
            print(f"{question} {names[event[0]]}:{event[1]}")
        print(" ".join(f"{names[t]}:{what}" for t, what in found) or "none",
              file=sys.stderr)


def main():
    names, edges = read(sys.argv[1])
    following = turned(edges)
    chance = random.Random(int(sys.argv[2]))
    ids = list(edges)
    for _ in range(40):
        a = chance.choice(ids)
        before, after = reach(edges, a), reach(following, a)
        for b in chance.sample(ids, min(len(ids), 10)):
            relation = ("equal" if a == b else "after" if b in before else
                        "before" if b in after else "concurrent")
            print(json.dumps({"a": a, "b": b}))
            print(relation, file=sys.stderr)
        ask_traces(names, ids, a, before, after, chance)


main()
