#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# hosts_record_clocks.sh - records hosts whose clocks are seconds apart: the order of
# the archive is complete, and its times are those of the run.

# shellcheck source=tests/hosts/functions.sh
. "${0%/*}/../hosts/functions.sh"
dump=$top_builddir/tests/archive/dump_archive

# order_of ARCHIVE - writes the statistics of its order to $work/order.
order_of() {
    "$eventspace" order --stats --format json "$1" >$work/order
    expect 0 "$1: there is an order"
}

wrong_clocks
hosts up --rate 100mbit --delay 200
place a0 a1
collected 60 skewed --record $work/archive -- \
    "$apps/windtunnel" --rows 40 --iterations 60 >$work/out 2>$work/err
expect 0 'a run over two hosts with wrong clocks is recorded'
"$dump" $work/archive >$work/ours
expect 0 'its archive can be read'
check 'both hosts are in it' grep -q '2 hosts, 2 processes, ended' $work/ours
check 'nothing was lost' sh -c "! grep -q lost $work/ours"
order_of $work/archive
check 'every message and reduction has its ends' "$PYTHON" - $work/order <<'END'
import json, sys
stats = json.loads(open(sys.argv[1], encoding="utf-8").readline())
assert stats["messages"] > 100 and stats["collectives"] > 3, stats
for end in "lost", "unmatched_sends", "unmatched_receives", "incomplete_collectives":
    assert stats[end] == 0, (end, stats)
END
# With clocks 3.7 s apart, no interval of an allreduce would overlap that of the other
# rank.
check 'times are those of the run' "$PYTHON" - $work/ours <<'END'
import collections, sys
calls = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    words = line.split()
    if words[0].isdigit() and words[1] == "MPI_Allreduce":
        calls[words[2]].append((int(words[3]), int(words[0])))
ours, theirs = calls["0"], calls["1"]
assert len(ours) == len(theirs) > 3, (len(ours), len(theirs))
# The offsets of the clocks are estimates, wrong by a millisecond or two at most.
slack = 5_000_000
apart = [a for a, b in zip(ours, theirs) if a[0] > b[1] + slack or b[0] > a[1] + slack]
assert not apart, (len(apart), apart[0])
END
if command -v babeltrace2 >/dev/null; then
    babeltrace2 $work/archive >$work/theirs 2>$work/err
    expect 0 'babeltrace2 reads it'
    check 'all of it' test "$(wc -l <$work/theirs)" = "$(grep -c '^[0-9]' $work/ours)"
fi
finish
