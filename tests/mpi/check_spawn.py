# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Checks the output of "tuples" for a run of "spawn": the two ends of each message have
the same key, ranks and number.  Most messages have unique lengths, so that ends of
different messages are not mistaken for one message.  Messages between worlds that do
not know each other have ends without the rank of the other, and match nothing.

    check_spawn.py FILE PROCESSES MESSAGES UNKNOWN
"""

import collections
import sys


def read_ranks(text):
    return [int(rank) for rank in text.split(",") if rank]


def read_end(fields, groups):
    own, key = int(fields[1]), fields[5]
    local, remote = groups[fields[1], key]
    peer = (remote or local)[int(fields[6])]
    pair = (own, peer) if fields[4] == "MPI_Send" else (peer, own)
    return (key, *pair, int(fields[7]), fields[8], int(fields[9]))


def read(path):
    ranks, groups = [], {}
    ends = {"MPI_Send": collections.Counter(), "MPI_Recv": collections.Counter()}
    for line in open(path):
        fields = line.rstrip("\n").split("\t")
        if fields[0] == "process":
            ranks.append(int(fields[1]))
        elif fields[0] == "communicator":
            local, _, remote = fields[10].partition("|")
            groups[fields[1], fields[3]] = read_ranks(local), read_ranks(remote)
        elif fields[0] == "tuple" and fields[4] in ends:
            ends[fields[4]][read_end(fields, groups)] += 1
    return ranks, groups, ends["MPI_Send"], ends["MPI_Recv"]


def check_members(groups):
    """Each holder of a key is a member, and all holders agree on the members.  A
    process that does not know all members has a key of its own."""
    members = collections.defaultdict(set)
    for (rank, key), (local, remote) in groups.items():
        members[key].add(frozenset(local + remote))
        if int(rank) not in local:
            sys.exit(f"key {key}: rank {rank} is not in {local}")
    for key, told in members.items():
        holders = [rank for rank, held in groups if held == key]
        if len(told) > 1 or (min(next(iter(told))) < 0 and len(holders) > 1):
            sys.exit(f"key {key} of {holders}: groups {sorted(map(sorted, told))}")


def main():
    ranks, groups, sends, receives = read(sys.argv[1])
    if len(set(ranks)) != len(ranks) or len(ranks) != int(sys.argv[2]):
        sys.exit(f"ranks {sorted(ranks)}")
    check_members(groups)
    if sum(sends.values()) != int(sys.argv[3]):
        sys.exit(f"{sum(sends.values())} messages were sent")
    alone = (sends - receives) + (receives - sends)
    if any(min(end[1:3]) >= 0 for end in alone) or len(alone) != 2 * int(sys.argv[4]):
        sys.exit(f"unmatched: {sorted(alone)}")


main()
