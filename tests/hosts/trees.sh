#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# trees.sh - the collective trees of a run on several hosts can be changed from each host.

. "${0%/*}/functions.sh"

hosts up --rate 100mbit --delay 200
place a0 a1 b0 b1
draw_map $work/map.json
start_run woods --trees=linear --map $work/map.json -- \
    "$apps/windtunnel" --rows 60 --check-every 2 --iterations 100000000 --seconds 60

has_linear() {
    on front 10 "$eventspace" collect tree woods | grep -q linear
}
await 30 has_linear
check 'the launcher sees the trees of other hosts' has_linear
on b1 30 "$eventspace" collect tree kary:3 --wait 20 woods >$work/out
expect 0 'a rank on another host has them changed'
check 'which it shows' grep -q 'kary:3' $work/out
on front 30 "$eventspace" collect tree levels:host,cluster,gateway --operation allreduce \
    --wait 20 woods >$work/out
expect 0 'to trees by host and cluster'
check 'for some operations' grep -q 'allreduce .*levels:host,cluster,gateway' $work/out
check 'the others keep theirs' grep -q 'kary:3' $work/out
on a1 30 "$eventspace" collect tree --clear --wait 20 woods >$work/out
expect 0 'all goes back to what it was, as a rank on another host has it'
check 'which was linear' grep -q 'linear' $work/out
finish
