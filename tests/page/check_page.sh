#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_page.sh - `eventspace view` serves the page of an archive, of a live run, and of a
# run that hangs.

. "${0%/*}/../cli/functions.sh"
here=$(cd "${0%/*}" && pwd)
EVENTSPACE_PATTERNS=$top_srcdir/share/patterns
export EVENTSPACE_PATTERNS

expect 2 "$eventspace" view "$prefix-nowhere"
expect 2 "$eventspace" view --port 1 --socket "$folder/s" "$prefix-nowhere"
contains err "--port and --socket"
expect 2 "$eventspace" view --port 65536 "$prefix-nowhere"
need_mpi

launch_options=

# Whether `why` finds the run; its status is 1 if it already reports a finding.
is_known()
{
    "$eventspace" why "$prefix-$1" --format json
    [ $? -le 1 ]
}

# run_program NAME N PROGRAM... - starts a named run in the background, with
# $launch_options.
run_program()
{
    local name=$1 ranks=$2
    shift 2
    "$eventspace" run $launch_options -n "$ranks" --name "$prefix-$name" -- "$@" >"$folder/$name" 2>&1 \
        </dev/null &
    await 20 is_known "$name"
    await 20 [ -d "$EVENTSPACE_DIR/$prefix-$name" ]
}

timeout -k 5 60 "$eventspace" run -n 3 --name "$prefix-page" \
    --record "$folder/page.rec" -- "$top_builddir/apps/imbalance" --ranks-late 2 \
    --late-us 5000 --sleep --iterations 20 >"$folder/program" 2>"$folder/err" </dev/null ||
    fault "imbalance: $(cat "$folder/program" "$folder/err")"

timeout -k 5 60 "$eventspace" run -n 4 --name "$prefix-tree" --trees=kary:2 \
    --record "$folder/trees.rec" -- "$top_builddir/apps/imbalance" --ranks-late 3 \
    --late-us 2000 --sleep --iterations 20 >"$folder/program" 2>"$folder/err" </dev/null ||
    fault "imbalance: $(cat "$folder/program" "$folder/err")"

if ! grep -q 'define HAVE_MICROHTTPD 1' "$top_builddir/config.h"; then
    expect 2 "$eventspace" view "$folder/page.rec"
    contains err "built without libmicrohttpd"
    finish
fi
"${PYTHON:-python3}" "$here/check_archive.py" "$folder/page.rec" "$folder/trees.rec" ||
    fault "archive"
"${PYTHON:-python3}" "$here/check_kept.py" "$folder/page.rec" || fault "kept sums"

# The map that is generated for a run, with another name of the cluster.
"$eventspace" map -n 2 | sed 's/"default"/"lab"/' >"$folder/lab.json"
launch_options="--map $folder/lab.json"
run_program live 2 "$top_builddir/apps/imbalance" --sleep --ranks-late 1 --late-us 2000 \
    --iterations 1000000
"${PYTHON:-python3}" "$here/check_run.py" live "$prefix-live" "$!" || fault "live run"
wait
launch_options=
run_program hang 2 "$top_builddir/apps/hang" receive-cycle --seconds 0
"${PYTHON:-python3}" "$here/check_run.py" hang "$prefix-hang" "$!" || fault "hung run"
wait
launch_options=--trees=kary:2
run_program trees 4 "$top_builddir/apps/imbalance" --sleep --ranks-late 3 --late-us 2000 \
    --iterations 1000000
"${PYTHON:-python3}" "$here/check_run.py" trees "$prefix-trees" "$!" ||
    fault "run with trees"
wait
! ls "$EVENTSPACE_DIR"/view-* 2>/dev/null || fault "sockets are left over"

finish
