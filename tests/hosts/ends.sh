#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# ends.sh - a consumer ends with its run, which is not kept: after a tuple server was killed
# and restarted and the shape of the tree was changed, and after all tuple servers were
# killed at once.

. "${0%/*}/functions.sh"

server=$top_builddir/cli/eventspaced

# start RUN - starts a program that runs until $work/enough.RUN exists, and a consumer of its
# events.
start() {
    start_run "$1" --threshold 60000 --map $work/map.json -- \
        "$apps/windtunnel" --size small --iterations 100000000 --until "$work/enough.$1"
    home=$(home_of "$1")
    begin events front "$eventspace" events --follow --format json "$1"
    await 20 test -s $work/events.out
}

# events_end NAME - checks that the consumer ends soon and reports the losses.
events_end() {
    await 20 test -s $work/events.status
    check "$1: the consumer ends" test "$(cat $work/events.status)" = 0
    check "$1: it says what was lost" grep -q '"type":"losses"\|"lost"' $work/events.out
    [ -s $work/events.status ] || send KILL events front
}

# kill_server HOST - returns when its process has ended.
kill_server() {
    hosts exec "$1" pkill -9 -x eventspaced
    await 20 hosts exec "$1" sh -c '! pgrep -x eventspaced'
}

hosts up --rate 10mbit --delay 2000
place a0 a1 b0
draw_map $work/map.json

start restarted
bring_key gate restarted
on gate 10 "$server" --run restarted --home "$home" --cluster west --gateway gate >$work/out
expect 0 'a server on the gateway'
kill_server a1
on a1 10 "$server" --run restarted --home "$home" >$work/out
expect 0 'the server of a1, started again'
on front 10 "$eventspace" scope set events shape=levels levels=host,cluster,gateway \
    restarted >$work/out
expect 0 'another tree'
sleep 1 # the new tree carries some events
kill_server a1
on a1 10 "$server" --run restarted --home "$home" >$work/out
expect 0 'the server of a1, started again in a tree of levels'
touch $work/enough.restarted
ended job
expect 0 'the program'
events_end restarted
hosts exec gate rm -rf "$EVENTSPACE_DIR/restarted"

# All servers are killed at once; the program ends without them.
start killed
for host in front a0 a1 b0; do hosts exec $host pkill -9 -x eventspaced; done
touch $work/enough.killed
events_end killed
ended job
expect 0 'the program without tuple servers'
for host in front a0 a1 b0; do
    on $host 20 "$eventspace" clean --force killed >/dev/null 2>&1
done
check_nothing_left
finish
