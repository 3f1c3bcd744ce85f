#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# clocks.sh - the clocks of each host are wrong by a known amount. The estimates of the
# tuple servers must be right within their stated bounds, and the times of all events
# consistent.

. "${0%/*}/functions.sh"

wrong_clocks
hosts up --delay 1000
place a0 b0 a1 b1
draw_map $work/map.json
start_run clocks --keep --threshold 60000 --map $work/map.json -- \
    "$apps/ring" --rounds 2500
home=$(home_of clocks)
bring_key out clocks
# This sleeps because it tests time: drifts become measurable only after some seconds.
sleep 12
for host in front b1; do
    on $host 20 "$eventspace" list --format json clocks >$work/list.$host
    expect 0 "list on $host"
done
on front 20 "$eventspace" list clocks >$work/list
expect 0 'list as text'
check 'list shows drifts' grep -Eq '^b1 .* up .* ppm .* [mu]s ' $work/list
ended job
expect 0 'the ring'
begin front front "$eventspace" events --absolute --repair none --format json clocks
begin b1 b1 "$eventspace" events --absolute --format json clocks
begin out out "$eventspace" events --absolute --repair none --format json --server "$home" --shape=levels clocks
for name in front b1 out; do
    ended $name
    expect 0 "events on $name"
    [ $name = b1 ] && how=repaired || how=
    # shellcheck disable=SC2086 # a word or none
    check "times on $name" "$PYTHON" "$here/clock_truth.py" events $work/$name.out $how
done
for host in front b1; do
    check "estimates as $host knows them" \
        "$PYTHON" "$here/clock_truth.py" estimates $work/skew $work/list.$host
done
on front 10 "$eventspace" clean clocks >/dev/null
for host in out; do hosts exec $host rm -rf "$EVENTSPACE_DIR/clocks"; done

# Attribution of waiting across these clocks: rank 1, behind the slow line, is late.
start_run late --keep --map $work/map.json -- "$apps/imbalance" --iterations 100 \
    --ranks-late 1 --late-us 20000 --work-us 1000 --sleep
ended job
expect 0 'a late rank'
on front 60 "$eventspace" time --format json late >$work/time
expect 0 'time'
check 'the late rank causes most, and the bound is known' \
    "$PYTHON" "$here/clock_truth.py" delays $work/time 1
on front 10 "$eventspace" clean late >/dev/null
check_nothing_left
finish
