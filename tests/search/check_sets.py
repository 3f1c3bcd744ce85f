#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_sets.py - the generated event sets have the sizes that the thesis states.

Counts events, traces and matches of the eleven cases without any engine, from
Fidge/Mattern vectors computed here. It checks both the sets of bench/pattern_set and
the matches of the engines independently.
"""

import itertools
import json
import os
import subprocess
import sys

FAULTS = []


def expect(what, found, expected):
    if found == expected:
        print(f"ok: {what}: {found}")
    else:
        FAULTS.append(what)
        print(f"NOT ok: {what}: {found}, expected {expected}")


class EventSet:
    """Events as (trace, index), each with its greatest predecessors on all traces."""

    def __init__(self, name):
        program = os.path.join(os.environ.get("top_builddir", "."), "bench/pattern_set")
        run = subprocess.run([program, name], capture_output=True, check=True)
        lines = run.stdout.splitlines()
        self.traces = json.loads(lines[0])["traces"]
        self.events = {}
        self.greatest = {}
        last = [[0] * len(self.traces) for _ in self.traces]
        for line in lines[1:]:
            event = json.loads(line)
            trace, index = event["trace"], event["index"]
            clock = last[trace]
            clock[trace] = index - 1
            for partner in event.get("partners", []):
                self.events[tuple(partner)]["partners"].append((trace, index))
                clock = [max(pair) for pair in
                         zip(clock, self.greatest[tuple(partner)])]
                clock[partner[0]] = max(clock[partner[0]], partner[1])
            event["partners"] = [tuple(p) for p in event.get("partners", [])]
            self.events[trace, index] = event
            self.greatest[trace, index] = tuple(clock)
            last[trace] = list(clock)

    def before(self, a, b):
        return a[1] <= self.greatest[b][a[0]]

    def concurrent(self, a, b):
        return a != b and not self.before(a, b) and not self.before(b, a)

    def of(self, process="", kind="", partner=None):
        """Events of a process and a type, optionally with a partner of such a pair."""
        return [
            key for key, event in self.events.items()
            if (not process or self.traces[key[0]] == process)
            and (not kind or event.get("type", "") == kind)
            and (not partner or any(
                self.traces[other[0]] == partner[0]
                and self.events[other].get("type", "") == partner[1]
                for other in event["partners"]))]


def set_before(events, one, other):
    """A --> B for two sets of events."""
    def any_before(left, right):
        return any(events.before(a, b) for a in left for b in right)
    return (not set(one) & set(other) and any_before(one, other)
            and not any_before(other, one))


# --- Sockets ---------------------------------------------------------------------------

def check_connections(tcp):
    starts = tcp.of("Server", "Accept", ("Listen Socket", "Accept_stream"))
    ends = tcp.of("Server", "Accept_done", ("Listen Socket", "Accept_done_stream"))
    made = [(a, b) for a in starts for b in ends if tcp.before(a, b)
            and not any(tcp.before(a, c) and tcp.before(c, b) for c in starts)]
    expect("connections", len(made), 2)
    expect("case 1", sum(not any(set_before(tcp, other, one) for other in made)
                         for one in made), 1)
    expect("case 2", sum(not any(set_before(tcp, one, other) for other in made)
                         for one in made), 1)


def check_transfers(tcp):
    sends = [tcp.of(f"Client{i}", "Send", (f"DataStream{i}", "Send_stream"))
             for i in (1, 2)]
    takes = [tcp.of(f"DataStream{i}", "Recv_stream", ("Server", "Recv"))
             for i in (1, 2)]
    both = sends[0] + sends[1]
    expect("sends of each client", [len(part) for part in sends], [30, 30])
    expect("pieces that the server takes", [len(part) for part in takes], [30, 30])
    expect("sends of client 2 behind one of client 1",
           sum(any(tcp.before(a, b) for a in sends[0]) for b in sends[1]), 1)
    expect("sends of client 1 behind one of client 2",
           sum(any(tcp.before(b, a) for b in sends[1]) for a in sends[0]), 0)
    final = [[a for a in part if not any(tcp.before(a, b) for b in both)]
             for part in sends]
    expect("case 3", [len(part) for part in final], [0, 1])
    expect("case 4", sum(
        tcp.before(a, b)
        and not any(tcp.before(a, c) and tcp.before(c, b) for c in both)
        for part in sends for a, b in itertools.product(part, part)), 58)
    # Pairs of sends for which all takes of one client are not after its send: for all
    # pairs of takes at least one of the two relations must fail.
    expect("case 5", sum(
        all(not tcp.before(a, c) for c in takes[0])
        or all(not tcp.before(b, d) for d in takes[1])
        for a, b in itertools.product(*sends)), 0)


def check_tcp():
    tcp = EventSet("tcp")
    expect("tcp: events, traces", (len(tcp.events), len(tcp.traces)), (303, 8))
    check_connections(tcp)
    check_transfers(tcp)


# --- Monitors --------------------------------------------------------------------------

def check_entries(ucpp):
    """Number of concurrent pairs of entries, as all pairs less the ordered ones."""
    names = ("M1(0x0x9ac5730)", "M1(0x0x9ac5684)")
    entries = [ucpp.of(name, "thread received") for name in names]
    expect("entries", sum(len(part) for part in entries), 10000)

    def ordered(left, right):
        indexes = [index for _, index in left]
        count, at = 0, 0
        for event in right:
            greatest = ucpp.greatest[event][left[0][0]]
            while at < len(indexes) and indexes[at] <= greatest:
                at += 1
            count += at
        return count

    one, other = ordered(*entries), ordered(entries[1], entries[0])
    pairs = len(entries[0]) * len(entries[1])
    expect("case 6", pairs - one - other, 65)
    print(f"case 6: {pairs + pairs - one} comparisons, one or two for each pair")


def check_threads(ucpp):
    starts, stops = ucpp.of("", "thread start"), ucpp.of("", "thread stop")
    pairs = [(a, b) for a in starts for b in stops if ucpp.before(a, b)]
    found = 0
    for start in starts:
        before = [(trace, index) for trace, last in enumerate(ucpp.greatest[start])
                  for index in range(1, last + 1)]
        found += sum(set_before(ucpp, (event, start), (stop,))
                     for event in before for stop in stops)
    expect("case 7", found, 28)
    expect("case 8", len({
        frozenset(one + other) for one, other in itertools.combinations(pairs, 2)
        if all(ucpp.concurrent(a, b) for a in one for b in other)}), 78)


def check_ucpp():
    ucpp = EventSet("ucpp")
    expect("ucpp: events, traces", (len(ucpp.events), len(ucpp.traces)), (177735, 11))
    check_entries(ucpp)
    check_threads(ucpp)


# --- PVM -------------------------------------------------------------------------------

def antichains(events, chosen, left, size):
    if size == 0:
        return 1
    return sum(antichains(events, chosen + [event],
                          [other for other in left[i + 1:]
                           if events.concurrent(event, other)], size - 1)
               for i, event in enumerate(left))


def check_pvm_merge():
    merge = EventSet("pvm-merge")
    expect("pvm-merge: events, traces", (len(merge.events), len(merge.traces)),
           (138, 16))
    sends = merge.of("", "send")
    expect("case 9 with eight sends", antichains(merge, [], sends, 8), 32)
    expect("case 9", antichains(merge, [], sends, 9), 0)


def count_next(events, lefts, rights):
    """Pairs with no event in between: the left one is a greatest predecessor of the
    right one and precedes no other greatest predecessor."""
    lefts, count = set(lefts), 0
    for right in rights:
        before = [(trace, index) for trace, index in enumerate(events.greatest[right])
                  if index]
        count += sum(not any(events.before(left, other) for other in before)
                     for left in before if left in lefts)
    return count


def check_pvm_life():
    life = EventSet("pvm-life")
    expect("pvm-life: events, traces", (len(life.events), len(life.traces)), (5898, 48))
    sends, receives = life.of("", "send"), life.of("", "recv")
    expect("case 10", count_next(life, sends, sends), 47)
    expect("case 11", count_next(life, sends, receives), 1918)


def main():
    check_tcp()
    check_ucpp()
    check_pvm_merge()
    check_pvm_life()
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
