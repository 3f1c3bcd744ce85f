# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""check_ledgers.py HOW - checks the ledgers of `outstanding HOW`, read from stdin.

Exits with 1 and names what is missing, also while a process is not yet in its last
call.
"""

import json
import sys

NEVER = 99
ALL, ANY, POLL = 1, 2, 3
ERR_RANK = 6


def rows(numbers, columns):
    return [tuple(numbers[i : i + columns]) for i in range(0, len(numbers), columns)]


def require(condition, what):
    if not condition:
        sys.exit("not so (yet): " + what)


def check_wait(how, ledger, pending):
    wanted = {100: "a", 101: "b", 102: "c"}
    handles = {wanted[tag]: handle for tag, handle in pending.items() if tag in wanted}
    waits = ledger["waits"]
    if how == "receive":
        require(waits == [], "it waits for no request")
        return
    if how == "threads":
        both = sorted(wait[4] for wait in waits)
        require([wait[1:4] for wait in waits] == [[ALL, 1, 0]] * 2, "two threads wait")
        require(sorted(pending_never(ledger)) == both, "each for its own")
        return
    kind, letters, others = {
        "waitall": (ALL, "abc", 0),
        "waitany": (ANY, "abc", 0),
        "wait": (ALL, "b", 0),
        "poll": (POLL, "ac", 0),
        "storm": (POLL, "abc", 1),
    }[how]
    require(len(waits) == 1, "one thread waits")
    thread, seen, count, other, *rest = waits[0]
    require((thread, seen, other) == (0, kind, others), "how it waits")
    require(count == len(letters), "for how many")
    require(sorted(rest) == sorted(handles[c] for c in letters), "for which")


def pending_never(ledger):
    return [row[0] for row in rows(ledger["requests"], 13) if row[7] == NEVER]


def check_requests(how, ledger, other):
    pending, sites = {}, set()
    for row in rows(ledger["requests"], 13):
        if row[9] == 2 and row[7] > NEVER:  # receives
            require(row[6] == other and row[5] == 0, "peer and number of a receive")
            sites.add(row[2])
            pending[row[7]] = row[0]
    require(sorted(pending) == [100, 101, 102], "three receives")
    require(len(sites) == 1 and 0 not in sites, "all posted at one place")
    require(how != "threads" or len(pending_never(ledger)) == 2, "and two of threads")
    return pending


def check_channels(ledger, rank, world):
    counts = {row[1:2] + row[3:5]: row[5] for row in rows(ledger["channels"], 6) if
              row[0] == world}
    if rank == 1:
        require(counts.get((0, 0, 5)) == 3, "three were sent")
    else:
        require(counts.get((1, 1, 5)) == 1, "one was received")


def collective(ledger, name, instance):
    index = ledger["names"].index(name)
    for row in rows(ledger["collectives"], 5):
        if row[0] == index and row[2] == instance:
            return row
    sys.exit("no instance %d on %s (yet)" % (instance, name))


def check_collectives(ledgers):
    alike = [collective(ledger, "alike", 0) for ledger in ledgers]
    unlike = [collective(ledger, "unlike", 0) for ledger in ledgers]
    barrier = collective(ledgers[0], "alike", 1)
    require(alike[0][1:] == alike[1][1:] and alike[0][4] != 0, "signatures are alike")
    require(alike[0][3] == 0, "the root")
    require(unlike[0][:4] == unlike[1][:4], "the operation is alike")
    require(unlike[0][4] != unlike[1][4] and 0 not in (unlike[0][4], unlike[1][4]),
            "operators are not")
    require(barrier[3:] == (-1, 0), "a barrier has nothing to compare")


def check_rest(ledger, rank, how):
    unfreed = {"communicators": 2, "windows": 1, "files": 0, "types": 1, "groups": 1,
               "operators": 1}
    require(ledger["unfreed"] == unfreed, "what is not freed")
    require(ledger["error_class"] == ERR_RANK and ledger["error_text"], "the error")
    require(not ledger["partial"], "it is whole")
    epochs = rows(ledger["epochs"], 6)
    require(len(epochs) == 1, "one epoch")
    require(epochs[0][1] == (2 if rank == 0 else 1), "the kind of lock")
    require(epochs[0][2] == 1 and epochs[0][4] == 1 - rank, "held at the other")


def main(how):
    ledgers = sorted(map(json.loads, sys.stdin), key=lambda ledger: ledger["rank"])
    require([ledger["rank"] for ledger in ledgers] == [0, 1], "two processes")
    for rank, ledger in enumerate(ledgers):
        require("MPI_COMM_WORLD" in ledger["names"], "the world is known")
        pending = check_requests(how, ledger, 1 - rank)
        check_wait(how, ledger, pending)
        check_channels(ledger, rank, ledger["names"].index("MPI_COMM_WORLD"))
        check_rest(ledger, rank, how)
    check_collectives(ledgers)


main(sys.argv[1])
