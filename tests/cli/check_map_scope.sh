#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_map_scope.sh - events are read through the scopes that the run's map names.

. "${0%/*}/functions.sh"
run=$prefix-mapped

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

"$helpers/make_segments" "$run" 2 50 live >"$folder/maker" &
await 10 grep -q ready "$folder/maker"

expect 2 "$eventspace" events --scope mine "$run"
contains err "cannot read the map of run '$run'"

make_run_folder "$EVENTSPACE_DIR/$run"
cat >"$EVENTSPACE_DIR/$run/map.json" <<'END'
{
  "version": 1,
  "application": {"ranks": 2},
  "cluster": {"hosts": [{"name": "front", "slots": 2}]},
  "mapping": {"stages": [{"scope": "mapped", "stage": "top", "host": "front"}]},
  "scopes": [
    {"name": "mine", "view": {"ranks": "1", "classes": ["send"]},
     "tree": {"type": "gather", "children": [
       {"type": "gather", "per": "host", "properties": {"mode": "sequential"}}]}},
    {"name": "sums", "properties": {"max": 1000},
     "tree": {"type": "gather", "children": [
       {"type": "reduce", "per": "thread",
        "properties": {"to": "count", "by": "thread"}}]}},
    {"name": "conditions",
     "tree": {"type": "gather", "children": [
       {"type": "filter", "per": "host", "properties": {"where": "rank == 0"}}]}},
    {"name": "placed", "tree": {"type": "gather", "host": "front"}},
    {"name": "mapped", "tree": {"type": "gather", "name": "top"}},
    {"name": "branched", "tree": {"type": "gather", "children": [
       {"type": "gather"}, {"type": "gather"}]}},
    {"name": "sampled", "tree": {"type": "sample", "properties": {"every": 10}}},
    {"name": "latest", "tree": {"type": "gather", "children": [
       {"type": "element", "per": "element", "properties": {"read": "latest"}}]}},
    {"name": "wide", "view": {"hosts": "n*"}, "tree": {"type": "gather"}},
    {"name": "unset", "properties": {"colour": "red"}, "tree": {"type": "gather"}}
  ]
}
END

events()
{
    expect 0 "$eventspace" events --format json --scope "$1" "$run"
}

events mine
json_lines_hold "o['type'] != 'event' or (o['rank'] == 1 and o['class'] == 'send')"
[ "$(grep -c '"event"' "$folder/out")" = 50 ] || fault "not all of rank 1's"
events sums
json_lines_hold "o['type'] == 'end' or (o['by'] == 'thread' and o['count'] == 100)"
[ "$(grep -c '"summary"' "$folder/out")" = 2 ] || fault "not one a thread"
events conditions
json_lines_hold "o['type'] != 'event' or o['rank'] == 0"
[ "$(grep -c '"event"' "$folder/out")" = 100 ] || fault "not all of rank 0's"
events sampled
[ "$(grep -c '"event"' "$folder/out")" = 20 ] || fault "not one of ten"

# refused NAME WORDS
refused()
{
    expect 2 "$eventspace" events --scope "$1" "$run"
    contains err "$2"
}

refused nobody "--scope nobody: the run's map has no scope 'nobody'"
refused placed "no stage can run on host 'front': the run has no tuple servers"
refused mapped "no stage can run on host 'front': the run has no tuple servers"
refused branched "several children"
refused latest "reads the latest tuple"
refused wide "pattern"
refused unset "colour"

finish
