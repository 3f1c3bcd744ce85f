#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_time.sh - what `eventspace time` takes and prints; what it finds is tested in
# tests/delay.

. "${0%/*}/functions.sh"
need_mpi

timeout -k 5 60 "$eventspace" run -n 3 --name "$prefix-time" --keep \
    --record "$folder/time.rec" -- "$top_builddir/apps/imbalance" --ranks-late 2 \
    --late-us 5000 --sleep --iterations 20 >"$folder/program" 2>"$folder/err" </dev/null ||
    fault "imbalance: $(cat "$folder/program" "$folder/err")"

# All tables, of the archive and of the run.
for source in "$folder/time.rec" "$prefix-time"; do
    expect 0 "$eventspace" time "$source"
    contains out "3 threads in "
    contains out "critical path "
    for heading in '^RANK  *CALLS' '^OPERATION ' '^COMMUNICATOR ' '^LINE '; do
        grep -q "$heading" "$folder/out" || fault "no $heading of $source"
    done
    contains out "imbalance.c:"
done

# --by: these tables only, and --top.
expect 0 "$eventspace" time --by rank "$folder/time.rec"
lacks err "the recording ended"
contains out "RANK "
lacks out "COMMUNICATOR "
expect 0 "$eventspace" time --by operation --by communicator "$folder/time.rec"
contains out "MPI_COMM_WORLD"
contains out "MPI_Allreduce"
! grep -q '^RANK ' "$folder/out" || fault "a table of ranks: $(cat "$folder/out")"
expect 0 "$eventspace" time --by rank --top 1 --format csv "$folder/time.rec"
[ "$(wc -l <"$folder/out")" -eq 2 ] || fault "not one row: $(cat "$folder/out")"
expect 0 "$eventspace" time --by rank --top 0 --format csv "$folder/time.rec"
[ "$(wc -l <"$folder/out")" -eq 4 ] || fault "not all rows: $(cat "$folder/out")"

# CSV of each table has the names of JSON in its first line, and as many columns in all.
for group in rank operation communicator line kind; do
    expect 0 "$eventspace" time --by "$group" --format csv "$folder/time.rec"
    case $(head -n 1 "$folder/out") in
        "$group,"*waited_ns*) ;;
        *) fault "first line by $group: $(head -n 1 "$folder/out")" ;;
    esac
    "${PYTHON:-python3}" - "$folder/out" <<'END' || fault "CSV by $group: $(cat "$folder/out")"
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8", newline="")))
sys.exit(len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows))
END
done

# JSON Lines: the rows of --by, causes and totals.
expect 0 "$eventspace" time --by rank --format json "$folder/time.rec"
json_lines_hold 'o["type"] in ("rank", "cause", "totals")'
json_lines_hold 'o["type"] != "rank" or all(name in o for name in
    ("rank", "waited_ns", "caused_ns", "critical_ns", "computed_ns"))'
[ "$(grep -c '"type":"rank"' "$folder/out")" -eq 3 ] || fault "not three ranks"
[ "$(grep -c '"type":"totals"' "$folder/out")" -eq 1 ] || fault "not one line of totals"

# A small window costs no sums.
expect 0 "$eventspace" time --window 16 --format json "$folder/time.rec"
"${PYTHON:-python3}" "$top_srcdir/tests/delay/planted.py" sums "$folder/out" ||
    fault "window of 16 calls: $(cat "$folder/out")"

# What has ended is read to its end with --follow, too.
expect 0 "$eventspace" time --follow --format json "$prefix-time"
[ "$(grep -c '"type":"totals"' "$folder/out")" -ge 1 ] || fault "followed: no totals"

# Rings that hold the last operations only, of some classes fewer than of others, and an
# archive of them: what is missing is no computing.
timeout -k 5 60 "$eventspace" run -n 2 --name "$prefix-old" --keep --threshold 16 -- \
    "$top_builddir/apps/ring" --rounds 500 >"$folder/program" 2>"$folder/err" </dev/null ||
    fault "ring: $(cat "$folder/program" "$folder/err")"
expect 0 "$eventspace" record --output "$folder/old.rec" "$prefix-old"
for source in "$prefix-old" "$folder/old.rec"; do
    expect 0 "$eventspace" time "$source"
    head -n 1 "$folder/out" | grep -q '^the last .* of .*: earlier operations were overwritten' ||
        fault "$source: not said first: $(head -n 1 "$folder/out")"
    expect 0 "$eventspace" time --by rank --format json "$source"
    "${PYTHON:-python3}" - "$folder/out" <<'END' || fault "$source: $(cat "$folder/out")"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
totals = lines[-1]
assert totals["seen_ns"] < totals["run_ns"], "all is seen"
for rank in (line for line in lines if line["type"] == "rank"):
    spent = rank["computed_ns"] + rank["waited_ns"] + rank["called_ns"]
    assert spent <= totals["seen_ns"] + 1000, (rank["rank"], spent)
END
done
expect 0 "$eventspace" time --format json "$folder/time.rec"
json_lines_hold 'o["type"] != "totals" or o["seen_ns"] == o["run_ns"]'

# Waits that have not ended count up to now, and of a dead run up to its end.
"$eventspace" run -n 3 --name "$prefix-hang" --keep -- "$top_builddir/apps/hang" \
    receive-cycle --seconds 0 >"$folder/program" 2>"$folder/err" </dev/null &
job=$!
open_waits() # prints number and longest of the waits that have not ended
{
    "$eventspace" time --by rank --format json "$prefix-hang" 2>/dev/null |
        "${PYTHON:-python3}" -c 'import json, sys
totals = json.loads(sys.stdin.readlines()[-1])
assert totals["waited_ns"] >= totals["open_ns"] >= totals["open_longest_ns"]
print(totals["open"], totals["open_longest_ns"])'
}
wait_on()
{
    set -- $(open_waits)
    [ "${1:-0}" -eq 3 ] && [ "$2" -gt 1000000000 ]
}
await 30 wait_on
expect 0 "$eventspace" time "$prefix-hang"
contains out "3 waits have not ended, the longest of "
contains out "not over"
"$eventspace" time --follow --interval 500ms --format json "$prefix-hang" \
    >"$folder/followed" 2>"$folder/err" &
follower=$!
await 20 grep -q '"type":"totals".*"open":3,' "$folder/followed"
kill -TERM $job
wait $job
wait $follower || fault "following a run that is killed fails: $(cat "$folder/err")"
ended=$(open_waits)
[ "$ended" = "$(open_waits)" ] || fault "waits of a dead run grow"
[ "${ended%% *}" = 3 ] || fault "no waits of a dead run: $ended"

# Wrong arguments.
expect 2 "$eventspace" time --by nonsense "$folder/time.rec"
contains err "nonsense"
expect 2 "$eventspace" time --format nonsense "$folder/time.rec"
expect 2 "$eventspace" time --top -1 "$folder/time.rec"
expect 2 "$eventspace" time --interval 1us --follow "$prefix-time"
expect 2 "$eventspace" time "$folder/time.rec" "$folder/time.rec"
expect 2 "$eventspace" time "$folder/nowhere.rec"
expect 2 "$eventspace" time "$prefix-nobody"
# An event set has no calls.
expect 0 "$eventspace" export --to event-set -o "$folder/set.jsonl" \
    "$folder/time.rec"
expect 2 "$eventspace" time "$folder/set.jsonl"
contains err "is an event set"
: >"$folder/empty.jsonl"
expect 2 "$eventspace" time "$folder/empty.jsonl"

finish
