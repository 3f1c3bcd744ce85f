#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# hosts_order.sh - the events of a run over several hosts are ordered while it runs: from
# its launcher's host, from a host outside the run, and of one host only.

# shellcheck source=tests/hosts/functions.sh
. "${0%/*}/../hosts/functions.sh"

# holds FILE EXPRESSION - evaluates the expression for the statistics `o` in FILE.
holds() {
    "$PYTHON" -c 'import json, sys
o = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$1" "$2" || { cat "$1"; return 1; }
}

# all_follow - whether the three orders read the run.
all_follow() {
    on front 20 "$eventspace" scope list wide >$work/scopes
    [ "$(grep -c '^causality' $work/scopes)" -eq 3 ]
}

hosts up --rate 100mbit --delay 200
place a0 a1
start_run wide --threshold 60000 --record $work/archive -- \
    "$apps/windtunnel" --rows 40 --matrices 2 --iterations 100000000 --until $work/enough
home=$(home_of wide)
bring_key out wide
begin follow front "$eventspace" order --follow --format json wide
begin seeds front "$eventspace" order --follow --tune seed-hosts=yes --threshold 1e9 --format json wide
begin outside out "$eventspace" order --follow --server "$home" --format json wide
on a0 20 "$eventspace" order --local --format json wide >$work/local
expect 0 "one host's part"
check 'is ordered' holds $work/local 'o["events"] > 10 and o["messages"] == 0'
await 60 all_follow
expect 0 'all orders read the run'
touch $work/enough
ended job
expect 0 'a run over two hosts is recorded'
"$eventspace" order --format json $work/archive >$work/recorded
expect 0 'and ordered'
for name in follow seeds outside; do
    ended $name
    expect 0 "$name: it ends with the run"
    check "$name: both hosts are in it" holds $work/$name.out \
        'o["traces"] >= 2 and o["messages"] > 10 and o["lower_bound"] == bool(o["lost"])'
    check "$name: as many messages as were recorded" holds $work/$name.out \
        "o['lost'] or o['messages'] == $(sed 's/.*"messages":\([0-9]*\).*/\1/' $work/recorded)"
done
check 'each host has a cluster of its own' holds $work/seeds.out \
    'o["store"] == "cluster" and 2 <= o["levels"][0]["clusters"] <= o["traces"]'
finish
