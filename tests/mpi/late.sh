#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# late.sh - programs that are not linked with MPI and load it late: which library is chosen
# for them, and what happens if it is the wrong one.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

eventspace=$top_builddir/cli/eventspace
built=$top_builddir/wrappers/mpi
shim= # needs a visible UCX after it
case $library in
*/openmpi/*) other=$built/.libs/libeventspace-mpi.so ;;
*) other=$built/openmpi/.libs/libeventspace-mpi.so ;;
esac
[ -r "$other" ] || skip 'there is no library for a second MPI'

# --- The choice --------------------------------------------------------------------------

# chooses MPICH|"Open MPI" NAME=VALUE... - for a program without MPI, in this environment.
chooses() {
    local expected=MPICH found
    # shellcheck disable=SC2016 # for the inner shell
    found=$(env -u LD_LIBRARY_PATH "${@:2}" "$eventspace" exec --no-wait -- \
        sh -c 'echo "$LD_PRELOAD"' 2>&1)
    case $found in
    "$built"/openmpi/.libs/*) expected="Open MPI" ;;
    "$built"/.libs/*) ;;
    *) expected=$found ;;
    esac
    check "${*:2}: $1" test "$1" = "$expected"
}

if [ "$ES_MPI" = mpich ]; then
    mkdir "$work/mpich" "$work/openmpi" "$work/neither"
    touch "$work/mpich/libmpich.so.12" "$work/openmpi/libmpi.so.40" "$work/neither/libmpi.so.1"
    chooses MPICH LD_LIBRARY_PATH=
    chooses 'Open MPI' "LD_LIBRARY_PATH=$work/neither:$work/openmpi:$work/mpich"
    chooses MPICH "LD_LIBRARY_PATH=:$work/mpich:$work/openmpi"
    chooses MPICH PMI_RANK=0 "LD_LIBRARY_PATH=$work/openmpi"
    chooses 'Open MPI' OMPI_COMM_WORLD_SIZE=1 PMI_RANK=0
    chooses 'Open MPI' PMIX_RANK=0
    chooses 'Open MPI' PMI_RANK=0 EVENTSPACE_MPI=openmpi
    chooses 'eventspace exec: not collecting: EVENTSPACE_MPI: '"'lam'"': give mpich or openmpi' \
        EVENTSPACE_MPI=lam
fi

# --- The right one -----------------------------------------------------------------------

# started [NAME=VALUE...] - starts the program by `exec`, which chooses the library.
started() {
    "$bin/tuples" --remove "$EVENTSPACE_RUN"
    timeout -k 5 60 "$MPIEXEC" -n 2 env "$@" "$eventspace" exec -- "$bin/late_host" \
        "$bin/late_module.so" $scope >"$work/out" 2>"$work/err" </dev/null
}

for scope in '' global; do
    started
    expect 0 "by its launcher, $scope"
    [ "$(tuples | grep -c -P '^tuple\t[01]\t0\t.*\tMPI_(Allreduce|Sendrecv)\t')" -ge 22 ]
    expect 0 'its events are there'
done

# --- The wrong one -----------------------------------------------------------------------

wrong=mpich
[ "$mpi" = openmpi ] || wrong=openmpi
for scope in '' global; do
    started EVENTSPACE_MPI=$wrong
    expect 0 "for $wrong, $scope: it runs"
    check 'with the right results' test "$(grep -c 'sum 1' "$work/out")" -eq 2
    check 'each rank says it in a line' \
        test "$(grep -c 'has loaded another MPI than .* runs uncollected' "$work/err")" -eq 2
    check 'nothing is recorded' test -z "$(tuples)"
done
cat "$work/err"
finish
