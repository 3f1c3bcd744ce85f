# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - functions shared by the drivers of the interposer; sourced.

. "${top_srcdir:?not set}/tests/checks.sh"

here=$top_srcdir/tests/mpi
bin=${top_builddir:?not set}/tests/mpi
library=$top_builddir/wrappers/mpi/.libs/libeventspace-mpi.so
apps=$top_builddir/apps
shim=$top_builddir/tests/apps/.libs/yield_shim.so
export ES_YIELD_NAP=1

# With ES_TEST_MPI=openmpi (`make check-openmpi`) all programs use Open MPI, the second MPI.
mpi=${ES_TEST_MPI:-$ES_MPI}
if [ -n "${ES_TEST_MPI:-}" ]; then
    bin=$bin/$mpi
    apps=$bin/apps
    library=$top_builddir/wrappers/mpi/$mpi/.libs/libeventspace-mpi.so
    MPICC=$OPENMPI_MPICC MPIEXEC=$OPENMPI_MPIEXEC
fi
if [ "$mpi" = openmpi ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    # Ranks that remain are ended at once, not after a second.
    export OMPI_MCA_odls_base_sigkill_timeout=0
fi

[ -n "$MPIEXEC" ] || skip 'no mpiexec was found by configure'
[ -r "$library" ] || skip 'the interposer is not built'
[ -w /dev/shm ] || skip '/dev/shm cannot be written to'

# MPI keeps some memory until the end, and its libraries are loaded before the sanitizer.
# UCX's hooks for mapped memory crash when a thread starts under the thread sanitizer.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
runtime=
if [ -n "$ES_SANITIZERS" ]; then
    export UCX_MEM_EVENTS=n
    case $ES_SANITIZERS in
    *thread*) skip 'the thread sanitizer cannot be loaded into a program without it' ;;
    *address*) runtime=$($CC -print-file-name=libasan.so): ;;
    esac
fi

unset EVENTSPACE_PLAN EVENTSPACE_RUN_DIR EVENTSPACE_DISABLE EVENTSPACE_RANK
export EVENTSPACE_RUN=test-mpi-$$
work=$(mktemp -d)

cleanup() {
    "$bin/tuples" --remove "$EVENTSPACE_RUN" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

# ranks N PROGRAM ARGUMENTS... - runs a program uncollected, for at most one minute.
ranks() {
    local n=$1
    shift
    timeout -k 5 60 "$MPIEXEC" -n "$n" env LD_PRELOAD="$runtime$before$shim$after" "$@" \
        </dev/null
}

# observe N PROGRAM ARGUMENTS... - runs it collected. Removes segments of earlier programs
# of the same run first. $before and $after name further libraries to be preloaded.
before=
after=
observe() {
    local n=$1
    shift
    "$bin/tuples" --remove "$EVENTSPACE_RUN"
    timeout -k 5 60 "$MPIEXEC" -n "$n" \
        env LD_PRELOAD="$runtime$before$library:$shim$after" "$@" </dev/null
}

# tuples - prints the contents of the segments that the program has left.
tuples() {
    "$bin/tuples" "$EVENTSPACE_RUN"
}

# use_commands - for drivers of whole commands: $eventspace, whose runs stand in a folder of
# their own, also those that are kept, and end with the driver.
use_commands() {
    [ -z "$ES_SANITIZERS" ] ||
        skip 'a sanitized collector cannot be preloaded into the programs'
    eventspace=$top_builddir/cli/eventspace
    unset EVENTSPACE_RUN EVENTSPACE_LAUNCHER
    export EVENTSPACE_DIR=$work/runs EVENTSPACE_PRELOAD=$library
    trap clean_up_commands EXIT
}

clean_up_commands() {
    "$eventspace" clean --all >/dev/null 2>&1
    rm -rf "$work"
}

# try COMMAND... - its output goes to $work/said.
try() {
    timeout -k 5 120 "$@" >"$work/said" 2>&1 </dev/null
}

# said TEXT - by the last command that was tried, on either output.
said() {
    tr '\n' ' ' <"$work/said" | tr -s ' ' | grep -qF -- "$1" || { cat "$work/said"; false; }
}
