#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# search.sh - finds patterns in a run over two hosts while it runs, from the launcher's host
# and from a host outside the run. The matches must be those found in its recording.

. "${0%/*}/functions.sh"

same=$top_srcdir/tests/search/same_matches.py
export EVENTSPACE_PATTERNS=$top_srcdir/share/patterns
patterns='MessageRace LostMessage Overtaking ProbeRace'

# follow NAME HOST OPTION... - prints the matches, each after the time of its arrival.
follow() {
    local name=$1 host=$2
    shift 2
    # shellcheck disable=SC2016,SC2086 # for the inner shell; several words
    begin $name $host bash -c 'set -o pipefail
        "$1" search -p mpi wide $2 --follow "${@:5}" | "$3" "$4" stamp' \
        follow "$eventspace" "$patterns" "$PYTHON" "$same" "$@"
}

hosts up --rate 100mbit --delay 200
place a0 b0:2
start_run wide --keep --threshold 60000 --record $work/archive -- \
    "$apps/masterworker" --tasks 2000 --numbers 4000
home=$(home_of wide)
bring_key out wide
follow front front
follow outside out --server "$home"
on a0 20 "$eventspace" search -p mpi --local wide LostMessage --count >$work/local 2>$work/err
check "one host's part can be searched" grep -Eq '^[0-9]+$' $work/local
ended job
expect 0 'a run over two hosts is recorded'
date +%s%N >$work/ended
# shellcheck disable=SC2086 # several words
on front 20 "$eventspace" search -p mpi $work/archive $patterns >$work/recorded
expect 0 'and has matches'
for name in front outside; do
    ended $name
    expect 0 "$name: it ends with the run"
    mv $work/$name.out $work/$name.followed
    cp $work/recorded $work/$name.recorded
    cp $work/ended $work/$name.ended
    check "$name: what is found is what was recorded" \
        "$PYTHON" "$same" compare $work $name MessageRace ''
    sed 's/in [0-9]* events/in N events/' $work/$name.err >$work/$name.told
    check "$name: nothing was lost" diff \
        <(echo 'eventspace search: no match of LostMessage, Overtaking, ProbeRace in N events') \
        $work/$name.told
    check "$name: hosts are told apart" \
        grep -Eq 'MPI_Recv +rank 0 on a0 +from [12] \(of any\) ' $work/$name.followed
done
on front 10 "$eventspace" clean wide >/dev/null
hosts exec out rm -rf "$EVENTSPACE_DIR/wide"
check_nothing_left
finish
