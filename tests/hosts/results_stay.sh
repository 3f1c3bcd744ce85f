#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# results_stay.sh - programs over four hosts of two clusters have the same result with
# EventSpace as without it, over a slow line, and leave nothing behind. Arguments are
# options of `hosts.sh up`.

. "${0%/*}/functions.sh"

result() { # FILE
    grep -E '^(particles|momentum|hash)' "$1"
}

hosts up --rate 100mbit "$@"
place a0 a1 b0 b1

plain 30 "$apps/windtunnel" --iterations 100 >$work/plain
expect 0 'the wind tunnel, uncollected'
collected 30 tunnel -- "$apps/windtunnel" --iterations 100 >$work/out 2>$work/err
expect 0 'the wind tunnel, collected'
check 'nothing on standard error' diff /dev/null $work/err
check 'the same result' test -n "$(result $work/plain)" -a \
    "$(result $work/out)" = "$(result $work/plain)"
check_nothing_left

collected 30 token -- "$apps/ring" --rounds 200 >$work/out 2>&1
expect 0 'the ring, collected'
check 'the ring is correct' grep -q '200 rounds over 4 ranks correct' $work/out
check_nothing_left
finish
