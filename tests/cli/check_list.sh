#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_list.sh - list, collect and clean on a run that is live and then dead.

. "${0%/*}/functions.sh"
run=$prefix-run
red=$(printf '\033[31m')
# A name of a program that says nothing about the run.
cp "$helpers/make_segments" "$folder/lost"

# start RANKS TUPLES : a live run.
start()
{
    rm -f "$folder/maker"
    "$folder/lost" "$run" "$1" "$2" live >"$folder/maker" &
    maker=$!
    await 10 grep -q ready "$folder/maker"
}

start 3 150
expect 0 "$eventspace" list
contains out "$run"
contains out " lost "
expect 0 "$eventspace" list --color=always
lacks out "$(printf '\033')"
expect 0 "$eventspace" list --format json
json_lines_hold "o['type'] == 'run' and o['ranks'] == 3 and o['ending'] is None"
expect 0 "$eventspace" list "$run"
contains out "run $run: 3 processes, 3 threads, 6 elements, 900 tuples"
contains out running
contains out POLLS
lacks out HELD
lacks out OFF
expect 0 "$eventspace" list -v "$run"
contains out HELD
contains out OFF
expect 0 "$eventspace" list --format json "$run"
json_lines_hold "o['type'] == 'process' and o['run'] == '$run' and o['alive'] and o['tuples'] == 300 and o['polls'] == 300 and o['overwritten'] == 100 and o['bytes'] > 2 * 100 * 36"
[ "$(wc -l <"$folder/out")" = 3 ] || fault "not one line a process"
expect 0 "$eventspace" list --elements "$run"
contains out 2.0/collective
expect 0 "$eventspace" list -e -f json "$run"
json_lines_hold "o['type'] == 'process' or (o['threshold'] == 100 and o['tuples'] == 150 and o['enabled'] and o['full'] == 'discard')"

# A run that is not there: which may be meant, or which there are; in all commands alike.
for command in list heartbeat events collectives "collect off" clean "scope list"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$eventspace" $command "${run}x"
    contains err "run '${run}x': not found on this host; did you mean '$run'?"
    # shellcheck disable=SC2086
    expect 2 "$eventspace" $command quite-another-name
    contains err "not found on this host, which has '$run'; see 'eventspace list'"
done

# Switching, and by what.
enabled()
{
    "$eventspace" list -e "$run" | awk '$3 == "on" { printf "%s ", $1 }'
}
switch()
{
    expect 0 "$eventspace" collect "$@" "$run"
}
switch off
contains out "6 elements off"
[ -z "$(enabled)" ] || fault "still on: $(enabled)"
expect 0 "$eventspace" list "$run"
contains out "collectors of ranks 0-2 are off: what they do is not known; 'eventspace collect on --rank 0-2 $run' switches them on"
switch on --rank 1-2
[ "$(enabled)" = "1.0/point-to-point 1.0/collective 2.0/point-to-point 2.0/collective " ] ||
    fault "on: $(enabled)"
switch off --class collective
[ "$(enabled)" = "1.0/point-to-point 2.0/point-to-point " ] || fault "on: $(enabled)"
switch on --collector collective -r 0
switch on --element '0.0/point*'
[ "$(enabled)" = "0.0/point-to-point 0.0/collective 1.0/point-to-point 2.0/point-to-point " ] ||
    fault "on: $(enabled)"
switch on --host "$(uname -n)" --thread 0
contains out "6 elements on"
switch threshold 10
expect 0 "$eventspace" list -e -f json "$run"
json_lines_hold "o['type'] == 'process' or o['overwritten'] == 140"
expect 1 "$eventspace" collect off --rank 7 "$run"
contains err "no element matches"
# What an element was made for is the limit, not what it was lowered to; said once.
expect 2 "$eventspace" collect threshold 99999999 "$run"
contains err "threshold 99999999: 6 of 6 elements were made for at most 100; start the program with a larger --threshold"
[ "$(wc -l <"$folder/err")" = 1 ] || fault "refused more than once: $(cat "$folder/err")"
is_empty out
switch threshold 100
contains out "6 elements keep 100 tuples"
for wrong in "" maybe threshold "threshold 0" "threshold x" "on --class walks" "on -r 3-x" \
    "on --thread x"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$eventspace" collect $wrong
done

# Live runs are left alone.
expect 1 "$eventspace" clean "$run"
contains err "is live"
expect 0 "$eventspace" clean --dry-run --force "$run"
contains out "would remove $run: 3 segments"
expect 0 "$eventspace" list "$run"

# Dead: still listed, until removed.
kill -KILL $maker
wait $maker 2>/dev/null
gone()
{
    [ "$("$eventspace" list -f json "$run" | grep -c '"alive":false')" = 3 ]
}
await 5 gone
expect 0 "$eventspace" list
contains out "rank 0"
expect 0 "$eventspace" list --color=always
contains out "${red}rank 0"
lacks out "${red}lost"
expect 0 "$eventspace" list --color=always "$run"
contains out "${red}gone for an unknown reason"
lacks out "${red}finalized"
expect 0 "$eventspace" list "$run"
contains out "gone for an unknown reason"
contains out finalized
expect 0 "$eventspace" list -f json "$run"
json_lines_hold "o['state'] == ('finalized' if o['rank'] else 'lost')"
expect 0 "$eventspace" clean --dry-run "$run"
contains out "would remove $run: 3 segments"
expect 0 "$eventspace" clean --format json "$run"
json_lines_hold "o == {'type': 'removed', 'run': '$run', 'segments': 3, 'directory': False, 'unreached': '',
    'dry_run': False}"
compgen -G "/dev/shm/eventspace.$run.*" >/dev/null && fault "segments are left"
expect 2 "$eventspace" clean "$run"
expect 2 "$eventspace" clean "../$run"
contains err "not the name of a run"

# --force takes a live run's segments.
start 1 1
expect 0 "$eventspace" clean --force "$run"
contains out "removed $run: 1 segments"
expect 2 "$eventspace" list "$run"
kill -KILL $maker
wait $maker 2>/dev/null

# A directory without segments is a leftover too, unless its `eventspace run` lives.
make_run_folder "$EVENTSPACE_DIR/$run" && touch "$EVENTSPACE_DIR/$run/lock"
exec 8<"$EVENTSPACE_DIR/$run/lock"
flock 8
expect 1 "$eventspace" clean "$run"
exec 8<&-
for command in list why; do
    expect 2 "$eventspace" $command "$run"
    contains err "run '$run': it has a run directory, but no process of it has called MPI"
done
expect 0 "$eventspace" clean "$run"
contains out "removed $run: 0 segments, run directory"
[ ! -e "$EVENTSPACE_DIR/$run" ] || fault "the directory is left"
finish
