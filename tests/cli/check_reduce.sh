#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_reduce.sh - events are summed up as they are gathered, here and through a tuple
# server, and trees are chosen at the start.

. "${0%/*}/functions.sh"
run=$prefix-reduce
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# Two ranks with two elements of 50 operations each.
"$helpers/make_segments" "$run" 2 50 live >"$folder/maker" &
await 10 grep -q ready "$folder/maker"

# Summaries of every kind count all operations; --set and --shape come behind. One judge
# reads all of them: a line with kind and fields stands before each.
all_are_counted()
{
    local kind by

    for kind in count sum minimum maximum mean histogram; do
        for by in none operation origin thread rank host; do
            expect 0 "$eventspace" events --format json \
                --reduce "$kind of=duration by=$by" "$@" "$run"
            echo "{\"judge\": [\"$kind\", \"$by\"]}"
            cat "$folder/out"
        done
    done >"$folder/summaries"
    grep '^fault: ' "$folder/summaries"
    "${PYTHON:-python3}" - "$folder/summaries" <<'END' || fault "$*: not all are counted"
import json, sys

def holds(o, kind, by):
    return (
        o["kind"] == kind and o["of"] == "duration" and o["by"] == by
        and o["first_ns"] <= o["last_ns"]
        and (o["sum"] is not None) == (kind in ("sum", "mean", "histogram"))
        and (o["bucket"] is not None) == (kind == "histogram")
        and (o["rank"] is not None) == (by in ("origin", "thread", "rank"))
        and (o["element"] is not None) == (by == "origin")
        and (o["operation"] is not None) == (by == "operation"))

asked, counted = [], []
for line in open(sys.argv[1], encoding="utf-8"):
    if line.startswith("fault: "):
        continue
    o = json.loads(line)
    if "judge" in o:
        asked.append(o["judge"])
        counted.append(0)
    elif o["type"] == "summary":
        assert holds(o, *asked[-1]), (asked[-1], o)
        counted[-1] += o["count"]
    else:
        assert o["type"] == "end", o
assert len(asked) == 36, len(asked)
for kind, count in zip(asked, counted):
    assert count == 200, (kind, count)
END
}

all_are_counted
all_are_counted --shape flat --set max=2

# One line for each group, in words and as CSV.
expect 0 "$eventspace" events --reduce "count by=rank" "$run"
contains out "100  rank 0"
contains out "100  rank 1"
expect 0 "$eventspace" events --reduce "histogram of=bytes by=operation" "$run"
contains out "MPI_Send: bytes "
expect 0 "$eventspace" events --reduce "mean of=bytes by=thread" --format csv "$run"
"${PYTHON:-python3}" - "$folder/out" <<'END' || fault "no table: $(cat "$folder/out")"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [row["type"] for row in rows] == ["summary", "summary", "end"], rows
assert all(None not in row and None not in row.values() for row in rows), rows
assert [row["count"] for row in rows] == ["100", "100", ""], rows
assert rows[-1]["lost"] == "0", rows
END

# What leaves tuples as they are gives events.
expect 0 "$eventspace" events --reduce latest --format json "$run"
json_lines_hold "o['type'] in ('event', 'end')"
[ "$(grep -c '"event"' "$folder/out")" = 2 ] || fault "not one a thread"

# Through a tuple server, and on.
"$top_builddir/cli/eventspaced" --run "$run" --foreground >"$folder/server" 2>&1 &
await 10 "$eventspace" scope list "$run"
all_are_counted --set through-server=yes --set ahead=2
timeout 20 "$eventspace" events --follow --reduce "count by=none" "$run" \
    >"$folder/followed" &
await 10 grep -q "200  all" "$folder/followed" ||
    fault "not followed: $(cat "$folder/followed")"
expect 0 "$eventspace" heartbeat --once --shape hosts --set through-server=yes "$run"
contains out "computing"

expect 2 "$eventspace" events --reduce "sum of=byts" "$run"
contains err "property 'of' is 'byts'"
expect 2 "$eventspace" events --reduce "sume" "$run"
expect 2 "$eventspace" events --shape hots "$run"
contains err "hots"
expect 2 "$eventspace" events --set shape "$run"
contains err "SETTING=VALUE"
expect 2 "$eventspace" heartbeat --once --set reduce=count "$run"
contains err "latest event of each thread"

finish
