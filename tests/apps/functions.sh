# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - what the drivers of the example programs have in common; sourced.

. "${top_srcdir:?not set}/tests/checks.sh"

apps=${top_builddir:?not set}/apps
shim=$top_builddir/tests/apps/.libs/yield_shim.so
export ES_YIELD_NAP=1

[ -n "$MPIEXEC" ] || skip 'no mpiexec was found by configure'
[ -x "$apps/ring" ] || skip 'the example programs are not built'

# MPI does not free all of its memory, and the shim is loaded before the sanitizer.
# UCX's hooks for mapped memory crash when a program with the thread sanitizer starts a
# thread.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
[ -z "$ES_SANITIZERS" ] || export UCX_MEM_EVENTS=n

# run RANKS PROGRAM ARGUMENTS... - runs an example program for at most one minute. The
# shim is needed if there are more ranks than cores, and harmless otherwise. The
# launcher reads from /dev/null: it would consume the input of a loop that calls this
# function.
run() {
    local ranks=$1 program=$2
    shift 2
    timeout -k 5 60 "$MPIEXEC" -n "$ranks" env LD_PRELOAD="$shim" \
        "$apps/$program" "$@" </dev/null
}
