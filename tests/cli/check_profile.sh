#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_profile.sh - profiles are the sums over all tuples; they are complete where rings have
# overwritten most; live, after the end, after a kill, of archives; and each form is sound.

. "${0%/*}/functions.sh"
need_mpi
apps=$top_builddir/apps

# profile OPTIONS... : as JSON, into $folder/out
profile()
{
    expect 0 "$eventspace" profile --format json "$@"
}

# is_so EXPRESSION : of `rows` by type, and `one`(type, member=value...) of the profile in
# $folder/out.
is_so()
{
    "${PYTHON:-python3}" - "$1" "$folder/out" <<'END'
import json, sys
rows = {}
for line in open(sys.argv[2], encoding="utf-8"):
    row = json.loads(line)
    rows.setdefault(row["type"], []).append(row)
def one(kind, **wanted):
    found = [r for r in rows.get(kind, []) if all(r[k] == v for k, v in wanted.items())]
    assert len(found) == 1, (kind, wanted, found)
    return found[0]
sys.exit(not eval(sys.argv[1], {"rows": rows, "one": one}))
END
}

# holds WHAT EXPRESSION
holds()
{
    is_so "$2" || fault "$1: $(head -c 2000 "$folder/out")"
}

# Nothing is overwritten: each operation, line and size has the sums of its tuples.
run=$prefix-whole
expect 0 "$eventspace" run -n 3 --keep --threshold 100000 --name "$run" -- \
    "$apps/stencil2d" --points 60 --iterations 40 --norm-every 5
expect 0 "$eventspace" events --sites --format json "$run"
cp "$folder/out" "$folder/events"
profile "$run"
cp "$folder/out" "$folder/profile"
"${PYTHON:-python3}" "$top_srcdir/tests/cli/profile_sums.py" "$folder/events" "$folder/profile" ||
    fault "the profile is not the sum of the tuples"

holds "shares are parts" 'all(0 <= r["share"] <= 1 for r in rows["rank"])'
holds "the parts of MPI are all of it" \
    'abs(sum(r["mpi_share"] or 0 for r in rows["operation"]) - 1) < 1e-6'
holds "MPI_Init is no part of it" 'one("operation", operation="MPI_Init")["mpi_share"] is None'
holds "all ranks have ended" 'all(r["ended"] and not r["partial"] for r in rows["rank"])'

# The same of an archive of it.
expect 0 "$eventspace" record -o "$folder/archive" "$run"
profile "$folder/archive"
"${PYTHON:-python3}" "$top_srcdir/tests/cli/profile_sums.py" "$folder/events" "$folder/out" ||
    fault "the archive's profile is not the sum of the tuples"

# What is printed for people, and the other forms.
expect 0 "$eventspace" profile "$run"
contains out "3 ranks"
contains out "MPI_Waitall"
contains out "stencil2d.c:"
contains out "Sizes:"
contains out "TO 2"
expect 0 "$eventspace" profile --show operations --sort name --limit 2 --format csv "$run"
[ "$(wc -l <"$folder/out")" -eq 3 ] || fault "two operations have other than three lines"
contains out "type,operation,class,calls,time_ns,"
profile --rank 1 --show ranks "$run"
holds "one rank only" '[r["rank"] for r in rows["rank"]] == [1] and "operation" not in rows'
for end in csv svg png; do
    "$eventspace" profile --matrix "$folder/matrix.$end" "$run" >/dev/null 2>"$folder/err" ||
        grep -q 'built without libpng' "$folder/err" || fault "no matrix.$end: $(cat "$folder/err")"
done
[ "$(head -n 1 "$folder/matrix.csv" | tr -d '\r')" = from,to,messages,bytes ] || fault "the matrix as CSV"
"${PYTHON:-python3}" -c 'import sys, xml.dom.minidom as x; d = x.parse(sys.argv[1])
sys.exit(len(d.getElementsByTagName("rect")) < 6)' "$folder/matrix.svg" || fault "the matrix as SVG"
[ ! -e "$folder/matrix.png" ] || [ "$(head -c 4 "$folder/matrix.png" | tail -c 3)" = PNG ] ||
    fault "the matrix as PNG"

# What cannot be.
expect 2 "$eventspace" profile --format csv "$run"
contains err "--show"
expect 2 "$eventspace" profile --matrix picture.gif "$run"
expect 2 "$eventspace" profile --show lines "$run"
expect 2 "$eventspace" profile --rank 3-1 "$run"
expect 2 "$eventspace" profile --rank 17 "$run"
contains err "none of these ranks"
expect 2 "$eventspace" profile --follow "$folder/archive"

# An archive of an older version.
rm "$folder/archive/.eventspace/profiles.jsonl"
expect 2 "$eventspace" profile "$folder/archive"
contains err "has no profile"
[ "$(wc -l <"$folder/err")" -eq 1 ] || fault "more than a line: $(cat "$folder/err")"
# One that is broken.
echo '{"process":0,"rows":[[1]]}' >"$folder/archive/.eventspace/profiles.jsonl"
expect 2 "$eventspace" profile "$folder/archive"
contains err "row 0"

# Rings of 16 tuples: the profile counts all the same, what rings do not hold.
run=$prefix-small
expect 0 "$eventspace" run -n 2 --keep --threshold 16 --name "$run" -- "$apps/ring" --rounds 500
profile "$run"
holds "all is counted" 'one("operation", operation="MPI_Send")["calls"] >= 1000'
holds "and sent" 'one("messages", **{"from": 0, "to": 1})["messages"] >= 500'
expect 0 "$eventspace" events --format json "$run"
[ "$(grep -c '"operation":"MPI_Send"' "$folder/out")" -lt 200 ] ||
    fault "rings have kept more than they should"

# Without ledgers there is none.
run=$prefix-none
expect 0 env EVENTSPACE_LEDGER=off "$eventspace" run -n 2 --keep --name "$run" -- \
    "$apps/ring" --rounds 3
expect 2 "$eventspace" profile "$run"
contains err "has no profile"

# A run that goes on, in two looks; then it is killed, and its profile stays.
run=$prefix-live
"$eventspace" run -n 2 --name "$run" -- "$apps/ring" --rounds 100000000 >"$folder/live" 2>&1 \
    </dev/null &
live=$!
sends()
{
    "$eventspace" profile --format json --show operations "$run" 2>/dev/null |
        sed -n 's/.*"operation":"MPI_Send".*"calls":\([0-9]*\).*/\1/p'
}
has_sent()
{
    local now
    now=$(sends)
    [ "${now:-0}" -gt "$1" ]
}
await 30 has_sent 0 || fault "nothing is sent: $(cat "$folder/live")"
before=$(sends)
await 30 has_sent "$before" || fault "the profile does not grow"
profile "$run"
holds "it has not ended" 'not any(r["ended"] for r in rows["rank"])'
holds "shares are parts while it runs" 'all(0 < r["share"] <= 1 for r in rows["rank"])'
# Of a run that is over following ends at once.
expect 0 "$eventspace" profile --follow --interval 0.2 --show ranks --limit 1 \
    "$prefix-small"
kill $live
wait $live 2>/dev/null
profile "$run"
holds "it outlives the processes" 'one("operation", operation="MPI_Send")["calls"] > 0'
holds "shares of the dead are parts" 'all(0 <= r["share"] <= 1 for r in rows["rank"])'

# A rank that hangs in a call is in MPI all the time.
run=$prefix-hang
"$eventspace" run -n 3 --name "$run" -- "$apps/hang" receive-cycle >"$folder/hang" 2>&1 \
    </dev/null &
hang=$!
is_all_in_mpi()
{
    "$eventspace" profile --format json --show operations "$run" >"$folder/out" 2>/dev/null &&
        is_so 'one("operation", operation="MPI_Recv")["open_ns"] > 5e8' 2>/dev/null
}
await 60 is_all_in_mpi || fault "no call under way: $(cat "$folder/out" "$folder/hang")"
kill $hang
wait $hang 2>/dev/null
finish
