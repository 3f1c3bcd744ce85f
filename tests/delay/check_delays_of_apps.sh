#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_delays_of_apps.sh - `eventspace time` on the example programs: it reports the
# rank that is late, for archives, live runs and runs that have ended.

. "${top_srcdir:?not set}/tests/delay/functions.sh"

apps=$top_builddir/apps

# compare NAME RANK SHARE PROGRAM... : of four ranks this one causes the most waiting,
# and more than SHARE of all.
compare()
{
    local name=$1 rank=$2 share=$3
    shift 3
    record "$name" 4 "$@"
    expect 0 "$eventspace" time --format json "$folder/$name.rec"
    truth rank "$name" "$rank" "$share"
}

# One rank sleeps before each reduction.
one_of_three compare imbalance 3 0.8 "$apps/imbalance" --ranks-late 3 --late-us 20000 \
    --work-us 1000 --sleep --iterations 40
expect 0 "$eventspace" time "$folder/imbalance.rec"
contains out "rank 3 costs the others"
contains out "computation before MPI_Allreduce at imbalance.c:"
contains out "critical path"

# Halos and a rare norm: rank 2 gets a quarter of its processor time.
one_of_three compare stencil2d 2 0.4 bash "$here/slow.sh" 2 "$apps/stencil2d" --points 600 \
    --iterations 400

# The same for the wind tunnel.
one_of_three compare windtunnel 1 0.4 bash "$here/slow.sh" 1 "$apps/windtunnel" --rows 400 \
    --matrices 1 --iterations 150

# Here all ranks wait for the master or a worker: only the sums are checked.
record masterworker 4 "$apps/masterworker" --tasks 300
expect 0 "$eventspace" time --format json "$folder/masterworker.rec"
truth sums masterworker

# A live run, and the same run after its end.
follow()
{
    "$eventspace" run -n 4 --name "$prefix-$1" --keep -- "$apps/imbalance" --ranks-late 1 \
        --late-us 20000 --work-us 1000 --sleep --iterations 150 >"$folder/$1" 2>&1 \
        </dev/null &
    await 20 "$eventspace" list "$prefix-$1"
    expect 0 "$eventspace" time --follow --interval 500ms --format json "$prefix-$1"
    [ "$(grep -c '"type":"totals"' "$folder/out")" -gt 1 ] ||
        fault "one report of a run that was followed: $(cat "$folder/out")"
    truth rank followed 1 0.8
    wait $! || fault "$1: $(cat "$folder/$1")"
    expect 0 "$eventspace" time --format json "$prefix-$1"
    truth rank left 1 0.7
    "$eventspace" clean "$prefix-$1" >"$folder/cleaned" 2>&1
}
one_of_three follow live

finish
