# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - what the drivers of the example programs have in common; sourced.

. "${top_srcdir:?not set}/tests/checks.sh"

apps=${top_builddir:?not set}/apps
shim=$top_builddir/tests/apps/.libs/yield_shim.so
export ES_YIELD_NAP=1

[ -n "$MPIEXEC" ] || skip 'no mpiexec was found by configure'
[ -x "$apps/ring" ] || skip 'the example programs are not built'

# MPI keeps some memory until the end, and the shim comes before the sanitizer. UCX's own
# hooks for mapped memory crash when a program with the thread sanitizer starts a thread.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
[ -z "$ES_SANITIZERS" ] || export UCX_MEM_EVENTS=n

# run RANKS PROGRAM ARGUMENTS... - runs an example program, for one minute at most. The
# shim is needed where there are more ranks than cores, and does no harm elsewhere. The
# launcher is kept from reading the input of the loop that calls this.
run() {
    local ranks=$1 program=$2
    shift 2
    timeout -k 5 60 "$MPIEXEC" -n "$ranks" env LD_PRELOAD="$shim" \
        "$apps/$program" "$@" </dev/null
}
