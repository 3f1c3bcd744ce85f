#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_delays_of_apps.sh - `eventspace time` on the example programs: who is late is named,
# of archives, of runs that go on, and of what runs have left.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi

here=$top_srcdir/tests/delay
apps=$top_builddir/apps

clean_runs()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    "$eventspace" clean --all >/dev/null 2>&1
    clear_up
}
trap clean_runs EXIT

# record NAME PROGRAM... : on four ranks; its output is in $folder/NAME, the archive is
# $folder/NAME.rec.
record()
{
    local name=$1
    shift
    timeout -k 5 100 "$eventspace" run -n 4 --name "$prefix-$name" \
        --record "$folder/$name.rec" -- "$@" \
        >"$folder/$name" 2>"$folder/err" </dev/null ||
        fault "$name: $(cat "$folder/$name" "$folder/err")"
}

# truth WHAT NAME ARGUMENT... : planted.py, of what was analysed last.
truth()
{
    local what=$1 name=$2
    shift 2
    echo "$name:"
    "${PYTHON:-python3}" "$here/planted.py" "$what" "$folder/out" "$@" ||
        fault "$name: $(tail -n 20 "$folder/out")"
}

# One rank is late to each reduction, by sleeping ahead of it.
record imbalance "$apps/imbalance" --ranks-late 3 --late-us 20000 --work-us 1000 --sleep \
    --iterations 40
expect 0 "$eventspace" time --format json "$folder/imbalance.rec"
truth rank imbalance 3 0.8
expect 0 "$eventspace" time "$folder/imbalance.rec"
contains out "rank 3 costs the others"
contains out "what it computes ahead of MPI_Allreduce at imbalance.c:"
contains out "critical path"

# Halos and a rare norm: of rank 2 three quarters of the time are taken.
record stencil2d bash "$here/slow.sh" 2 "$apps/stencil2d" --points 600 --iterations 400
expect 0 "$eventspace" time --format json "$folder/stencil2d.rec"
truth rank stencil2d 2 0.4

# The wind tunnel, likewise.
record windtunnel bash "$here/slow.sh" 1 "$apps/windtunnel" --rows 400 --matrices 1 \
    --iterations 150
expect 0 "$eventspace" time --format json "$folder/windtunnel.rec"
truth rank windtunnel 1 0.4

# Whoever waits here waits for the master or a worker: sums hold.
record masterworker "$apps/masterworker" --tasks 300
expect 0 "$eventspace" time --format json "$folder/masterworker.rec"
truth sums masterworker

# While it runs, and what it leaves.
"$eventspace" run -n 4 --name "$prefix-live" --keep -- "$apps/imbalance" --ranks-late 1 \
    --late-us 20000 --work-us 1000 --sleep --iterations 150 >"$folder/live" 2>&1 \
    </dev/null &
job=$!
await 20 "$eventspace" list "$prefix-live"
expect 0 "$eventspace" time --follow --interval 500ms --format json "$prefix-live"
[ "$(grep -c '"type":"totals"' "$folder/out")" -gt 1 ] ||
    fault "one report of a run that was followed: $(cat "$folder/out")"
truth rank followed 1 0.8
wait $job || fault "live: $(cat "$folder/live")"
expect 0 "$eventspace" time --format json "$prefix-live"
truth rank left 1 0.7

finish
