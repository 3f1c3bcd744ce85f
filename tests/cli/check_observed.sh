#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_observed.sh - a second consumer observes the first one's tree, also the part of it
# that stands in the tuple server; and the rate controller keeps to what was asked for.

. "${0%/*}/functions.sh"
run=$prefix-observed
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# --- Waiting for the run to begin ---------------------------------------------------------

"$top_builddir/cli/eventspaced" --run "$run" --foreground >"$folder/server" 2>&1 &
await 10 "$eventspace" scope list "$run"
"$eventspace" events --follow "$run" >"$folder/follow" 2>"$folder/follow.err" &
follow=$!
is_there()
{
    "$eventspace" scope list "$run" | grep -q events
}
await 10 is_there || fault "no scope: $(cat "$folder/server" "$folder/follow.err")"
expect 0 "$eventspace" list "$run"
contains out "0 processes"
contains out "up, home"
sleep 0.5
kill -0 $follow || fault "events --follow did not wait: $(cat "$folder/follow.err")"
"$helpers/make_segments" "$run" 2 50 live >"$folder/maker" &
maker=$!
await 10 grep -q MPI_Send "$folder/follow" || fault "events --follow does not see the run"
expect 0 "$eventspace" list --format json "$run"
json_lines_hold "o['run'] == '$run' and (o['type'] == 'process' or (o['type'] == 'host' and o['state'] == 'up' and o['home'] and o['here'] and o['ranks'] in (0, 1, 2) and o['address'] and o['cluster'] == o['gateway'] == '' and o['silent_ns'] == 0))"
[ "$(grep -c '"type":"host"' "$folder/out")" = 1 ] || fault "not one host"

# --- Stages that carry collectors ----------------------------------------------------------

# monitored PROGRAM : whether tuples of the class monitor come from it.
monitored()
{
    local pid
    pid=$("$eventspace" list --format json "$run" |
        sed -n "s/.*\"rank\":-1,.*\"pid\":\([0-9]*\),\"program\":\"$1\".*/\1/p" | head -1)
    [ -n "$pid" ] && "$eventspace" events --class monitor --format json --last 200 "$run" |
        grep -q '"class":"monitor"'
}
expect 0 "$eventspace" scope set events observe="all first" "$run"
await 10 monitored eventspace || fault "nothing of the consumer's own stages"
expect 0 "$eventspace" scope set events through-server=yes "$run"
await 10 monitored eventspaced || fault "nothing of the stages in the tuple server"
expect 0 "$eventspace" events --class monitor --format json "$run"
json_lines_hold "o['type'] == 'end' or (o['rank'] == -1 and o['class'] == 'monitor' and o['element'].startswith('scope/first/'))"
expect 0 "$eventspace" events --format json "$run"
lacks out '"class":"monitor"'
expect 0 "$eventspace" list "$run"
contains out "2 processes, 2 threads, 4 elements, 200 tuples"
contains out "monitoring"
grep -q '^monitor .*running' "$folder/out" || fault "no line of a monitor"
expect 0 "$eventspace" scope set events observe=none "$run"

# --- The rate controller --------------------------------------------------------------------

# rate_is LEAST MOST : pulls a second over the last tenth, as the scope tells.
rate_is()
{
    "$eventspace" scope list --format json "$run" >"$folder/scopes"
    "${PYTHON:-python3}" - "$1" "$2" "$folder/scopes" <<'END'
import json, sys
rate = json.loads(open(sys.argv[3], encoding="utf-8").readline())["rate"]
sys.exit(not float(sys.argv[1]) <= rate <= float(sys.argv[2]))
END
}
has_reason()
{
    "$eventspace" scope show events "$run" | grep -q "pulls/s,.*$1"
}
expect 0 "$eventspace" scope set events --rate 100Hz --budget 50% "$run"
await 20 rate_is 40 160 || fault "far from 100 pulls a second: $(cat "$folder/scopes")"
await 10 has_reason "chose" || fault "no reasons"
expect 0 "$eventspace" scope set events --rate 4Hz "$run"
await 20 rate_is 1 8 || fault "far from 4 pulls a second: $(cat "$folder/scopes")"
# share_is_below PER_CENT : of a core, as the last decision found it.
share_is_below()
{
    "$eventspace" scope show events "$run" |
        sed -n 's,.* pulls/s\, \([0-9.]*\) % of a core.*,\1,p' | tail -1 >"$folder/share"
    awk -v most="$1" '{ found = 1; over = $1 > most } END { exit !found || over }' "$folder/share"
}
expect 0 "$eventspace" scope set events --budget 3% "$run"
is_fast()
{
    rate_is 50 1e9 && share_is_below 6
}
await 30 is_fast || fault "not as fast as 3 % of a core allow: $(cat "$folder/scopes" "$folder/share")"
expect 0 "$eventspace" scope set events --rate 0 --budget 0 "$run"
await 10 rate_is 10 40 || fault "does not make its own pauses again: $(cat "$folder/scopes")"

kill -KILL $maker
ends()
{
    ! kill -0 $follow 2>/dev/null
}
await 15 ends || fault "events --follow goes on behind the run's end"
finish
