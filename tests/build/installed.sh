#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# installed.sh - the installed files work in any folder: programs are built with the
# flags of pkg-config, an MPI program is recorded and ordered, a deadlock is reported.
#
# usage: installed.sh [--mpi NAME] EVENTSPACE
#     EVENTSPACE is the installed command; --mpi openmpi uses mpicc.openmpi instead of
#     $MPICC or mpicc
#
# `make installcheck`, tests/build/check_install.sh and Debian's autopkgtest run it. It
# needs no build tree.

set -u
mpi=
if [ "$1" = --mpi ]; then
    mpi=$2
    shift 2
fi
eventspace=$(realpath "$1") || exit 1
compiler=${MPICC-mpicc}
[ -z "$mpi" ] || compiler=mpicc.$mpi
examples=$(realpath "$(dirname "$0")/../../docs/examples") || exit 1
work=$(mktemp -d)
hang=hang-$$ # its segments stay when it is ended
clear_up() {
    "$eventspace" clean --force "$hang" >/dev/null 2>&1
    rm -rf "$work"
}
trap clear_up EXIT
cd "$work" || exit 1
export EVENTSPACE_DIR=$work/runs
# Allow Open MPI to run as root and with more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

fail() {
    echo "FAILED: $*"
    [ ! -s "$work/out" ] || tail -n 40 "$work/out"
    exit 1
}

# ends_with STATUS COMMAND... - the command ends with this status; its output is in
# $work/out.
ends_with() {
    local wanted=$1 status
    shift
    timeout -k 5 60 "$@" >"$work/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "$* ended with $status, not $wanted"
}

says() {
    grep -q -- "$1" "$work/out" || fail "no '$1' in what was printed"
}

# build PACKAGE PROGRAM SOURCE - compiles with the flags of pkg-config only.
build() {
    local flags
    flags=$(pkg-config --cflags --libs "$1") || fail "pkg-config has no flags of $1"
    # shellcheck disable=SC2086 # a list of options
    "${CC:-cc}" -std=gnu17 -Wall -Werror -o "$work/$2" "$3" $flags ||
        fail "no program can be built with $1"
}

libraries() {
    cat >"$work/consumer.c" <<'EOF'
#include <eventspace/clock.h>
#include <eventspace/error.h>
#include <eventspace/tuple.h>

int main(void)
{
    return sizeof(struct es_tuple) == 36 ? 0 : 1;
}
EOF
    build eventspace consumer "$work/consumer.c"
    ends_with 0 "$work/consumer"
    cat >"$work/set" <<'END_SET'
{"format": "eventspace-events", "version": 1, "traces": ["P", "Q"]}
{"trace": 0, "index": 1, "kind": "send", "type": "A"}
{"trace": 0, "index": 2, "type": "B"}
{"trace": 1, "index": 1, "kind": "receive", "type": "B", "partners": [[0, 1]]}
END_SET
    echo 'A := ["", "A", ""]; B := ["", "B", ""]; Later := A --> B;' >"$work/patterns"
    build eventspace-order causes "$examples/causes.c"
    ends_with 0 "$work/causes" "$work/set" P:2 Q:1 "$work/patterns" Later
    LC_ALL=C sort "$work/out" |
        diff -u <(printf '%s\n' 'P:1 P:2' 'P:1 Q:1' 'P:2 concurrent Q:1') - ||
        fail "the example of eventspace-order says something else"
}

# Ranks send around a ring. With an argument all ranks receive first: a deadlock.
observed_program() {
    cat >"$work/ring.c" <<'EOF'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, got = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    if (argc > 1)
        MPI_Recv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return got != left;
}
EOF
    "$compiler" -o "$work/ring" "$work/ring.c" || fail "$compiler builds no program"
}

observes() {
    observed_program
    ends_with 0 "$eventspace" run -n 2 --name ring-$$ --record "$work/archive" -- "$work/ring"
    ends_with 0 "$eventspace" order --stats "$work/archive"
    says '^messages matched *200$'
    # The search may find nothing (status 1): that depends on timing.
    timeout 60 "$eventspace" search -p mpi "$work/archive" >"$work/out" 2>&1 ||
        [ $? -eq 1 ] || fail "the patterns that come with EventSpace cannot be searched"
    says 'MessageRace'
    ends_with 86 "$eventspace" run -n 2 --name "$hang" --watch=abort -- "$work/ring" hang
    says 'DEADLOCK (certain)'
}

ends_with 0 "$eventspace" --version
ends_with 0 "$eventspace" doctor
libraries
if [ -n "$compiler" ]; then
    observes
else
    echo "skipped: built without an MPI, so no program is collected"
fi
echo "all as expected"
