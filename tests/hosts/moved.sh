#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# moved.sh - elements that the map places on another host (EventSpace paper, section 4.1).
# The program writes locally and the tuple server of its host moves the tuples; consumers
# find all of them under the same name, once.

. "${0%/*}/functions.sh"

hosts up
place a0 a1
draw_map $work/plain.json
# The messages of rank 1 on a1 are placed on a0.
"$PYTHON" - $work/plain.json $work/map.json <<'SCRIPT'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    drawn = json.load(file)
drawn["collectors"] = [
    {"name": "messages", "classes": ["send", "receive", "completion"],
     "threshold": 60000, "host": "a0"},
    {"name": "rest", "threshold": 60000,
     "classes": ["collective", "communicator", "one-sided", "io", "other"]}]
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(drawn, file)
SCRIPT
start_run moved --keep --map $work/map.json -- \
    "$apps/windtunnel" --rows 704 --matrices 2 --iterations 2000
# shellcheck disable=SC2016 # for the inner shell
await 10 hosts exec a0 sh -c '"$0" list --elements moved | grep -q "^1.0/messages "' \
    "$eventspace"
begin front front "$consumer" moved - 2 shape=hosts
ended job
expect 0 'the wind tunnel'
ended front
expect 0 'the consumer'
truth moved a0 a1
check 'the elements of rank 1 lie on both hosts, each on one' \
    test "$(cat $work/truth.* | grep -o '"element":"1.0/[a-z]*"' | sort | tr '\n' ' ')" = \
    '"element":"1.0/messages" "element":"1.0/rest" '
check 'every event is given once' "$PYTHON" "$here/account.py" $work/front.out $work/truth.*
check 'the consumer was told of no fault' diff /dev/null $work/front.err
on front 10 "$eventspace" clean moved >/dev/null
check_nothing_left
finish
