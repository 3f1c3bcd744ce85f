#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_otf2.sh - OTF2 archives: those of real runs are read with OTF2's own tools and
# compared event by event, and imported again. Also an archive of another tool, and
# damaged ones.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
tools=${0%/*}

printf '{"format": "eventspace-events", "version": 1, "traces": ["a"]}\n' >"$folder/set.jsonl"
if ! grep -q '^#define HAVE_OTF2 1' "$top_builddir/config.h"; then
    expect 2 "$eventspace" import --from otf2 "$folder/none.otf2" -o -
    contains err "built without OTF2"
    [ "$faults" -eq 0 ] || exit 1
    echo "built without OTF2"
    exit 77
fi

# Wrong arguments.
expect 2 "$eventspace" export "$folder/set.jsonl" --to otf2 -o "$folder/new"
contains err "is an event set"
expect 2 "$eventspace" export "$folder/set.jsonl" --to otf2
contains err "needs -o"
expect 2 "$eventspace" export "$folder/set.jsonl" --to otf2 -o "$folder/new" --limit 3
contains err "--limit"
expect 2 "$eventspace" import "$folder/none.otf2" -o -
contains err "none.otf2"
[ "$(wc -l <"$folder/err")" -eq 1 ] || fault "more than one line: $(cat "$folder/err")"

# Debian's module needs Debian's Python.
for python in "${PYTHON:-python3}" /usr/bin/python3 none; do
    "$python" -c 'import otf2' 2>/dev/null && break
done
[ "$python" != none ] && command -v otf2-print >/dev/null || {
    [ "$faults" -eq 0 ] || exit 1
    echo "there is no otf2-print or no Python module otf2"
    exit 77
}

# The trace of another tool: its messages and collective operations are matched.
"$python" "$tools/otf2_foreign.py" write "$folder/foreign" || fault "cannot write a trace"
expect 0 "$eventspace" import "$folder/foreign/traces.otf2" -o "$folder/foreign.jsonl"
contains err "8 of 102 records are not imported"
"$python" "$tools/otf2_foreign.py" check "$folder/foreign.jsonl" ||
    fault "another tool's trace has other matches"

# Its folder names it, too, and a folder without an anchor file is not one.
expect 0 "$eventspace" import "$folder/foreign" -o "$folder/same.jsonl"
cmp -s "$folder/foreign.jsonl" "$folder/same.jsonl" || fault "the folder is read otherwise"
expect 0 "$eventspace" import --from otf2 "$folder/foreign/" -o "$folder/same.jsonl"
expect 2 "$eventspace" import "$folder/foreign/traces" -o "$folder/same.jsonl"

# A trace without MPI.
"$python" "$tools/otf2_foreign.py" functions "$folder/functions" || fault "cannot write a trace"
expect 2 "$eventspace" import "$folder/functions" -o "$folder/functions.jsonl"
contains err "none of its 4 records is of MPI"
[ ! -e "$folder/functions.jsonl" ] || fault "an empty set is left"

# An anchor file that claims to have a thousand million properties.
cp -r "$folder/foreign" "$folder/claims"
printf '\377' | dd of="$folder/claims/traces.otf2" bs=1 seek=46 conv=notrunc 2>/dev/null
expect 2 prlimit --data=1000000000 "$eventspace" import "$folder/claims" -o "$folder/claims.jsonl"
contains err "no room for"

# damaged FILE - without the file, or with half of it, the archive causes one error.
damaged()
{
    local way
    for way in half none; do
        rm -rf "$folder/damaged"
        cp -r "$folder/foreign" "$folder/damaged"
        case $way in
        none) rm "$folder/damaged/$1" ;;
        half) truncate -s $(($(stat -c %s "$folder/damaged/$1") / 2)) "$folder/damaged/$1" ;;
        esac
        expect 2 "$eventspace" import "$folder/damaged/traces.otf2" -o "$folder/damaged.jsonl"
        is_empty out
        [ "$(wc -l <"$folder/err")" -eq 1 ] || fault "$1, $way: $(cat "$folder/err")"
        [ ! -e "$folder/damaged.jsonl" ] || fault "$1, $way: a set is left"
    done
}
damaged traces.otf2
damaged traces.def
damaged "traces/$(basename "$(find "$folder/foreign/traces" -name '*.evt' | sort | head -1)")"

# compare_run NAME [--map MAP] PROGRAM [ARGUMENT...] - records a run of four ranks, and
# compares its OTF2 archive, and what is imported from it, event by event.
compare_run()
{
    local name=$1 archive=$folder/$1.otf2
    shift
    expect 0 "$eventspace" run --name "$prefix-$name" --record "$folder/$name" -n 4 "$@"
    expect 0 "$eventspace" export "$folder/$name" --to otf2 -o "$archive"
    is_empty out
    expect 2 "$eventspace" export "$folder/$name" --to otf2 -o "$archive"
    contains err "already exists"
    expect 0 "$eventspace" export "$folder/$name" --to csv -o "$folder/$name.csv"
    for what in "-C" "-G" ""; do
        expect 0 otf2-print $what "$archive/traces.otf2"
        ! grep -iE 'invalid|unknown|warning' "$folder/out" "$folder/err" ||
            fault "$name: otf2-print $what complains"
    done
    "$python" "$tools/otf2_compare.py" archive "$archive/traces.otf2" "$folder/$name.csv" \
        >"$folder/out" || fault "$name: $(cat "$folder/out")"
    expect 0 "$eventspace" import "$archive/traces.otf2" -o "$folder/$name.jsonl"
    is_empty err
    expect 0 "$eventspace" export "$folder/$name.jsonl" --to csv -o "$folder/back.csv"
    "$python" "$tools/otf2_compare.py" back "$folder/$name.csv" "$folder/back.csv" \
        >"$folder/out" || fault "$name comes back otherwise: $(cat "$folder/out")"
}

# The rest needs an MPI.
[ "$faults" -eq 0 ] || exit 1
need_mpi
apps=$top_builddir/apps
compare_run stencil "$apps/stencil2d" --points 20 --iterations 5 --norm-every 2
expect 0 otf2-print -G "$folder/stencil.otf2/traces.otf2"
contains out 'Parent: "MPI_COMM_WORLD"'
expect 0 otf2-print "$folder/stencil.otf2/traces.otf2"
contains out MPI_ISEND_COMPLETE
compare_run threads "$apps/threads" --rounds 3
compare_run ring "$apps/ring" --rounds 3
# Unsuccessful polls have tuples only if the map asks for them.
"$eventspace" map -n 4 | sed 's/"polls": false/"polls": true/' >"$folder/map.json"
compare_run calls --map "$folder/map.json" \
    "$top_builddir/tests/mpi/otf2_calls" windows collectives requests polls
expect 0 otf2-print "$folder/calls.otf2/traces.otf2"
contains out MPI_REQUEST_TEST
contains out RMA_GROUP_SYNC
# The completions of all sends are known, also with requests of MPI_PROC_NULL, and of
# MPI_Isendrecv.
[ "$(grep -c '^MPI_ISEND ' "$folder/out")" -eq "$(grep -c '^MPI_ISEND_COMPLETE ' "$folder/out")" ] ||
    fault "not all sends are complete"

# The same program, recorded by EZTrace.  Debian's package (eztrace 2.0) works with
# MPICH 4.0 and Open MPI 4.1.  It does not record the completion of requests, messages
# of MPI_Sendrecv and nonblocking collective operations, so the program uses blocking
# calls.  Its definitions have two groups with the same number, and a number of events
# that is too small.
check_eztrace()
{
    local archive=$folder/eztrace/otf2_calls_trace/eztrace_log.otf2
    expect 0 "$eventspace" run --name "$prefix-blocking" --record "$folder/blocking" -n 3 "$@"
    expect 0 "$eventspace" export "$folder/blocking" --to csv -o "$folder/blocking.csv"
    expect 0 "$MPIEXEC" -n 3 eztrace -t "$ES_MPI" -o "$folder/eztrace" "$@"
    expect 0 "$eventspace" import "$archive" -o "$folder/eztrace.jsonl"
    expect 0 "$eventspace" export "$folder/eztrace.jsonl" --to csv -o "$folder/eztrace.csv"
    "$python" "$tools/otf2_compare.py" matches "$folder/blocking.csv" "$folder/eztrace.csv" \
        >"$folder/out" || fault "EZTrace has other matches: $(cat "$folder/out")"
}
! eztrace_avail 2>/dev/null | grep -q "^${ES_MPI:=mpich}" ||
    check_eztrace "$top_builddir/tests/mpi/otf2_calls" blocking

# One rank only.
expect 2 "$eventspace" export "$folder/ring" --to otf2 --rank 9 -o "$folder/one"
contains err "no event is of these ranks"
expect 0 "$eventspace" export "$folder/ring" --to otf2 --rank 1 -o "$folder/one"
expect 0 otf2-print "$folder/one/traces.otf2"
grep -q '^MPI_SEND  *1 ' "$folder/out" || fault "--rank 1 leaves rank 1 out"
! grep -q '^MPI_SEND  *2 ' "$folder/out" || fault "--rank 1 takes rank 2"

[ "$faults" -eq 0 ]
