#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_cancelled.py - matches sends and receives of a run of cancelled_sends by their
numbers, and compares the pairs with the messages that were really received.

usage: check_cancelled.py TUPLES LOG_DIRECTORY      (TUPLES as `tuples` prints them)

The two ends of a pair must belong to one message.  A number may be unknown, or revoked
by `MPI_Cancel send`; but some messages must be matched, also after the first cancelled
send of their channel.
"""

import collections
import glob
import os
import sys

SENDS = ("MPI_Isend", "MPI_Issend", "MPI_Start send")
RECEIVES = ("MPI_Recv", "MPI_Irecv")
CANCEL = "MPI_Cancel send"
EXTRA = 1000  # tag of the sends that were freed after MPI_Cancel

Tuple = collections.namedtuple(
    "Tuple", "rank operation communicator peer tag number count start stop")
faults = []


def fault(text):
    if len(faults) < 20:
        print("FAILED:", text)
    faults.append(text)


def read_tuples(path):
    for line in open(path):
        field = line.rstrip("\n").split("\t")
        if field[0] == "element" and field[5] != "0":
            fault(f"element {field[3]} has lost {field[5]} tuples")
        if field[0] == "tuple":
            number = None if field[8] == "?" else int(field[8])
            yield Tuple(int(field[1]), field[4], field[5], int(field[6]), int(field[7]),
                        number, *map(int, field[9:12]))


def read_log(path):
    words = [line.split() for line in open(path)]
    return {kind: [int(word[1]) for word in words if word[0] == kind] for kind in "SCR"}


def channel_of(sender):
    """The channel of a send: key, sender, receiver, tag.  A communicator of one process
    has a unique key, so its peer 0 need not be a rank of the world."""
    return sender.communicator, sender.rank, sender.peer, sender.tag


def channel_to(receiver, worlds):
    """The channel of a receive."""
    if receiver.communicator in worlds:
        return receiver.communicator, receiver.peer, receiver.rank, receiver.tag
    return receiver.communicator, receiver.rank, receiver.peer, receiver.tag


def effective(send, doubts):
    """The number of a send; None if it is unknown."""
    for doubt in doubts:
        if channel_of(doubt) == channel_of(send) and send.number is not None and \
                send.number >= doubt.number and send.start < doubt.start:
            return None
    return send.number


def in_order(tuples, rank, operations, key):
    return sorted((t for t in tuples if t.rank == rank and t.operation in operations and
                   t.peer >= 0 and t.tag != EXTRA), key=key)


def label(what, tuples, messages):
    if len(tuples) != len(messages):
        fault(f"{len(messages)} messages {what}, {len(tuples)} recorded")
    return list(zip(tuples, messages))


def join(tuples, logs):
    """Returns the number of matched messages, and how many of them were sent later than
    a cancelled send of their channel."""
    doubts = [t for t in tuples if t.operation == CANCEL]
    # Keys of communicators that more than one rank uses.
    users = collections.defaultdict(set)
    for t in tuples:
        users[t.communicator].add(t.rank)
    worlds = {key for key, ranks in users.items() if len(ranks) > 1}
    first = {}
    for doubt in sorted(doubts, key=lambda t: -t.start):
        first[channel_of(doubt)] = doubt.start
    sent = {}
    for rank, log in logs.items():
        for send, message in label("sent", in_order(
                tuples, rank, SENDS, lambda t: t.start), log["S"]):
            number = effective(send, doubts)
            channel = channel_of(send)
            if number is None:
                continue
            if (channel, number) in sent:
                fault(f"two sends are number {number} of {channel}")
            sent[channel, number] = message, send.start > first.get(channel, send.start)
    joined = behind = 0
    for rank, log in logs.items():
        for receive, message in label("received", in_order(
                tuples, rank, RECEIVES, lambda t: t.stop), log["R"]):
            channel = channel_to(receive, worlds)
            found, later = sent.get((channel, receive.number), (None, False))
            if found is None:
                continue
            if found != message:
                fault(f"rank {rank} got {message}, joined with {found}: {receive}")
            joined += 1
            behind += later
    return joined, behind


def check_forgotten(tuples):
    """After a cancelled send was freed, nothing is known of its channel."""
    doubts = [t for t in tuples if t.operation == CANCEL]
    for send in (t for t in tuples if t.operation in SENDS and t.tag == EXTRA):
        if effective(send, doubts) is not None:
            fault(f"has a number behind one that was cancelled and freed: {send}")


def main():
    tuples = list(read_tuples(sys.argv[1]))
    logs = {int(path.split(".")[-1]): read_log(path)
            for path in glob.glob(os.path.join(sys.argv[2], "log.*"))}
    received = sum(len(log["R"]) for log in logs.values())
    cancelled = sum(len(log["C"]) for log in logs.values())
    joined, behind = join(tuples, logs)
    check_forgotten(tuples)
    print(f"{cancelled} cancelled, {received} received, {joined} joined, {behind} of them "
          f"behind a cancelled one, {len(faults)} faults")
    if joined < received / 4 or (cancelled > 0 and behind == 0):
        fault("hardly any message is joined")
    return 1 if faults else 0


sys.exit(main())
