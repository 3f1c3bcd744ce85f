# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Tests that compare_truth.py finds each fault that is planted in an event set."""

import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from compare_truth import Event, Fault, Line, compare  # noqa: E402

SEED = int(os.environ.get("ES_TEST_SEED", "1"))


class Made:
    """The logs of a random run and its event set."""

    def __init__(self, seed, size, steps, posts=0.5):
        self.random = random.Random(seed)
        self.posts = posts  # probability that a complete names its post
        self.size = size
        self.logs = {rank: [] for rank in range(size)}
        self.traces = [[] for _ in range(size + 1)]
        self.names = ["%d.0" % rank for rank in range(size)] + ["comm:made"]
        self.calls = [0] * size
        self.flying = []
        self.count = 0
        for _ in range(steps):
            self.random.choice((self.send, self.send, self.receive, self.synchronous,
                                self.together, self.broadcast, self.epoch))()

    def put(self, rank, kind, name, number, heard=(), call=True):
        self.calls[rank] += call
        self.logs[rank].append(Line(kind, self.calls[rank], name, number, list(heard)))
        return rank, len(self.logs[rank])

    def event(self, trace, kind, type_name, partners=(), **attributes):
        attributes = {name: str(value) for name, value in attributes.items()}
        self.traces[trace].append(Event(kind, type_name, list(partners), attributes))
        return trace, len(self.traces[trace])

    def two(self):
        self.count += 1
        return self.random.sample(range(self.size), 2)

    def send(self):
        a, b = self.two()
        line = self.put(a, "S", "MPI_Send", self.count)
        event = self.event(a, "send", "MPI_Send", bytes=self.count, **{"class": "send"})
        self.flying.append((b, self.count, line, event))

    def receive(self):
        """Receives up to two messages by one call, in unknown order."""
        if not self.flying:
            return
        first = self.flying[0][0]
        taken = [message for message in self.flying if message[0] == first][:2]
        for message in taken:
            self.flying.remove(message)
        for i, (rank, number, line, _) in enumerate(taken):
            self.put(rank, "R", "MPI_Irecv", number, [line], call=i == 0)
        for rank, number, _, event in reversed(taken):
            self.event(rank, "receive", "MPI_Irecv", [event], bytes=number,
                       **{"class": "receive"})
        self.event(first, "unary", "MPI_Waitall")

    def synchronous(self):
        a, b = self.two()
        line = self.put(a, "S", "MPI_Ssend", self.count)
        self.put(b, "R", "MPI_Recv", self.count, [line])
        places = (a, len(self.traces[a]) + 1), (b, len(self.traces[b]) + 1)
        self.event(a, "sync", "MPI_Ssend", [places[1]], bytes=self.count, **{"class": "send"})
        self.event(b, "sync", "MPI_Recv", [places[0]], bytes=self.count,
                   **{"class": "receive"})

    def together(self):
        self.count += 1
        how = {"instance": self.count, "start": self.count}
        enters = []
        for rank in range(self.size):
            self.put(rank, "E", "MPI_Barrier", self.count)
            enters.append(self.event(rank, "send", "MPI_Barrier enter", **how))
        self.event(self.size, "receive", "join", enters)
        release = self.event(self.size, "send", "release")
        for rank in range(self.size):
            self.put(rank, "X", "MPI_Barrier", self.count, ["*"])
            self.event(rank, "receive", "MPI_Barrier exit", [release], **how)

    def broadcast(self):
        root, _ = self.two()
        how = {"instance": self.count, "start": self.count}
        line = self.put(root, "E", "MPI_Bcast", self.count)
        enter = self.event(root, "send", "MPI_Bcast enter", **how)
        for rank in range(self.size):
            if rank != root:
                self.put(rank, "E", "MPI_Bcast", self.count)
                self.event(rank, "unary", "MPI_Bcast enter", **how)
            self.put(rank, "X", "MPI_Bcast", self.count, [line])
            self.event(rank, "receive", "MPI_Bcast exit", [enter] if rank != root else [],
                       **how)

    def epoch(self):
        origin, target = self.two()
        self.put(target, "P", "MPI_Win_post", self.count)
        post = self.event(target, "send", "MPI_Win_post")
        self.put(origin, "A", "MPI_Win_start", self.count)
        self.event(origin, "unary", "MPI_Win_start")
        line = self.put(origin, "C", "MPI_Win_complete", self.count)
        complete = self.event(origin, "send", "MPI_Win_complete enter")
        self.put(origin, "D", "MPI_Win_complete", self.count, [(target, 0)])
        self.event(origin, "receive", "MPI_Win_complete exit",
                   [post] if self.random.random() < self.posts else [])
        self.put(target, "W", "MPI_Win_wait", self.count, [line])
        self.event(target, "receive", "MPI_Win_wait", [complete])

    # --- Faults: each changes the order, or returns False --------------------------------

    def some(self, matches):
        found = [(trace, at) for trace, events in enumerate(self.traces)
                 for at, event in enumerate(events) if matches(event)]
        return self.random.choice(found) if found else None

    def change(self, place, **members):
        trace, at = place
        self.traces[trace][at] = self.traces[trace][at]._replace(**members)

    def drop_partner(self):
        """Removes a partner; returns whether that changes the order."""
        place = self.some(lambda event: event.type == "MPI_Irecv")
        if place is None:
            return False
        trace, at = place
        partner = self.traces[trace][at].partners[0]
        self.change(place, partners=[])
        return not self.reaches(partner, (trace, at + 1))

    def add_partner(self):
        """Adds a send as partner that neither precedes nor follows the event."""
        for _ in range(20):
            place = self.some(lambda event: event.kind == "receive")
            other = self.some(lambda event: event.kind == "send")
            if place is None or other is None or place[0] == other[0]:
                continue
            here, there = (place[0], place[1] + 1), (other[0], other[1] + 1)
            if not self.reaches(there, here) and not self.reaches(here, there):
                event = self.traces[place[0]][place[1]]
                self.change(place, partners=event.partners + [there])
                return True
        return False

    def reaches(self, a, b):
        """Whether `a` precedes `b` in the set: searches backwards from `b`."""
        seen, todo = set(), [b]
        while todo:
            trace, index = todo.pop()
            if (trace, index) in seen or index == 0:
                continue
            seen.add((trace, index))
            event = self.traces[trace][index - 1]
            todo.append((trace, index - 1))
            todo += event.partners if event.kind == "receive" else []
            if event.kind == "sync":
                other, at = event.partners[0]
                if (other, at) == a and (trace, index) != b:
                    return True
                todo.append((other, at - 1))
        return a in seen and a != b


class Comparing(unittest.TestCase):
    def test_a_set_that_is_true_is_accepted(self):
        for seed in range(SEED, SEED + 40):
            made = Made(seed, 2 + seed % 3, 60)
            with self.subTest(seed=seed):
                wrong, _ = compare(made.names, made.traces, made.logs)
                self.assertEqual(wrong, [])

    def put_in(self, fault_name):
        faults = 0
        for seed in range(SEED, SEED + 200):
            made = Made(seed, 2 + seed % 3, 30, posts=1)
            if not getattr(made, fault_name)():
                continue
            faults += 1
            with self.subTest(seed=seed):
                wrong, _ = compare(made.names, made.traces, made.logs)
                self.assertNotEqual(wrong, [])
        self.assertGreater(faults, 10)

    def test_an_edge_that_is_missing_is_found(self):
        self.put_in("drop_partner")

    def test_an_edge_that_is_too_many_is_found(self):
        self.put_in("add_partner")

    def fault_of(self, spoil, text):
        made = Made(SEED, 3, 80)
        spoil(made)
        with self.assertRaises(Fault) as caught:
            compare(made.names, made.traces, made.logs)
        self.assertIn(text, str(caught.exception))

    def test_an_event_that_is_missing_is_found(self):
        def spoil(made):
            trace, at = made.some(lambda event: event.type == "MPI_Send")
            made.change((trace, at), type="MPI_Wait", kind="unary", attributes={})

        self.fault_of(spoil, "no event for")

    def test_an_event_of_another_call_is_found(self):
        def spoil(made):
            made.change(made.some(lambda event: event.type == "MPI_Send"), type="MPI_Bsend")

        self.fault_of(spoil, "MPI_Bsend")

    def test_an_event_that_is_in_no_log_is_found(self):
        def spoil(made):
            made.event(0, "send", "MPI_Barrier enter", instance=99, start=99)

        self.fault_of(spoil, "in no log")

    def test_events_that_stand_in_a_wrong_place_are_found(self):
        def spoil(made):
            events = made.traces[0]
            at = next(i for i in range(len(events) - 1)
                      if events[i].type == "MPI_Barrier enter" and
                      events[i + 1].type == "MPI_Barrier exit")
            events[at], events[at + 1] = events[at + 1], events[at]

        self.fault_of(spoil, "stands before")

    def test_a_message_that_is_not_synchronous_must_be_none(self):
        def spoil(made):
            trace, at = made.some(lambda event: event.kind == "sync" and
                                  event.type == "MPI_Ssend")
            other, index = made.traces[trace][at].partners[0]
            made.change((trace, at), kind="send", partners=[])
            made.change((other, index - 1), kind="receive", partners=[(trace, at + 1)])

        self.fault_of(spoil, "MPI_Ssend")

    def test_a_cycle_is_found(self):
        def spoil(made):
            place = made.some(lambda event: event.type == "MPI_Barrier exit")
            trace, at = place
            made.event(trace, "send", "made")
            made.change(place, partners=made.traces[trace][at].partners +
                        [(trace, len(made.traces[trace]))])

        self.fault_of(spoil, "cycle")


if __name__ == "__main__":
    unittest.main()
