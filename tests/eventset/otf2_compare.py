#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""otf2_compare.py - reads an archive of OTF2 with its own Python module, and compares
it event by event with the CSV of the same run.

usage: otf2_compare.py TRACES.otf2 RUN.csv
"""

import collections
import csv
import json
import sys

import otf2

COLLECTIVES = {"MPI_Barrier": "BARRIER", "MPI_Bcast": "BCAST", "MPI_Allreduce": "ALLREDUCE",
               "MPI_Reduce": "REDUCE", "MPI_Gather": "GATHER", "MPI_Allgather": "ALLGATHER",
               "MPI_Comm_dup": "CREATE_HANDLE", "MPI_Comm_split": "CREATE_HANDLE",
               "MPI_Cart_create": "CREATE_HANDLE", "MPI_Comm_free": "DESTROY_HANDLE"}
POSTED = {"MPI_Isend", "MPI_Irecv"}


def rows_of(path):
    """What the archive has to hold, by what a row of the CSV says."""
    wanted = collections.Counter()
    for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
        if row["operation"] == "" or row["name"].startswith("comm:"):
            continue
        place = (row["name"], row["operation"], int(row["start"]))
        is_half = row["operation"] == "MPI_Sendrecv receive"
        if not row["type"].endswith(" enter") and not is_half:
            # Of a nonblocking receive the call's end is not known.
            stop = row["start"] if row["operation"] == "MPI_Irecv" else row["stop"]
            wanted["region", *place, int(stop)] += 1
        message = (row["communicator"], row["peer"], row["tag"], row["bytes"])
        if row["kind"] in ("send", "sync") and row["class"] == "send":
            kind = "MpiIsend" if row["operation"] in POSTED else "MpiSend"
            wanted[kind, row["name"], int(row["start"]), *message] += 1
        elif row["kind"] in ("receive", "sync") and row["class"] == "receive":
            kind = "MpiIrecv" if row["operation"] in POSTED else "MpiRecv"
            wanted[kind, row["name"], int(row["stop"]), *message] += 1
        elif row["type"] in (row["operation"] + " exit", "MPI_Comm_free"):
            wanted["collective", row["name"], COLLECTIVES[row["operation"]],
                   row["communicator"], row["peer"], int(row["stop"])] += 1
    return wanted


class Thread:
    """What is open on a location."""

    def __init__(self):
        self.regions = []
        self.requests = {}
        self.now = 0


def message_of(name, thread_name, event):
    peer = event.receiver if name in ("MpiSend", "MpiIsend") else event.sender
    return (name, thread_name, event.time, event.communicator.name, str(peer),
            str(event.msg_tag), str(event.msg_length))


def take(found, thread, name, event):
    """Counts an event; what is against the rules of OTF2 is an assertion."""
    kind = type(event).__name__
    assert event.time >= thread.now, (name, event)
    thread.now = event.time
    if kind == "Enter":
        thread.regions.append(event)
    elif kind == "Leave":
        enter = thread.regions.pop()
        assert enter.region == event.region, "regions do not nest"
        found["region", name, event.region.name, enter.time, event.time] += 1
    elif kind in ("MpiSend", "MpiRecv", "MpiIsend", "MpiIrecv"):
        assert thread.regions, "a message outside of a region"
        found[message_of(kind, name, event)] += 1
    if kind in ("MpiIsend", "MpiIrecvRequest"):
        assert event.request_id not in thread.requests, "a request twice"
        thread.requests[event.request_id] = kind
    elif kind == "MpiIrecv":
        assert thread.requests.pop(event.request_id) == "MpiIrecvRequest"
        assert thread.regions[-1].region.name.startswith(("MPI_Wait", "MPI_Test"))
    elif kind == "MpiIsendComplete":
        assert thread.requests.pop(event.request_id) == "MpiIsend"
    elif kind == "MpiCollectiveEnd":
        root = "" if event.root == 0xffffffff else str(event.root)
        found["collective", name, str(event.collective_op).split(".")[-1],
              event.communicator.name, root, event.time] += 1


def main():
    wanted = rows_of(sys.argv[2])
    found = collections.Counter()
    threads = collections.defaultdict(Thread)
    with otf2.reader.open(sys.argv[1]) as trace:
        assert trace.timer_resolution == 10**9
        for location, event in trace.events:
            take(found, threads[location.name], location.name, event)
    for name, thread in threads.items():
        assert not thread.regions, name
        assert "MpiIrecvRequest" not in thread.requests.values(), name
    compare(wanted, found)


def compare(wanted, found):
    missing = wanted - found
    more = found - wanted
    for key in list(missing)[:5]:
        print("not in the archive:", key)
    for key in list(more)[:5]:
        print("only in the archive:", key)
    kinds = collections.Counter(key[0] for key in found.elements())
    print(json.dumps(kinds))
    sys.exit(bool(missing or more))


main()
