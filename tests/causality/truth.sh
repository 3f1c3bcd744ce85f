#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# truth.sh - the order of recorded runs: random programs against what they know themselves,
# and example programs, of which all ends are matched. ES_TEST_SEED=N repeats a failure.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

here=$top_srcdir/tests/causality
program=$top_builddir/tests/causality/order_truth
apps=$top_builddir/apps
# Ranks spin where there are more of them than processors: they are made to yield.
launcher="$MPIEXEC -genv LD_PRELOAD $top_builddir/tests/apps/.libs/yield_shim.so"
seed=${ES_TEST_SEED:-1}
runs=0
compared=0

# recorded RANKS PROGRAM ARGUMENTS... : a run whose archive is $folder/archive, and its
# events $folder/set.
recorded()
{
    local ranks=$1
    shift
    rm -rf "$folder/archive" "$folder/set"
    runs=$((runs + 1))
    timeout -k 5 60 "$eventspace" run -n "$ranks" --launcher "$launcher" \
        --name "$prefix-truth-$runs" --record "$folder/archive" -- "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null || {
        fault "$*: $(cat "$folder/out" "$folder/err")"
        return 1
    }
    expect 0 "$eventspace" export "$folder/archive" --to event-set -o "$folder/set"
    is_empty err
}

# works RANKS STEPS : whether the program ends uncollected: not with every MPI.
works()
{
    # shellcheck disable=SC2086 # a command and its options
    timeout -k 5 10 $launcher -n "$1" "$program" "$folder/logs" "$seed" "$2" \
        >"$folder/out" 2>&1 </dev/null
}

# truth RANKS STEPS : a random program of this seed; the next one gets the next.
truth()
{
    mkdir -p "$folder/logs"
    rm -f "$folder"/logs/*
    echo "seed $seed, $1 ranks"
    if ! works "$@"; then
        echo "not checked: this MPI fails at it uncollected"
    elif recorded "$1" "$program" "$folder/logs" "$seed" "$2"; then
        "$PYTHON" "$here/compare_truth.py" "$folder/set" "$folder/logs" ||
            fault "seed $seed: the order is not the true one"
        compared=$((compared + 1))
    fi
    seed=$((seed + 1))
}

for _ in 1 2 3 4; do
    truth 4 200
done
truth 2 200
truth 3 200
[ "$compared" -ge 3 ] || fault "only $compared random programs were compared"

# matched RANKS PROGRAM ARGUMENTS... : every message that was sent was received, and the set
# is a partial order.
matched()
{
    recorded "$1" "$apps/$2" "${@:3}" || return
    "$PYTHON" "$here/check_matched.py" "$folder/set" || fault "${*:2}: ends are not matched"
    expect 0 "$eventspace" import "$folder/set" -o "$folder/again"
}

matched 2 ring --rounds 50 --words 10
matched 4 stencil2d --points 31 --iterations 10 --norm-every 5
matched 3 mergesort --keys 3000
matched 3 masterworker --tasks 30 --numbers 100
matched 3 life --hops 50
matched 3 onesided --rounds 5
matched 2 threads --threads 3 --rounds 10
matched 3 imbalance --operation iallreduce --iterations 10
matched 2 windtunnel --rows 64 --iterations 10
finish
