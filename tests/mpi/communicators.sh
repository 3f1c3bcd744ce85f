#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# communicators.sh - all members of a communicator have the same key, different
# communicators have different keys, and groups are right. Creating and freeing very many of
# them neither fails nor uses more and more memory.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

observe 4 "$bin/communicators"
expect 0 'communicators are made in every way'
tuples >"$work/tuples"
check 'keys and groups are right' "$PYTHON" - "$work/tuples" "$mpi" <<'CHECK'
import collections, sys

members, sends, receives = collections.defaultdict(dict), set(), set()
neighbours = collections.defaultdict(list)
for line in open(sys.argv[1]):
    field = line.rstrip("\n").split("\t")
    if field[0] == "communicator" and field[9].startswith("c:"):
        if field[9] in members and int(field[1]) in members[field[9]]:
            sys.exit(f"{field[9]} is there twice in rank {field[1]}")
        members[field[9]][int(field[1])] = field
    elif field[0] == "tuple" and field[4] == "MPI topology neighbour":
        neighbours[field[5], int(field[1])].append(tuple(int(t) for t in field[6:9]))
    elif field[0] == "tuple" and field[4] == "MPI_Sendrecv":
        sends.add((field[5], field[1], field[6]))
    elif field[0] == "tuple" and field[4] == "MPI_Sendrecv receive":
        receives.add((field[5], field[1], field[6]))
keys = {}
for name, ranks in members.items():
    of_name = {field[3] for field in ranks.values()}
    if len(of_name) != 1:
        sys.exit(f"{name} has several keys: {ranks}")
    key = of_name.pop()
    if key in keys:
        sys.exit(f"{name} and {keys[key]} have the same key")
    keys[key] = name
    for rank, field in ranks.items():
        own, remote = (field[10].split("|") + [""])[:2]
        group = [int(text) for text in own.split(",")]
        if group[int(field[4])] != rank or len(group) != int(field[5]):
            sys.exit(f"{name}: rank {rank} is not where it says: {field}")
        if remote == "" and set(group) != set(ranks):
            sys.exit(f"{name}: other members than in its group: {field}")
        if remote != "" and set(group + [int(t) for t in remote.split(",")]) != set(ranks):
            sys.exit(f"{name}: other members than in its two groups: {field}")
        if field[8] != "1":
            sys.exit(f"{name} is not marked as freed")
        if not any(send[0] == key and int(send[1]) == rank for send in sends):
            sys.exit(f"{name}: no send of rank {rank}")
expected = """dup dup2 dup_with_info idup idup2 split0 split1 split_some split_type create
    create_group cart row0 row1 star graph adjacent adjacent_dup adjacent_idup dist_graph inter inter_dup merge from_group
    from_group2""".split()
if sys.argv[2] == "openmpi":  # 4.1 has no sessions
    expected = expected[: expected.index("from_group")]
missing = [name for name in expected if "c:" + name not in members]
if missing:
    sys.exit(f"not there: {missing}")

# The sources of each of the four ranks, as ranks of the communicator.
left = [[3], [0], [1], [2]]
topologies = {
    "cart": [[2, 1, 1], [3, 0, 0], [0, 3, 3], [1, 2, 2]],
    "row0": [[1, 1], [0, 0]], "row1": [None, None, [1, 1], [0, 0]],
    "star": [[3, 2, 1], [], [], []], "graph": [[1], [2], [3], [0]],
    "adjacent": left, "adjacent_dup": left, "adjacent_idup": left, "dist_graph": left,
}
for key, name in keys.items():
    for rank in members[name]:
        found = neighbours.pop((key, rank), None)
        wanted = topologies.get(name[2:])
        if wanted is not None:
            peers = wanted[rank]
            wanted = [(peer, len(peers), i) for i, peer in enumerate(peers)] or [(-1, 0, 0)]
        if found != wanted:
            sys.exit(f"{name}: neighbours of rank {rank} are {found} and not {wanted}")
if neighbours:
    sys.exit(f"neighbours without a topology: {neighbours}")
CHECK

# 100,000 communicators, each a parent or a child: a few bytes for each may stay.
ranks 1 "$bin/communicators" many 50000 >"$work/out"
plain=$(awk '{ print $2 }' "$work/out")
observe 1 "$bin/communicators" many 50000 >"$work/out"
expect 0 'a hundred thousand communicators come and go'
grown=$(awk '{ print $2 }' "$work/out")
echo "memory grew by $plain KiB unobserved, $grown KiB observed"
# A sanitizer keeps freed memory.
[ -n "$ES_SANITIZERS" ] || [ $((grown - plain)) -lt 20000 ]
expect 0 'memory does not grow with them'
tuples >"$work/tuples"
grep -qP '^tuple\t0\t0\t.*\tMPI_Finalize\t' "$work/tuples"
expect 0 'events are recorded to the end'

# Indices of freed communicators are used again: there are far more than the table has.
observe 1 "$bin/communicators" again 200000 >"$work/out" 2>&1
expect 0 'two hundred thousand communicators come, are used and go'
check 'and none finds no room' diff /dev/null "$work/out"
tuples >"$work/tuples"
check 'each tuple names its communicator' "$PYTHON" - "$work/tuples" <<'CHECK'
import sys
names, barriers, ends, made, receives = {}, 0, 0, None, 0
lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
for field in lines:
    if field[0] == "communicator":
        if field[3] in names:
            sys.exit(f"key {field[3]} twice")
        names[field[3]] = field[9]
if len(names) > 20000:
    sys.exit(f"{len(names)} communicators are kept")
for field in lines:
    if field[0] != "tuple":
        continue
    if field[4] == "MPI_Comm_dup":
        made = f"MPI_COMM_SELF/dup#{int(field[8]) + 1}"
    elif field[4] == "MPI_Irecv":
        receives += names.get(field[5]) == "pending"
    elif field[4] in ("MPI_Barrier", "MPI_Comm_free") and made is not None:
        name = names.get(field[5], "none")
        if name == "kept":
            ends += 1
        elif name != made:
            sys.exit(f"{field[4]} names {name}, not {made}")
        barriers += 1
if barriers < 2000 or ends != 2 or receives != 1:
    sys.exit(f"{barriers} checked, {ends} of the one that was kept, {receives} receives")
CHECK
finish
