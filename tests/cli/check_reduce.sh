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

# Summaries of every kind count all operations; --set and --shape come behind.
all_are_counted()
{
    local kind by

    for kind in count sum minimum maximum mean histogram; do
        for by in none operation origin thread rank host; do
            expect 0 "$eventspace" events --format json \
                --reduce "$kind of=duration by=$by" "$@" "$run"
            grep '"summary"' "$folder/out" >"$folder/rows"
            [ "$(json_sum count <"$folder/rows")" = 200 ] ||
                fault "$kind by $by $*: $(cat "$folder/out")"
            json_lines_hold "o['type'] == 'end' or (o['kind'] == '$kind' and
                o['of'] == 'duration' and o['by'] == '$by' and
                o['first_ns'] <= o['last_ns'] and
                (o['sum'] is not None) == ('$kind' in ('sum', 'mean', 'histogram')) and
                (o['bucket'] is not None) == ('$kind' == 'histogram') and
                (o['rank'] is not None) == ('$by' in ('origin', 'thread', 'rank')) and
                (o['element'] is not None) == ('$by' == 'origin') and
                (o['operation'] is not None) == ('$by' == 'operation'))"
        done
    done
}

json_sum()
{
    python3 -c 'import json, sys
print(sum(json.loads(line)[sys.argv[1]] for line in sys.stdin))' "$1"
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
python3 - "$folder/out" <<'END' || fault "no table: $(cat "$folder/out")"
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
contains err 'property "of" is "byts"'
expect 2 "$eventspace" events --reduce "sume" "$run"
expect 2 "$eventspace" events --shape hots "$run"
contains err "hots"
expect 2 "$eventspace" events --set shape "$run"
contains err "SETTING=VALUE"
expect 2 "$eventspace" heartbeat --once --set reduce=count "$run"
contains err "latest of each thread"

finish
