#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_trees.sh - collective trees: run --trees, collect tree, and what is refused.

. "${0%/*}/functions.sh"
apps=$top_builddir/apps
collect=("$eventspace" collect tree)
launcher=$top_srcdir/tests/cli/local_launcher.sh

# --- What can be said, and what not

expect 2 "$eventspace" run --trees=kary:1 -n 1 -- true
contains err "at character 6: fan-out '1': expected a number from 2 to 1024"
expect 2 "$eventspace" run --trees=star -n 1 -- true
contains err "expected one of library linear kary binomial exchange levels explicit"
expect 2 "${collect[@]}" kary:4 --clear
contains err "TREE, --file and --clear: give one of them"
expect 2 "${collect[@]}" --comm row
contains err "need the TREE that they are for"
expect 2 "${collect[@]}" kary -r 0
contains err "all ranks have the same trees"
expect 2 "${collect[@]}" kary --operation scan
contains err "--operation: operations 'scan': expected some of barrier bcast"
expect 2 "${collect[@]}" kary --bytes 9-8
contains err "--bytes: bytes '8': expected a last number not below the first"
expect 2 "$eventspace" collect on --clear
contains err "--bytes, --file and --clear are for"
expect 2 "$eventspace" collect off --class monitor
contains err "only operations of MPI can be switched"
expect 2 "$eventspace" collect off --class send,
contains err "--class: '' is not one of send, receive"
expect 2 "${collect[@]}" nobody-knows-it
contains err "not found"

# --- What the ranks find: all of them the rules, or none

[ -n "${EVENTSPACE_PRELOAD:-}" ] || use_marker
run=("$eventspace" run --launcher "$launcher" --no-server)
show='echo "<$EVENTSPACE_TREES>"; cat "$EVENTSPACE_RUN_DIR/collect.trees"; cat "$EVENTSPACE_PLAN"'
expect 0 "${run[@]}" -n 2 --trees=kary:3 -- sh -c "$show"
contains out "tree kary shape=kary fan-out=3;end;>"
contains out "tree kary shape=kary fan-out=3"
contains out "collector arrival classes=arrival"
# What ranks print may come on one line.
[ "$(grep -o '<eventspace-trees 1;' "$folder/out" | wc -l)" = 2 ] ||
    fault "not both ranks have the rules"
expect 0 "${run[@]}" -n 1 --trees -- sh -c "$show"
contains out "<eventspace-trees 1;"
lacks out "tree "
expect 0 "${run[@]}" -n 1 -- sh -c 'echo "<$EVENTSPACE_TREES>"; cat "$EVENTSPACE_PLAN"'
contains out "<>"
lacks out "arrival"
expect 0 "${run[@]}" -n 1 --trees -- sh -c 'echo "<$EVENTSPACE_TREES>"' : true
contains out "<>"
contains err "no collective trees: programs after a ':' are started by the launcher"
expect 0 env EVENTSPACE_DISABLE=1 "${run[@]}" -n 1 --trees -- sh -c 'echo "<$EVENTSPACE_TREES>"'
contains out "<>"
expect 2 env EVENTSPACE_PRELOAD=/nowhere "${run[@]}" -n 1 --trees -- true
contains err "this rank lacks the library"

cat >"$folder/map.json" <<'END'
{
  "version": 1,
  "application": {"ranks": 2},
  "collectives": [
    {"name": "sums", "operations": ["allreduce"], "max_bytes": 64, "shape": "binomial"},
    {"name": "rest", "shape": "linear"}
  ]
}
END
expect 0 "$eventspace" check "$folder/map.json"
contains out "2 collective trees"
expect 0 "${run[@]}" --map "$folder/map.json" -- sh -c "$show"
contains out "tree sums operations=allreduce bytes=0-64 shape=binomial;tree rest shape=linear;end;"
contains out "collector departure"
expect 0 "${run[@]}" --map "$folder/map.json" --trees=kary:2 -- sh -c "$show"
contains out ";tree kary shape=kary;end;"
lacks out "tree sums"
unset EVENTSPACE_PRELOAD

# --- A program that goes on while its trees change

need_mpi
start()
{
    "$eventspace" run --name "$1" -n 3 "${@:2}" -- "$apps/windtunnel" \
        --rows 60 --iterations 100000000 --check-every 2 --seconds 600 \
        >"$folder/run.out" 2>"$folder/run.err" </dev/null &
    launched=$!
    await 60 sh -c "'$eventspace' list -f json '$1' | grep -q '\"size\":3'"
}

stop()
{
    kill -TERM "$launched" 2>/dev/null
    wait "$launched" 2>/dev/null
    "$eventspace" clean "$1" >/dev/null 2>&1
}

# switch WORDS... : within 20 seconds all have followed.
switch()
{
    expect 0 "${collect[@]}" --wait 15 -f json "$@" "$prefix-trees"
    json_lines_hold "o['type'] == 'tree' and o['version'] == o['wish']"
}

start "$prefix-trees" --trees=kary:2
shown() { "${collect[@]}" "$prefix-trees" | grep -q 'kary:2'; }
await 60 shown
expect 0 "${collect[@]}" "$prefix-trees"
contains out "MPI_COMM_WORLD"

switch linear
json_lines_hold "o['tree'] == 'linear' and o['rule'] == 'linear' and 'max_bytes' not in o"
switch binomial --operation allreduce,iallreduce --bytes 0-64 --comm 'MPI_COMM_W*'
contains out '"operations":["allreduce","iallreduce"],"min_bytes":0,"max_bytes":64'
contains out '"tree":"linear"'
# The same place in the list, another tree.
switch kary:3 --operation allreduce,iallreduce --bytes 0-64 --comm 'MPI_COMM_W*'
lacks out binomial
contains out '"tree":"kary:3"'
expect 0 "$eventspace" list "$prefix-trees"
contains out "MPI_COMM_WORLD: kary:3 for allreduce,iallreduce operations of 0-64 bytes"
contains out "MPI_COMM_WORLD: linear for blocking operations"

echo '{"collectives": [{"name": "mine", "shape": "explicit", "edges": [[2, 0], [2, 1]]}]}' \
    >"$folder/rules.json"
switch --file "$folder/rules.json"
json_lines_hold "o['tree'] == 'explicit:2-0,2-1' and o['rule'] == 'mine'"
echo '{"collectives": [{"name": "mine", "shape": "explicit", "edges": [[2, 0], [0, 2]]}]}' \
    >"$folder/rules.json"
expect 2 "${collect[@]}" --file "$folder/rules.json" "$prefix-trees"
contains err "rules.json:1:66: collectives[0].edges[0]"

# Two operators at once: both get a version, and one of them the last word.
"${collect[@]}" --wait 0 linear "$prefix-trees" >/dev/null &
other=$!
expect 0 "${collect[@]}" --wait 0 binomial "$prefix-trees"
wait "$other" || fault "the other operator was refused"

switch library
json_lines_hold "o['tree'] == 'library' or o['rule'] == 'mine'"
switch --clear
json_lines_hold "o['tree'] == 'kary:2'"

# Nobody follows where no collective operation is called, and that is said.
expect 0 "${collect[@]}" --wait 0 --comm nobody linear "$prefix-trees"
stop "$prefix-trees"

# --- Without --trees

start "$prefix-plain"
expect 2 "${collect[@]}" linear "$prefix-plain"
contains err ": its collective operations cannot be switched; start it with --trees"
stop "$prefix-plain"

finish
