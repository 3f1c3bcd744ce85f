#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_traffic.py - compares the tuples of a run of traffic with the program's own
logs.

usage: check_traffic.py TUPLES LOG_DIRECTORY THREADS   (TUPLES as `tuples` prints them)

Every message that was sent, and every one that was received, has exactly one tuple with
its number on its channel, so each receive matches exactly one send.  Every routine has
a tuple for each of its calls.
"""

import collections
import glob
import os
import sys

POLLS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe",
         "MPI_Request_get_status")
faults = []


def fault(text):
    if len(faults) < 20:
        print("FAILED:", text)
    faults.append(text)


def read_tuples(path):
    names, groups, ranks, tuples, polls = {}, {}, {}, [], collections.Counter()
    for line in open(path):
        field = line.rstrip("\n").split("\t")
        if field[0] == "communicator":
            rank, key, own, name = int(field[1]), field[3], int(field[4]), field[9]
            names[key] = name
            groups.setdefault(name, {})[rank] = (key, field[10])
            ranks[name, rank] = own
        elif field[0] == "tuple":
            tuples.append(field)
        elif field[0] == "open":
            fault(f"an operation is still open: {field}")
        elif field[0] == "element":
            polls[int(field[1])] += int(field[6])
            if field[5] != "0":
                fault(f"element {field[3]} has lost {field[5]} tuples: threshold too small")
            if field[7] != "0":
                fault(f"element {field[3]} holds back {field[7]} tuples at the end")
    return names, groups, ranks, tuples, polls


def read_logs(directory):
    sent, received, calls = (collections.defaultdict(collections.Counter) for _ in range(3))
    for path in glob.glob(os.path.join(directory, "log.*")):
        rank = int(path.split(".")[-2])
        for line in open(path):
            field = line.rstrip("\n").split("\t")
            if field[0] == "N":
                calls[rank][field[1]] += int(field[2])
            else:
                message = (field[1], *map(int, field[2:]))
                (sent if field[0] == "S" else received)[rank][message] += 1
    return sent, received, calls


def check_communicators(groups):
    """All members have the same key; only the two sides of t3 have different groups."""
    seen = {}
    for name, members in groups.items():
        if name in ("MPI_COMM_SELF",) or "/" in name:
            continue
        keys = {key for key, _ in members.values()}
        if len(keys) != 1:
            fault(f"{name} has different keys: {members}")
        key = keys.pop()
        if key in seen:
            fault(f"{name} and {seen[key]} have one key")
        seen[key] = name
        sides = {group for _, group in members.values()}
        if len(sides) != (2 if name == "t3" else 1):
            fault(f"the groups of {name} differ: {sides}")


# MPICH 4.0 sets no status for MPI_Isendrecv, so the size of its receives is unknown.
SIZELESS = "MPI_Isendrecv receive"


# With threads a cancelled receive may leave the numbers of later ones unknown, because
# a blocking receive of another thread may have come in between.
THREADED = int(sys.argv[3]) > 1


def check_unknown(rank, what, unknown, rest):
    if len(unknown) > 0 and not THREADED:
        fault(f"rank {rank}: {what} without a number: {unknown[0]}")
    for channel in unknown:
        matching = [message for message in rest if message[:3] == channel and rest[message] > 0]
        if matching:
            rest[matching[0]] -= 1
        else:
            fault(f"rank {rank}: recorded without a number but not {what}: {channel}")


def compare(rank, what, tuples, names, truth):
    left = truth.copy()
    without_size = []
    unknown = []
    for field in tuples:
        operation, key, peer, tag, number, size = field[4:10]
        if number == "?":
            unknown.append((names.get(key, key), int(peer), int(tag)))
            continue
        message = (names.get(key, key), int(peer), int(tag), int(number), int(size))
        if operation == SIZELESS:
            without_size.append(message)
        elif left[message] > 0:
            left[message] -= 1
        else:
            fault(f"rank {rank}: no such message was {what}: {field[3]} {operation} {message}")
    rest = collections.Counter()
    for message, count in left.items():
        rest[message[:4]] += count
    for message in without_size:
        rest[message[:4]] -= 1
    check_unknown(rank, what, unknown, rest)
    for message, count in rest.items():
        if count > 0:
            fault(f"rank {rank}: {what} but not recorded: {message}")
        elif count < 0:
            fault(f"rank {rank}: recorded but not {what}: {message}")


def check_calls(rank, calls, tuples, polls):
    found = collections.Counter(field[4] for field in tuples)
    found["polls"] = polls + sum(found[name] for name in POLLS)
    for name, count in calls.items():
        if found[name] != count:
            fault(f"rank {rank}: {name} was called {count} times, recorded {found[name]} times")


SENDS = ("MPI_Send", "MPI_Bsend", "MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Start send",
         "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Isendrecv")
RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Start receive", "MPI_Mrecv", "MPI_Imrecv",
            "MPI_Sendrecv receive", "MPI_Sendrecv_replace receive", SIZELESS)


def check_order(tuples):
    for field in tuples:
        if not 0 < int(field[10]) <= int(field[11]):
            fault(f"it ends before it begins: {field}")


def main():
    names, groups, _, tuples, polls = read_tuples(sys.argv[1])
    sent, received, calls = read_logs(sys.argv[2])
    if not sent:
        fault("there is no log")
    check_communicators(groups)
    check_order(tuples)
    for rank in sorted(sent):
        own = [field for field in tuples if int(field[1]) == rank]
        compare(rank, "sent", [f for f in own if f[4] in SENDS], names, sent[rank])
        # Peer -1: MPI_PROC_NULL, or cancelled.
        compare(rank, "received",
                [f for f in own if f[4] in RECEIVES and f[6] != "-1"], names,
                received[rank])
        check_calls(rank, calls[rank], own, polls[rank])
    messages = sum(sum(counter.values()) for counter in received.values())
    print(f"{messages} messages, {len(tuples)} tuples, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
