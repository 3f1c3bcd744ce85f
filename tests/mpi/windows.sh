#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# windows.sh - one-sided operations name their window, and an epoch between two ranks has
# the same number at both.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

# By default Open MPI may crash at MPI_Compare_and_swap; pt2pt does not support threads.
export OMPI_MCA_osc=pt2pt
ranks 4 "$bin/windows" || skip "this MPI fails at it uncollected: exit status $?"
observe 4 "$bin/windows"
expect 0 'windows are used in every way'
tuples >"$work/tuples"
# The same with written polls: an unsuccessful test ends no epoch.
export EVENTSPACE_PLAN=$work/plan
printf '%s\n' 'eventspace-plan 1' \
    'collector all classes=communicator,one-sided polls=1 threshold=65535' end >"$work/plan"
observe 4 "$bin/windows"
expect 0 'and with polls'
tuples >"$work/polled"
for tuples in tuples polled; do
    check "windows and epochs are told ($tuples)" "$PYTHON" - "$work/$tuples" <<'CHECK'
import collections, sys

MEMBERS = {"MPI_Win_post": "MPI_Win_post member", "MPI_Win_start": "MPI_Win_start member"}
ENDS = {"MPI_Win_complete": "MPI_Win_start", "MPI_Win_wait": "MPI_Win_post",
        "MPI_Win_test": "MPI_Win_post"}
SIZE, ROUNDS = 4, 5


def has_access(round, origin, target):
    return origin != target and (origin * 5 + target * 3 + round) % 3 != 0


def has_members(round, operation, rank):
    """As windows.c gives them: in falling order."""
    if operation == "MPI_Win_start":
        return [i for i in reversed(range(SIZE)) if has_access(round, rank, i)]
    return [i for i in reversed(range(SIZE)) if has_access(round, i, rank)]


own, calls = {}, collections.defaultdict(list)
made = collections.defaultdict(set)  # tags of windows by key and creating instance
for line in open(sys.argv[1]):
    field = line.rstrip("\n").split("\t")
    if field[0] == "communicator":
        own[field[3], int(field[1])] = int(field[4])
    if field[0] != "tuple" or not field[4].startswith(("MPI_Win", "MPI_Put")):
        continue
    if field[4] == "MPI_Win_lock" and field[8] != "0":
        sys.exit(f"a shared lock is told otherwise: {field}")
    world, operation, key, peer, tag, number = int(field[1]), *field[4:9]
    if operation == "MPI_Win_allocate":
        if tag != number:
            sys.exit(f"a window is not named by its instance: {field}")
        made[key, int(tag)].add(world)
    calls[key, int(tag), own[key, world]].append((operation, int(peer), number))
if len(made) != 4 or any(len(ranks) != SIZE for ranks in made.values()):
    sys.exit(f"windows have not one name in all ranks: {dict(made)}")
if {(key, tag) for key, tag, _ in calls} != set(made):
    sys.exit("operations name windows that were not made")

# The rounds of each window, in order of creation on its communicator.
world_key = max({key for key, _ in made}, key=lambda k: sum(key == k for key, _ in made))
first, second, again = sorted(tag for key, tag in made if key == world_key)
(third,) = [(key, tag) for key, tag in made if key != world_key]
rounds = {
    third: list(range(ROUNDS)),
    (world_key, first): list(range(1, ROUNDS)),
    (world_key, second): list(range(2, ROUNDS + 1)),
    (world_key, again): [0],
}
pairs = {"MPI_Win_post member": set(), "MPI_Win_start member": set()}
ended = collections.Counter()
for (key, tag, rank), found in calls.items():
    begun = collections.Counter()
    towards = collections.Counter()
    at = 0
    while at < len(found):
        operation, peer, number = found[at]
        at += 1
        if operation in MEMBERS:
            if int(number) != begun[operation]:
                sys.exit(f"{operation} of rank {rank} has number {number}")
            round = rounds[key, tag][begun[operation]]
            begun[operation] += 1
            for member in has_members(round, operation, rank):
                wanted = (MEMBERS[operation], member, str(towards[operation, member]))
                if at >= len(found) or found[at] != wanted:
                    sys.exit(f"after {operation} of rank {rank}: {found[at:at + 1]}, "
                             f"not {wanted}")
                towards[operation, member] += 1
                pairs[found[at][0]].add((key, tag, rank, member, int(found[at][2])))
                at += 1
        elif operation in MEMBERS.values():
            sys.exit(f"a member without its epoch: {found[at - 1]}")
        elif operation == "MPI_Win_test" and number == "?":
            continue
        elif operation in ENDS:
            ended[operation] += 1
            begun["ends of " + ENDS[operation]] += 1
            if int(number) != begun[ENDS[operation]] - 1:
                sys.exit(f"{operation} of rank {rank} ends epoch {number}")
    if begun["MPI_Win_post"] != len(rounds[key, tag]):
        sys.exit(f"rank {rank} has {dict(begun)} epochs on {key} {tag}")
    if any(begun["ends of " + operation] != begun[operation] for operation in MEMBERS):
        sys.exit(f"rank {rank} ended other epochs on {key} {tag}: {dict(begun)}")
posts = {(key, tag, b, a, n) for key, tag, a, b, n in pairs["MPI_Win_post member"]}
if not posts or posts != pairs["MPI_Win_start member"]:
    sys.exit("posts and starts do not agree")
if any(ended[operation] == 0 for operation in ENDS):
    sys.exit(f"not all ends were seen: {dict(ended)}")
CHECK
done
finish
