#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# hosts_record.sh - a run over several hosts is recorded into one archive, with a trace
# for each host.

# shellcheck source=tests/hosts/functions.sh
. "${0%/*}/../hosts/functions.sh"

hosts up --rate 100mbit --delay 200
place a0 a1
collected 60 wide --record $work/archive -- \
    "$apps/windtunnel" --rows 40 --iterations 60 >$work/out 2>$work/err
expect 0 'a run over two hosts is recorded'
ls $work/archive >$work/directories
check 'there is a trace for each host' diff - $work/directories <<END
a0
a1
END
"$top_builddir/tests/archive/dump_archive" $work/archive >$work/ours
expect 0 'it can be read'
check 'both hosts are in it' grep -q '2 hosts, 2 processes, ended' $work/ours
check 'nothing was lost' sh -c "! grep -q lost $work/ours"
of_rank() {
    grep -c "MPI_Allreduce $1 " $work/ours
}
check 'both took part in the same reductions' test "$(of_rank 0)" = "$(of_rank 1)"
check 'of which there are some' test "$(of_rank 0)" -gt 0
grep '"type":"group"' $work/archive/.eventspace/archive.jsonl >$work/groups
check 'the world is known' grep -q '"world":\[0,1\]' $work/groups
if command -v babeltrace2 >/dev/null; then
    babeltrace2 $work/archive >$work/theirs 2>$work/err
    expect 0 'babeltrace2 reads it'
    check 'all of it' test "$(wc -l <$work/theirs)" = "$(grep -c '^[0-9]' $work/ours)"
    check 'both hosts' grep -q ' a1 MPI_' $work/theirs
fi
finish
