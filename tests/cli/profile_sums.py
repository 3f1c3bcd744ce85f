# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""profile_sums.py EVENTS PROFILE - whether a profile is the sum of a run's events.

EVENTS is what `events --sites --format json` prints of a run whose rings have overwritten
nothing, PROFILE what `profile --format json` does. From the definitions alone: calls and
bytes of each operation and line; times of all that is a call of its own; messages by size
and by pair.
"""

import collections
import json
import sys

# Their tuples last until they are complete: longer than the call.
NONBLOCKING = {"MPI_Irecv", "MPI_Imrecv", "MPI_Ibcast", "MPI_Ibarrier", "MPI_Iallreduce"}
MOVES = {"send", "receive", "collective", "one-sided", "io"}
# What no call is recorded as.
NOT_COUNTED = {"MPI topology neighbour", "MPI collective post", "MPI_Cancel send"}


def size_class(size):
    """The least size of its class: 0, 1, 2, 4, 8, ..."""
    return 1 << (size.bit_length() - 1) if size else 0


def add_events(path):
    sums = collections.defaultdict(lambda: [0, 0, 0])
    sizes, pairs = collections.Counter(), collections.defaultdict(lambda: [0, 0])
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        if event["type"] == "loss":
            sys.exit("events were lost: " + line)
        if event["type"] != "event" or event["operation"] in NOT_COUNTED:
            continue
        size = event["bytes"] if event["class"] in MOVES else 0
        for key in ((event["operation"], None), (event["operation"], event["site"])):
            sums[key][0] += 1
            sums[key][1] += event["stop_ns"] - event["start_ns"]
            sums[key][2] += size
        if event["class"] in MOVES and (size or event["class"] in ("send", "receive")):
            sizes[event["class"], size_class(size)] += 1
        if event["class"] == "send" and event["peer"] is not None and event["peer"] >= 0:
            pairs[event["rank"], event["peer"]][0] += 1
            pairs[event["rank"], event["peer"]][1] += size
    return sums, sizes, pairs


def read_profile(path):
    rows = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        rows[row["type"]].append(row)
    return rows


def compare(what, found, wanted):
    if found != wanted:
        for key in sorted(set(found) | set(wanted), key=str):
            if found.get(key) != wanted.get(key):
                print("%s %s: %s, the events say %s"
                      % (what, key, found.get(key), wanted.get(key)))
    return found == wanted


def main(events, profile):
    sums, sizes, pairs = add_events(events)
    rows = read_profile(profile)
    found = {(row["operation"], None): row for row in rows["operation"]}
    found.update({(row["operation"], row["site"]): row for row in rows["site"]})
    good = compare("calls of", {key: row["calls"] for key, row in found.items()},
                   {key: entry[0] for key, entry in sums.items()})
    good &= compare("bytes of", {key: row["bytes"] for key, row in found.items()},
                    {key: entry[2] for key, entry in sums.items()})
    # Each tuple's ends are rounded to a nanosecond, and a row's sum is.
    for key, row in found.items():
        calls, time_ns, _ = sums[key]
        if key[0] in NONBLOCKING:
            good &= (row["time_ns"] or 0) <= time_ns
        elif abs((row["time_ns"] or 0) - time_ns) > 2 * calls + time_ns * 1e-6 + 10:
            print("time of %s: %s, the events say %d" % (key, row["time_ns"], time_ns))
            good = False
    good &= compare("sizes", {(row["class"], row["least_bytes"]): row["calls"]
                              for row in rows["size"]}, dict(sizes))
    good &= compare("messages", {(row["from"], row["to"]): [row["messages"], row["bytes"]]
                                 for row in rows["messages"]}, dict(pairs))
    longest = max(row["run_ns"] for row in rows["rank"])
    good &= all(row["mpi_ns"] <= row["threads"] * longest for row in rows["rank"])
    sys.exit(not good)


main(*sys.argv[1:])
