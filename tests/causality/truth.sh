#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# truth.sh - the order of runs, from archives and live: random programs are compared
# with the order that they log, and all messages of example programs are matched.
# ES_TEST_SEED=N repeats a failure.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

here=$top_srcdir/tests/causality
random=$top_builddir/tests/causality/order_truth
apps=$top_builddir/apps
seed=$((${ES_TEST_SEED:-1} - 1))
runs=0
compared=0

# recorded RANKS PROGRAM ARGUMENTS... : records a run. Its archive is $folder/archive,
# its event set $folder/set.
recorded()
{
    local ranks=$1
    shift
    rm -rf "$folder/archive" "$folder/set"
    runs=$((runs + 1))
    timeout -k 5 60 "$eventspace" run -n "$ranks" \
        --name "$prefix-truth-$runs" --record "$folder/archive" -- "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null || {
        fault "$*: $(cat "$folder/out" "$folder/err")"
        return 1
    }
    expect 0 "$eventspace" export "$folder/archive" --to event-set -o "$folder/set"
    is_empty err
}

# works RANKS STEPS [THREADS] : whether the program runs without EventSpace; with some
# MPIs it does not.
works()
{
    # shellcheck disable=SC2086 # a command and its options
    timeout -k 5 10 $launcher -n "$1" "$random" "$folder/logs" "$seed" "${@:2}" \
        >"$folder/out" 2>&1 </dev/null
}

# checked RANKS STEPS [THREADS] : takes the next seed, and returns whether its program
# works.
checked()
{
    seed=$((seed + 1))
    mkdir -p "$folder/logs"
    rm -f "$folder"/logs/*
    echo "seed $seed: $*"
    works "$@" || {
        echo "not checked: this MPI fails at it uncollected"
        return 1
    }
    compared=$((compared + 1))
}

# compare [--partial] : compares the set with the true order.
compare()
{
    "$PYTHON" "$here/compare_truth.py" "$@" "$folder/set" "$folder/logs" ||
        fault "seed $seed: the order is not the true one"
}

# truth RANKS STEPS [THREADS] : records a random program and compares it.
truth()
{
    checked "$@" &&
        recorded "$1" "$random" "$folder/logs" "$seed" "${@:2}" && compare
}

# kept RANKS STEPS OPTIONS... : runs a random program and keeps the run $run.
kept()
{
    checked "$1" "$2" || return
    runs=$((runs + 1))
    run=$prefix-truth-$runs
    expect 0 "$eventspace" run -n "$1" --keep \
        --name "$run" "${@:3}" -- "$random" "$folder/logs" "$seed" "$2" </dev/null
}

# live RANKS STEPS OPTIONS... : compares such a run, of which no tuple is lost.
live()
{
    kept "$@" || return
    expect 0 "$eventspace" export "$run" --to event-set -o "$folder/set"
    is_empty err
    compare
    expect 0 "$eventspace" clean "$run"
}

# lossy RANKS STEPS OPTIONS... : compares such a run with losses: no order is invented.
lossy()
{
    kept "$@" || return
    expect 0 "$eventspace" export "$run" --to event-set -o "$folder/set"
    contains err "incomplete: "
    compare --partial
    expect 0 "$eventspace" clean "$run"
}

# growing RANKS STEPS OPTIONS... : exports such a run again and again while it runs.
growing()
{
    local job sets=0
    checked "$1" "$2" || return
    runs=$((runs + 1))
    run=$prefix-truth-$runs
    timeout -k 5 60 "$eventspace" run -n "$1" --keep \
        --name "$run" "${@:3}" -- "$random" "$folder/logs" "$seed" "$2" \
        >"$folder/grown" 2>&1 </dev/null &
    job=$!
    while kill -0 $job 2>/dev/null && [ $sets -lt 12 ]; do
        # The run may not exist yet, or be incomplete.
        if timeout 20 "$eventspace" export "$run" --to event-set \
            -o "$folder/growing.$sets" >"$folder/out" 2>&1; then
            sets=$((sets + 1))
        else
            rm -f "$folder/growing.$sets"
        fi
        sleep 0.05
    done
    wait $job || fault "$run: $(cat "$folder/grown")"
    for grown in "$folder"/growing.*; do
        [ ! -s "$grown" ] || { mv "$grown" "$folder/set" && compare --partial; }
    done
    expect 0 "$eventspace" export "$run" --to event-set -o "$folder/set"
    compare
    expect 0 "$eventspace" clean "$run"
}

for _ in 1 2 3; do
    truth 4 200
done
truth 2 200
truth 3 150 2
truth 2 150 2
live 3 200
growing 3 400 --threshold 20000
cat >"$folder/map.json" <<'END'
{"version": 1, "application": {"ranks": 4}, "collectors": [
  {"name": "sends", "classes": ["send"], "threshold": 4000},
  {"name": "receives", "classes": ["receive", "completion"], "threshold": 4000},
  {"name": "collectives", "classes": ["collective", "other"], "threshold": 4000},
  {"name": "rest", "classes": ["communicator", "one-sided", "io"], "threshold": 4000}]}
END
live 4 200 --map "$folder/map.json"
lossy 3 200 --threshold 60
[ "$compared" -ge 5 ] || fault "only $compared random programs were compared"

# matched MESSAGES RANKS PROGRAM ARGUMENTS... : this number of messages is sent (`any`:
# not fixed), each is received, and the set is a partial order.
matched()
{
    recorded "$2" "$apps/$3" "${@:4}" || return
    "$PYTHON" "$here/check_matched.py" "$folder/set" "$1" ||
        fault "${*:3}: ends are not matched"
    expect 0 "$eventspace" import "$folder/set" -o "$folder/again"
}

matched $((50 * 2)) 2 ring --rounds 50 --words 10
matched $((10 * 8)) 4 stencil2d --points 31 --iterations 10 --norm-every 5
matched any 3 mergesort --keys 3000
matched $((2 * (30 + 2))) 3 masterworker --tasks 30 --numbers 100
matched $((2 * 50)) 3 life --hops 50
matched 0 3 onesided --rounds 5
matched any 2 threads --threads 3 --rounds 10
matched any 3 imbalance --operation iallreduce --iterations 10
matched $((10 * 16)) 2 windtunnel --rows 64 --iterations 10
for program in fortran_mpi fortran_f08; do
    [ ! -x "$apps/$program" ] || matched 1200 2 "$program"
done
finish
