#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""made_times.py SEED - prints an event set whose events have both times, one or none,
in any order: entered and left operations, messages, and clocks that disagree."""
import json
import random
import sys

TRACES, EVENTS = 4, 400


def times(chance, clock, step):
    """Returns the times of an event; enter and exit mostly have only their own time."""
    start, stop = clock, clock + chance.randrange(3000)
    both = {"start": str(start), "stop": str(stop)}
    one = {"enter": "start", "exit": "stop"}.get(step) or chance.choice(["start", "stop"])
    return chance.choice([both, both, {one: both[one]}, {one: both[one]}, {}])


def main():
    chance = random.Random(int(sys.argv[1]))
    print(json.dumps({"format": "eventspace-events", "version": 1,
                      "traces": [f"{rank}.0" for rank in range(TRACES)]}))
    print(json.dumps({"trace": 0, "index": 1, "type": "MPI_Init",
                      "attributes": {"start": "0", "stop": "10"}}))
    clocks = [chance.randrange(20000) for _ in range(TRACES)]
    counts, sends, entered = [0] * TRACES, [], [[] for _ in range(TRACES)]
    counts[0] = 1
    for _ in range(EVENTS):
        trace = chance.randrange(TRACES)
        counts[trace] += 1
        clocks[trace] += chance.randrange(-200, 2500)
        event = {"trace": trace, "index": counts[trace]}
        name, step = f"MPI_{chance.choice('ABI')}op", chance.choice(["", "enter", "exit"])
        if step == "exit" and entered[trace] and chance.random() < 0.9:
            name = entered[trace].pop()
        elif step == "enter":
            entered[trace].append(name)
        event["type"] = f"{name} {step}".strip()
        event["attributes"] = times(chance, max(clocks[trace], 0), step)
        if sends and chance.random() < 0.4:
            event.update(kind="receive", partners=[chance.choice(sends)])
        elif chance.random() < 0.5:
            event["kind"] = "send"
            sends.append([trace, counts[trace]])
        print(json.dumps(event))


main()
