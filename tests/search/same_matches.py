#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""same_matches.py - the matches of a run that was followed are those of its recording.

usage: ... | same_matches.py stamp       (puts the time in ns before each line of stdin)
       same_matches.py compare FOLDER NAME EARLY LATE

FOLDER has NAME.followed (stamped), NAME.err (messages of the follower), NAME.recorded
and NAME.ended (the time when the program ended).  EARLY and LATE are predicates,
separated by commas, that must have matches before that time, or at all.  Unless a loss
is reported, both have the same matches. Each event of a match has a line of its own.
"""
import sys
import time


def stamp():
    for line in iter(sys.stdin.readline, ""):
        print(time.time_ns(), line, end="", flush=True)


def take(texts):
    """Matches, each as its predicate and its events; checks their numbers of detail
    lines."""
    matches, told = [], []
    for text in texts:
        if text.startswith(" "):
            told[-1] += 1
            continue
        head, _, events = text.partition(": ")
        matches.append((head, tuple(sorted(events.split(", ")))))
        told.append(0)
    for match, lines in zip(matches, told):
        assert lines == len(match[1]), f"{match}: {lines} lines tell of its events"
    return matches


def compare(folder, name, early, late):
    def read(what):
        with open(f"{folder}/{name}.{what}", encoding="utf-8") as file:
            return file.read()

    end = int(read("ended"))
    stamped = [line.split(" ", 1) for line in read("followed").splitlines()]
    followed = take(text for _, text in stamped)
    times = [int(at) for at, text in stamped if not text.startswith(" ")]
    recorded = take(read("recorded").splitlines())
    first = {}
    for at, (pattern, _) in zip(times, followed):
        first.setdefault(pattern, at)
    for pattern in filter(None, early.split(",")):
        assert first.get(pattern, end) < end, f"{pattern} came at the end or not"
    for pattern in filter(None, late.split(",")):
        assert pattern in first, f"{pattern} did not come"
    assert len(set(followed)) == len(followed), "a match was told twice"
    told = read("err")
    if "may be missing" in told or "incomplete: " in told:
        print(f"{name}: something was lost, which is told")
    else:
        assert set(followed) == set(recorded), (
            sorted(set(followed) ^ set(recorded))[:5], len(followed), len(recorded))
    print(f"{name}: {len(followed)} matches, "
          f"{sum(at < end for at in times)} before the program ended")


if sys.argv[1:] == ["stamp"]:
    stamp()
elif len(sys.argv) == 6 and sys.argv[1] == "compare":
    compare(*sys.argv[2:])
else:
    sys.exit(__doc__)
