#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_scope.sh - live scopes are listed, shown and changed by their names, or refused
# with words.

. "${0%/*}/functions.sh"
run=$prefix-scope
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

expect 2 "$eventspace" scope
contains err "no action; give list, show or set"
expect 2 "$eventspace" scope remove
contains err "'remove' is not an action; give list, show or set"
expect 2 "$eventspace" scope show
contains err "no scope; give the NAME"
expect 2 "$eventspace" scope set heartbeat
contains err "nothing to set"
expect 2 "$eventspace" scope list --format svg
expect 2 "$eventspace" scope list "$run"
contains err "not found on this host"

"$helpers/make_segments" "$run" 2 50 live >"$folder/maker" &
await 10 grep -q ready "$folder/maker"
"$top_builddir/cli/eventspaced" --run "$run" --foreground >"$folder/server" 2>&1 &
await 10 "$eventspace" scope list "$run"
"$eventspace" heartbeat --interval 0.1 "$run" >"$folder/heartbeat" 2>&1 &
is_there()
{
    "$eventspace" scope list "$run" | grep -q heartbeat
}
await 10 is_there || fault "no scope: $(cat "$folder/server")"

expect 0 "$eventspace" scope list --format json "$run"
json_lines_hold "o['name'].startswith('heartbeat') and o['pid'] > 0"
expect 0 "$eventspace" scope show "$run" heartbeat
contains out "STAGE"
expect 0 "$eventspace" scope show heartbeat "$run"
contains out "set: as by default"
lacks out "max="
lacks out "default: "
lacks out "joints="
contains out "thread 0.0"
expect 0 "$eventspace" scope show heartbeat --all "$run"
contains out "shape=views"
grep -q '^default: .*joints=' "$folder/out" || fault "not all settings: $(cat "$folder/out")"
expect 0 "$eventspace" scope show heartbeat --format json "$run"
json_lines_hold "o['type'] and o['calls'] >= 0"
expect 0 "$eventspace" scope show heartbeat --format svg "$run"
contains out "<svg"
expect 0 "$eventspace" scope show heartbeat --format dot "$run"
contains out "digraph"
expect 0 "$eventspace" scope set heartbeat shape=hosts through-server=yes "$run"
contains out "shape: views -> hosts"
contains out "through-server: no -> yes"
[ "$(wc -l <"$folder/out")" = 2 ] || fault "more than two changes: $(cat "$folder/out")"
expect 0 "$eventspace" scope set heartbeat shape=hosts "$run"
contains out "nothing changed"
expect 0 "$eventspace" scope show heartbeat "$run"
grep -q '^set: .*shape=hosts' "$folder/out" || fault "what was set is not first: $(cat "$folder/out")"
expect 0 "$eventspace" scope show heartbeat "$run"
contains out "remote"
expect 2 "$eventspace" scope set heartbeat shap=flat "$run"
contains err "did you mean 'shape'"
expect 2 "$eventspace" scope set heartbeat sort=stop "$run"
contains err "cannot be sorted"
expect 0 "$eventspace" scope set heartbeat --rate 50Hz --budget 1% "$run"
contains out "rate: 50 pulls/s"
contains out "budget: 1 % of a core"
is_decided()
{
    "$eventspace" scope show heartbeat "$run" | grep -q "pulls/s,"
}
await 20 is_decided || fault "the rate controller has not decided"
expect 0 "$eventspace" scope set heartbeat --rate 0 "$run"
expect 2 "$eventspace" scope set heartbeat --budget=-1 "$run"
expect 2 "$eventspace" scope show nobody "$run"
contains err "there is no scope 'nobody'; 'eventspace scope list' shows the only one, heartbeat"
expect 2 "$eventspace" scope set heartbeta shape=flat "$run"
contains err "there is no scope 'heartbeta'; did you mean 'heartbeat'?"

finish
