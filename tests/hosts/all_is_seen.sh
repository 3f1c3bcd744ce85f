#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# all_is_seen.sh - consumers on any host see all hosts of a run, and every event once: on
# the launcher's host, on a rank's host and on a host outside the run, through trees of
# several shapes, over a slow line.

. "${0%/*}/functions.sh"

hosts up --rate 100mbit --delay 2000
place a0 a1 b0 b1
draw_map $work/map.json
# A scope whose root the mapping places on the gateway.
"$PYTHON" - $work/map.json <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    drawn = json.load(file)
drawn["mapping"]["stages"] = [{"scope": "placed", "stage": "top", "host": "gate"}]
drawn["scopes"] = [{"name": "placed", "tree": {"type": "gather", "name": "top", "children": [
    {"type": "reduce", "per": "thread", "properties": {"to": "count", "by": "thread"}}]}}]
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(drawn, file)
END
start_run seen --keep --threshold 60000 --map $work/map.json -- \
    "$apps/windtunnel" --rows 704 --matrices 2 --iterations 1000000 --until $work/enough
home=$(home_of seen)
# A host outside the run gets the key that permits reading only.
bring_key out seen key.read
# The gateway has no rank, so its tuple server is started by hand.
bring_key gate seen
on gate 10 "$top_builddir/cli/eventspaced" --run seen --home "$home" \
    --cluster west --gateway gate >$work/out
expect 0 'a tuple server by hand'

begin front front "$consumer" seen - 2 shape=views
begin rank b0 "$consumer" seen - 2 shape=hosts mode=sequential
begin outside out "$consumer" seen "$home" 2 shape=levels
begin kary front "$consumer" seen - 2 shape=kary fan-out=2 batch=500
begin described a1 "$consumer" seen - 2 shape=stages 'stages={"type": "gather", "host": "gate",
    "children": [{"type": "sort", "per": "cluster", "properties": {"window": "1ms"}}]}'
on b1 20 "$eventspace" heartbeat -n 1 seen >$work/heartbeat
check 'the heartbeat sees all ranks' grep -q '4 threads' $work/heartbeat
on out 20 "$eventspace" heartbeat -n 1 --server "$home" seen >$work/heartbeat
check 'so it does from outside' grep -q '4 threads' $work/heartbeat
# Ranks 0 and 3 are on hosts of two clusters.
for host in b1 out; do
    server=
    [ $host = out ] && server="--server $home"
    # shellcheck disable=SC2086 # an option with its value
    on $host 20 "$eventspace" top --batch -n 1 --sort rank $server seen >$work/top
    check "top on $host has the ranks of all hosts" sh -c "grep -q '^run seen  4 ranks on 4 hosts' $work/top &&
        grep -Eq '^ +0 +a0 ' $work/top && grep -Eq '^ +3 +b1 ' $work/top"
done
on out 20 "$eventspace" profile --server "$home" --show ranks --format csv seen >$work/profile
check 'and the profile' sh -c "[ \$(grep -c '^rank,[0-3],' $work/profile) -eq 4 ]"
for host in front a0 b1; do
    hosts exec $host cat "$EVENTSPACE_DIR/seen/server.json" >$work/server.json
    check "the server of $host does not listen everywhere" sh -c \
        "grep -q '\"tls:[0-9.]*:' $work/server.json && ! grep -q 'tls:\*' $work/server.json"
done
# 400 connections from one address send nothing or two bytes. They must not keep out others.
begin strangers out timeout 60 "$PYTHON" -c 'import socket, sys, time
host, port = sys.argv[1].split(":")[1:]
held = []
for i in range(400):
    held.append(socket.create_connection((host, int(port)), 5))
    try:
        held[-1].send(b"\x16\x03" if i % 2 else b"")
    except OSError:
        pass
print("there", flush=True)
time.sleep(600)' "$home"
await 20 grep -q there $work/strangers.out
on out 20 "$eventspace" heartbeat -n 1 --server "$home" seen >$work/heartbeat
check 'strangers keep nobody out' grep -q '4 threads' $work/heartbeat
refusals_are_counted() {
    hosts exec front grep -q 'refused [0-9]* connections' "$EVENTSPACE_DIR/seen/eventspaced.log"
}
check 'the log counts them' await 10 refusals_are_counted
on out 20 "$eventspace" scope set --server "$home" consumer shape=flat seen >$work/out 2>&1
check 'who only looks changes nothing' grep -q 'read-only key' $work/out
on b1 20 "$eventspace" events --scope placed --format json seen >$work/placed
check 'a scope of the map counts the events of all threads' \
    test "$(grep -c '"by":"thread"' $work/placed)" -eq 4
# Servers report their number of ranks to the home server once a second.
run_is_live() {
    on front 10 "$eventspace" list | grep -E "^seen +live "
}
await 10 run_is_live
check "list without a run tells of it where none of its ranks are" run_is_live
on front 10 "$eventspace" list seen >$work/list
for host in front gate a0 a1 b0 b1; do
    check "list tells of $host" grep -Eq "^$host .* up" $work/list
done
await 10 test -s $work/front.out
begin events out "$eventspace" events --server "$home" --follow --format json seen
on a0 10 "$eventspace" scope set consumer shape=levels levels=host,cluster seen >$work/out
expect 0 'a tree is changed from another host'
touch $work/enough
ended job
expect 0 'the wind tunnel'
for name in front rank outside kary described; do
    ended $name
    expect 0 "consumer $name"
done
ended events
expect 0 'events from outside'
check 'they are of all hosts' \
    test "$(grep -o '"rank":[0-9]*' $work/events.out | sort -u | wc -l)" -eq 4
truth seen a0 a1 b0 b1
for name in front rank outside kary described; do
    check "consumer $name has every event once" \
        "$PYTHON" "$here/account.py" $work/$name.out $work/truth.*
    check "consumer $name was told of no fault" diff /dev/null $work/$name.err
done
on front 10 "$eventspace" clean seen >/dev/null
for host in gate out; do hosts exec $host rm -rf "$EVENTSPACE_DIR/seen"; done
check_nothing_left
finish
