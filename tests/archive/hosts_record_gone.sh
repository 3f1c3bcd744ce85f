#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# hosts_record_gone.sh - the tuple server of a host is killed during a recording: the
# recorder reports it, the archive has the events of the other host, and the program
# goes on.

# shellcheck source=tests/hosts/functions.sh
. "${0%/*}/../hosts/functions.sh"
dump=$top_builddir/tests/archive/dump_archive

hosts up --rate 100mbit --delay 200
place a0 a1
start_run gone --keep -- "$apps/windtunnel" --rows 40 --iterations 100000000 --until $work/enough
begin recorder front "$eventspace" record -o $work/archive gone
of_a1() {
    "$dump" "$work/archive" | grep '^[0-9]' | cut -d ' ' -f 3 | grep -qx 1
}
await 20 of_a1
hosts exec a1 pkill -9 -x eventspaced
await 30 grep -q 'a1' $work/recorder.err
touch $work/enough
ended job
expect 0 'the program runs on'
ended recorder
expect 3 'the recording ends, and says that contact was lost'
check 'in words' grep -q 'lost contact' "$work/recorder.err"
check 'it is told that the host is lost' grep -q 'a1' $work/recorder.err
"$dump" $work/archive >$work/ours
expect 0 'the archive can be read'
check 'it has an end' grep -q '2 hosts, 2 processes, ended' $work/ours
check 'the other host is in it to its end' grep -q 'MPI_Finalize 0 ' $work/ours
if command -v babeltrace2 >/dev/null; then
    babeltrace2 $work/archive >$work/theirs 2>$work/err
    expect 0 'babeltrace2 reads it'
fi
finish
