#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""compare_truth.py - compares the order of an event set with the true order, as logged
by a run of order_truth.

usage: compare_truth.py [--partial] SET LOG_DIRECTORY

SET is an event set in JSON Lines; order_truth.c describes the logs.  Each line of a log
is found in the set as an event.  The true order is the closure of the logs: the program
order of each rank, messages, and the data of collective operations.  All pairs of
events must be ordered in the set as in the true order.  Only MPI_Win_complete may have
more predecessors, the posts of its targets: MPI allows it to return earlier.

With --partial the set may lack events and order: it must not order two sends or
receives that are not ordered in truth.
"""

import collections
import glob
import json
import os
import sys

Line = collections.namedtuple("Line", "kind call name number heard")
Event = collections.namedtuple("Event", "kind type partners attributes")
SHOWN = 20
THREAD_STEP = 100  # difference between the log numbers of a rank's threads


class Fault(Exception):
    """The set cannot be compared, for the reason in the text."""


# --- Reading ------------------------------------------------------------------------------


def read_heard(text):
    return [tuple(int(part) for part in pair.split(":")) for pair in text.split(",")]


def read_log(path):
    lines = []
    with open(path, encoding="utf-8") as log:
        for text in log:
            kind, call, name, number, *heard = text.rstrip("\n").split("\t")
            if heard and heard[0] not in ("*", "/"):
                heard = [] if heard[0] == "-" else read_heard(heard[0])
            lines.append(Line(kind, int(call), name, int(number), heard))
    return lines


def read_logs(directory):
    """Returns the lines of each rank."""
    return {int(path.rsplit(".", 1)[1]): read_log(path)
            for path in glob.glob(os.path.join(directory, "log.*"))}


def read_set(path):
    """Returns the names of the traces, and the events of each trace in order."""
    with open(path, encoding="utf-8") as file:
        names = json.loads(next(file))["traces"]
        traces = [[] for _ in names]
        for text in file:
            if not text.strip():
                continue
            event = json.loads(text)
            if event["index"] != len(traces[event["trace"]]) + 1:
                raise Fault("a gap before %s" % text.strip())
            traces[event["trace"]].append(
                Event(event.get("kind", "unary"), event.get("type", ""),
                      [tuple(partner) for partner in event.get("partners", [])],
                      event.get("attributes", {})))
    return names, traces


# --- Which event is which line ------------------------------------------------------------

TYPES = {"E": "%s enter", "P": "%s", "A": "%s", "C": "%s enter", "D": "%s exit", "W": "%s"}
CLASSES = {"S": "send", "R": "receive"}


def operation_of(event):
    """Returns a key that the two events of an operation share."""
    return (event.type.rsplit(" ", 1)[0], event.attributes.get("communicator"),
            event.attributes.get("instance"), event.attributes.get("start"))


class Places:
    """Finds the lines of a rank on its trace."""

    def __init__(self, rank, events):
        self.rank = rank
        self.events = events
        self.of_type = collections.defaultdict(list)
        self.of_bytes = {}
        self.exits = {}
        for index, event in enumerate(events, 1):
            op_class = event.attributes.get("class")
            if op_class in CLASSES.values() and event.attributes["bytes"] == "0":
                continue  # cancelled, or the creation of a persistent request
            if op_class in CLASSES.values():
                key = op_class, event.attributes["bytes"]
                if key in self.of_bytes:
                    raise Fault("rank %d: two %ss of %s bytes" % (rank, *key))
                self.of_bytes[key] = index
            elif event.type.endswith(" exit") and "instance" in event.attributes:
                self.exits[operation_of(event)] = index
            else:
                self.of_type[event.type].append(index)
        for indices in self.of_type.values():
            indices.reverse()

    def next_of(self, type_name):
        if not self.of_type[type_name]:
            raise Fault("rank %d: no event %s for a line" % (self.rank, type_name))
        return self.of_type[type_name].pop()

    def take(self, table, key, what):
        if key not in table:
            raise Fault("rank %d: no event for %s" % (self.rank, what))
        return table.pop(key)

    def find_all(self, lines):
        """Returns the index of each line's event."""
        entered = {}
        found = []
        for line in lines:
            if line.kind in CLASSES:
                index = self.take(self.of_bytes, (CLASSES[line.kind], str(line.number)), line)
                if self.events[index - 1].type != line.name:
                    raise Fault("rank %d: %s is %s" % (self.rank, line, self.events[index - 1]))
            elif line.kind == "X":
                begin = self.events[entered[line.name, line.number] - 1]
                index = self.take(self.exits, operation_of(begin), line)
            else:
                index = self.next_of(TYPES[line.kind] % line.name)
                entered[line.name, line.number] = index
            found.append(index)
        self.check_all_taken()
        return found

    def check_all_taken(self):
        rest = list(self.of_bytes) + list(self.exits)
        rest += [name for name, left in self.of_type.items() if left and name.endswith(" enter")]
        if rest:
            raise Fault("rank %d: events that are in no log: %s" % (self.rank, rest[:5]))


def trace_of(rank, names):
    """Returns the number of the trace, or None."""
    name = "%d.%d" % (rank % THREAD_STEP, rank // THREAD_STEP)
    return names.index(name) if name in names else None


def place_lines(logs, names, traces):
    """Returns the (trace, index) of each (rank, line)."""
    places = {}
    for rank, lines in logs.items():
        trace = trace_of(rank, names)
        if trace is None:
            raise Fault("no trace of rank %d" % rank)
        indices = Places(rank, traces[trace]).find_all(lines)
        check_program_order(rank, lines, indices)
        for number, index in enumerate(indices, 1):
            places[rank, number] = trace, index
    return places


def check_program_order(rank, lines, indices):
    last = None
    for index, line in sorted(zip(indices, lines), key=lambda pair: pair[0]):
        if last is not None and line.call < last.call:
            raise Fault("rank %d: %s stands before %s" % (rank, last, line))
        last = line


# --- Orders -------------------------------------------------------------------------------


class Order:
    """A partial order as a graph; the predecessors of a node are a bit set."""

    def __init__(self):
        self.same = {}
        self.before = collections.defaultdict(set)
        self.bits = collections.defaultdict(int)

    def representative(self, node):
        while node in self.same:
            node = self.same[node]
        return node

    def merge(self, a, b):
        a, b = self.representative(a), self.representative(b)
        if a != b:
            self.same[a] = b

    def close(self, edges, nodes, bit_of):
        """Returns the predecessors of each node."""
        after = collections.defaultdict(list)
        missing = collections.Counter()
        for a, b in {(self.representative(a), self.representative(b)) for a, b in edges}:
            if a != b:
                after[a].append(b)
                missing[b] += 1
        for node in nodes:
            self.bits[self.representative(node)] |= bit_of.get(node, 0)
        preceding = collections.defaultdict(int)
        units = {self.representative(node) for node in nodes}
        ready = [unit for unit in units if missing[unit] == 0]
        for unit in ready:  # the loop appends to it
            for following in after[unit]:
                preceding[following] |= preceding[unit] | self.bits[unit]
                missing[following] -= 1
                if missing[following] == 0:
                    ready.append(following)
        if len(ready) != len(units):
            raise Fault("the order has a cycle")
        return {node: preceding[self.representative(node)] for node in nodes}


def bits_of(places):
    return {place: 1 << bit for bit, place in enumerate(sorted(places.values()))}


def close_set(traces, places):
    order = Order()
    nodes, edges = [], []
    for trace, events in enumerate(traces):
        for index, event in enumerate(events, 1):
            nodes.append((trace, index))
            if index > 1:
                edges.append(((trace, index - 1), (trace, index)))
            if event.kind == "receive":
                edges += [(partner, (trace, index)) for partner in event.partners]
            elif event.kind == "sync":
                order.merge((trace, index), event.partners[0])
    return order.close(edges, nodes, bits_of(places))


def chains(places):
    """Yields edges from each place to the next one of its trace."""
    of_trace = collections.defaultdict(list)
    for trace, index in places.values():
        of_trace[trace].append(index)
    for trace, indices in of_trace.items():
        indices.sort()
        for a, b in zip(indices, indices[1:]):
            yield (trace, a), (trace, b)


def true_edges(logs):
    """Returns two lists of edges between (rank, line): certain and possible ones."""
    begins, posts = collections.defaultdict(list), {}
    for rank, lines in logs.items():
        for number, line in enumerate(lines, 1):
            if line.kind == "E":
                begins[rank // THREAD_STEP, line.name, line.number].append((rank, number))
            elif line.kind == "P":
                posts[rank, line.number] = rank, number
    certain, possible = [], []
    for rank, lines in logs.items():
        for number, line in enumerate(lines, 1):
            together = rank // THREAD_STEP, line.name, line.number
            if line.heard == ["*"]:
                heard = begins[together]
            elif line.heard == ["/"]:
                heard = [begin for begin in begins[together] if begin[0] % 2 != rank % 2]
            elif line.kind == "D":
                possible += [(posts[target, line.number], (rank, number))
                             for target, _ in line.heard]
                continue
            else:
                heard = line.heard
            certain += [(pair, (rank, number)) for pair in heard]
    return certain, possible


def syncs_of(logs, traces, places):
    """Yields messages that are one sync on two traces; checks that they may be."""
    for rank, lines in logs.items():
        for number, line in enumerate(lines, 1):
            if line.kind != "R":
                continue
            sender, sent = line.heard[0]
            trace, index = places[rank, number]
            is_sync = traces[trace][index - 1].kind == "sync"
            can_be = (logs[sender][sent - 1].name == "MPI_Ssend" and
                      line.name in ("MPI_Recv", "MPI_Mrecv"))
            if is_sync != can_be:
                raise Fault("rank %d: %s from %s is %s" % (
                    rank, line, logs[sender][sent - 1], traces[trace][index - 1]))
            if is_sync:
                yield (sender, sent), (rank, number)


def close_truth(logs, traces, places, edges):
    order = Order()
    for a, b in syncs_of(logs, traces, places):
        order.merge(places[a], places[b])
    edges = [(places[a], places[b]) for a, b in edges] + list(chains(places))
    return order.close(edges, list(places.values()), bits_of(places))


# --- Comparing ----------------------------------------------------------------------------


def name_of(place, lines_at, logs):
    rank, number = lines_at[place]
    return "%d:%d %s" % (rank, number, "\t".join(str(f) for f in logs[rank][number - 1]))


def differences(found, least, most, places, logs):
    """Yields a text for each pair with a wrong order."""
    lines_at = {place: pair for pair, place in places.items()}
    ordered = sorted(places.values())
    for place in ordered:
        wrong = (least[place] & ~found[place]) | (found[place] & ~most[place])
        while wrong:
            low = wrong & -wrong
            wrong ^= low
            before = ordered[low.bit_length() - 1]
            what = "does not precede" if least[place] & low else "precedes"
            yield "in the set %s %s %s" % (name_of(before, lines_at, logs), what,
                                           name_of(place, lines_at, logs))


def compare(names, traces, logs):
    """Returns the differences and a summary; raises Fault if sets do not fit at all."""
    places = place_lines(logs, names, traces)
    found = close_set(traces, places)
    certain, possible = true_edges(logs)
    least = close_truth(logs, traces, places, certain)
    most = close_truth(logs, traces, places, certain + possible)
    pairs = sum(bin(bits).count("1") for bits in least.values())
    summary = "%d events, %d pairs in order, %d more may be" % (
        len(places), pairs, sum(bin(bits).count("1") for bits in most.values()) - pairs)
    return list(differences(found, least, most, places, logs)), summary


# --- Sets that lack something -------------------------------------------------------------


def place_messages(logs, names, traces):
    """Returns the (trace, index) of the sends and receives that are in the set."""
    places = {}
    for rank, lines in logs.items():
        trace = trace_of(rank, names)
        there = {} if trace is None else Places(rank, traces[trace]).of_bytes
        for number, line in enumerate(lines, 1):
            index = there.get((CLASSES.get(line.kind), str(line.number)))
            if index is not None:
                places[rank, number] = trace, index
    return places


def close_calls(logs, traces, places):
    """Returns possible predecessors of each place; a call orders none of its events."""
    order = Order()
    call_of = {(rank, number): (rank, line.call) for rank, lines in logs.items()
               for number, line in enumerate(lines, 1)}
    at = {place: pair for pair, place in places.items()}
    for place, pair in at.items():
        event = traces[place[0]][place[1] - 1]
        if event.kind == "sync" and event.partners[0] in at:
            order.merge(call_of[pair], call_of[at[event.partners[0]]])
    edges = [(call_of[a], call_of[b]) for edges in true_edges(logs) for a, b in edges]
    for rank, lines in logs.items():
        calls = sorted({line.call for line in lines})
        edges += [((rank, a), (rank, b)) for a, b in zip(calls, calls[1:])]
    bit_of = collections.defaultdict(int)
    for place, bit in bits_of(places).items():
        bit_of[call_of[at[place]]] |= bit
    preceding = order.close(edges, set(call_of.values()), bit_of)
    return {place: preceding[call_of[pair]] | order.bits[order.representative(call_of[pair])]
            for pair, place in places.items()}


def compare_partial(names, traces, logs):
    """Like compare(), for a set that may lack events and order."""
    places = place_messages(logs, names, traces)
    found = close_set(traces, places)
    most = close_calls(logs, traces, places)
    summary = "%d messages' ends, %d pairs in order of %d" % (
        len(places), sum(bin(found[place]).count("1") for place in places.values()),
        sum(bin(bits).count("1") for bits in most.values()))
    return list(differences(found, collections.defaultdict(int), most, places, logs)), summary


def main():
    partial = sys.argv[1] == "--partial"
    if partial:
        del sys.argv[1]
    logs = read_logs(sys.argv[2])
    if not logs:
        print("FAILED: there is no log")
        return 1
    try:
        wrong, summary = (compare_partial if partial else compare)(*read_set(sys.argv[1]), logs)
    except Fault as fault:
        print("FAILED:", fault)
        return 1
    print(summary)
    for text in wrong[:SHOWN]:
        print("FAILED:", text)
    if len(wrong) > SHOWN:
        print("and %d more" % (len(wrong) - SHOWN))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
