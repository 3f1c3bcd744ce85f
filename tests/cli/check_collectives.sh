#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_collectives.sh - the collective-operation monitor names the rank that is late and
# what that costs, in live runs and in what runs have left.

. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

late=$top_builddir/apps/imbalance

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# leaves NAME OPTION... : a run of imbalance on four ranks whose segments stay; what it
# says itself is in $folder/NAME.
leaves()
{
    local name=$1
    shift
    timeout -k 5 60 "$eventspace" run -n 4 \
        --name "$prefix-$name" --keep -- "$late" "$@" \
        >"$folder/$name" 2>"$folder/err" </dev/null ||
        fault "$name: $(cat "$folder/$name" "$folder/err")"
}

# holds EXPRESSION NAME : of the lines of out: `rank[r]`, `operation[o]` and `summary` are
# the lines of these types, `late[r]` what imbalance measured of itself, in ns.
holds()
{
    "${PYTHON:-python3}" - "$1" "$folder/out" "$folder/$2" <<'END' || fault "$2: not $1: $(cat "$folder/out")"
import json, re, sys
lines = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
names = {"lines": lines,
         "rank": {o["rank"]: o for o in lines if o["type"] == "rank"},
         "operation": {o["operation"]: o for o in lines if o["type"] == "operation"},
         "instances": [o for o in lines if o["type"] == "instance"],
         "summary": [o for o in lines if o["type"] == "summary"][-1],
         "late": {int(r): float(s) * 1e9 for r, s in
                  re.findall(r"rank (\d+): late by (\S+) s", open(sys.argv[3]).read())}}
sys.exit(not eval("(" + sys.argv[1] + ")", names))
END
}

# What the rings no longer hold is no part of a report, which says so first.
expect 0 "$eventspace" run -n 2 --keep --threshold 100 --name "$prefix-ring" -- "$late" \
    --operation barrier --iterations 400
expect 0 "$eventspace" collectives "$prefix-ring"
head -n 1 "$folder/out" | grep -q "^the last .* of .*: earlier operations were overwritten" ||
    fault "what is seen: $(cat "$folder/out")"
expect 0 "$eventspace" collectives --format json "$prefix-ring"
holds '0 < summary["seen_ns"] < summary["run_ns"] and summary["overwritten_before"] > 0' out

# One rank is late by 20 ms each time: it is named, and what it did between the
# operations is the truth it tells (but for what came before the first).
leaves late --ranks-late 2 --late-us 20000 --iterations 40 --sleep
expect 0 "$eventspace" collectives --format json "$prefix-late"
holds 'operation["MPI_Allreduce"]["count"] == 40 and summary["culprit"] == 2' late
holds 'summary["incomplete"] == summary["lost_tuples"] == summary["impossible"] == 0' late
holds 'summary["seen_ns"] == summary["run_ns"]' late
holds 'rank[2]["last"] >= 36 and rank[2]["blamed"] >= 36' late
holds '0.85 < rank[2]["work_ns"] / (late[2] * 39 / 40) < 1.15' late
# Three others wait for it, each as long as it is late, less what it was ahead of them.
holds '0.75 < rank[2]["debt_ns"] / (3 * late[2]) < 1.25' late
holds 'summary["lost_ns"] >= rank[2]["debt_ns"]' late
holds 'operation["MPI_Allreduce"]["imbalance"]["mean"] > 2' late
holds 'all(rank[r]["wait_ns"] > 0.7 * late[2] for r in (0, 1, 3))' late
expect 0 "$eventspace" collectives "$prefix-late"
contains out "rank 2 on "
contains out "of 40 MPI_Allreduce on MPI_COMM_WORLD; the others lost"
if grep -q '^#define HAVE_LIBDW 1' "$top_builddir/config.h"; then
    line=$(sed -n '/ MPI_Allreduce(/=' "$top_srcdir/apps/imbalance.c")
    contains out "called at imbalance.c:$line in operate()"
fi
contains out "40 operations in"
expect 1 "$eventspace" collectives --blame-over 20 "$prefix-late"
expect 0 "$eventspace" collectives --blame-over 99 "$prefix-late"

# What is left out.
expect 0 "$eventspace" collectives --format json --operation barrier,MPI_Bcast \
    "$prefix-late"
holds 'len(lines) == 1 and summary["operations"] == 0 and summary["complete"] == 40' late
expect 0 "$eventspace" collectives --format json --comm 'MPI_COMM_SELF' "$prefix-late"
holds 'summary["operations"] == 0' late
expect 0 "$eventspace" collectives --format json --comm '*WORLD' --since 200ms \
    "$prefix-late"
holds '1 <= summary["operations"] < 40' late
expect 0 "$eventspace" collectives --format json --instances --operation allreduce \
    "$prefix-late"
holds 'len(instances) == 40 and {o["instance"] for o in instances} == set(range(40))' late
holds 'all(o["known"] == 4 and len(o["arrivals"]) == 4 for o in instances)' late
holds 'all(o["lost_ns"] == sum(a["wait_ns"] for a in o["arrivals"]) for o in instances)' \
    late
holds 'sum(o["culprit"] == 2 for o in instances) >= 36' late

# The root of a broadcast is waited for, another member is not.
leaves root --operation bcast --root 1 --ranks-late 1 --late-us 20000 --iterations 30 \
    --sleep --bytes 1000
expect 0 "$eventspace" collectives --format json "$prefix-root"
holds 'summary["culprit"] == 1 and rank[1]["blamed"] >= 26' root
holds '0.75 < rank[1]["debt_ns"] / (3 * late[1]) < 1.25' root
expect 0 "$eventspace" collectives "$prefix-root"
contains out "rank 1 on "
contains out " is the root that the others wait for in "
! grep -q "arrives last" "$folder/out" || fault "a root arrives last: $(cat "$folder/out")"
leaves other --operation bcast --root 1 --ranks-late 3 --late-us 20000 --iterations 20 \
    --sleep
expect 0 "$eventspace" collectives --format json "$prefix-other"
holds 'rank[3]["debt_ns"] == 0 and rank[3]["last"] >= 10' other

# The root of a reduction waits for the last of the others; that has a sentence of its own.
leaves reduce --operation reduce --ranks-late 2 --late-us 20000 --iterations 20 --sleep
expect 0 "$eventspace" collectives "$prefix-reduce"
contains out "the root waits for rank 2 on "
contains out "20 MPI_Reduce on MPI_COMM_WORLD; the root lost"

# Of nonblocking forms no waits are told.
leaves nonblocking --operation iallreduce --ranks-late 0 --late-us 10000 --iterations 20 \
    --sleep
expect 0 "$eventspace" collectives --format json "$prefix-nonblocking"
holds 'operation["MPI_Iallreduce"]["count"] == 20 and summary["lost_ns"] == 0' nonblocking
holds 'rank[0]["last"] >= 16 and summary["culprit"] is None' nonblocking

# What goes through instrumented trees stands apart, and internal nodes tell of themselves.
if "$eventspace" run --help | grep -q -- --trees; then
    timeout -k 5 60 "$eventspace" run -n 4 --trees=kary:2 \
        --name "$prefix-tree" --keep -- "$late" --ranks-late 3 --late-us 10000 --sleep \
        --iterations 30 >"$folder/tree" 2>"$folder/err" </dev/null ||
        fault "tree: $(cat "$folder/tree" "$folder/err")"
    expect 0 "$eventspace" collectives --nodes --format json "$prefix-tree"
    holds 'operation["MPI_Allreduce"]["tree"] and summary["culprit"] == 3' tree
    # 1 and 2 hang under 0, 3 under 1: who waits for 3 is 1, and 0 for 1.
    holds 'any(o["type"] == "node" and o["rank"] == 1 and o["count"] == 30 and
        o["children"][-1]["member"] == 3 and
        o["wait_ns"]["sum"] > 0.6 * late[3] for o in lines)' tree
    expect 0 "$eventspace" collectives --nodes "$prefix-tree"
    contains out "LAST CHILD"
    # The monitor's own map, printed, and given back.
    expect 0 "$eventspace" collectives --print-map "$prefix-tree"
    cp "$folder/out" "$folder/mine.json"
    contains out '"contributions"'
    expect 0 "$eventspace" collectives --map "$folder/mine.json" --format json \
        "$prefix-tree"
    holds 'operation["MPI_Allreduce"]["tree"] and
        operation["MPI_Allreduce"]["count"] == 30' tree
    holds 'any(o["type"] == "node" and o["count"] == 30 for o in lines)' tree
    echo '{"version": 1}' >"$folder/other.json"
    expect 2 "$eventspace" collectives --map "$folder/other.json" "$prefix-tree"
    expect 2 "$eventspace" collectives --map "$folder/none.json" "$prefix-tree"
fi

# The monitor's scopes are changed while it looks on; nothing is lost by it.
if "$eventspace" run --help | grep -q -- --trees; then
    "$eventspace" run -n 4 --trees=kary:2 --name "$prefix-changed" \
        -- "$late" --work-us 5000 --sleep --iterations 1000 >"$folder/changed" 2>&1 \
        </dev/null &
    await 20 "$eventspace" list "$prefix-changed"
    timeout 60 "$eventspace" collectives --nodes --by-size --format json \
        "$prefix-changed" >"$folder/shown" &
    await 20 "$eventspace" scope show collectives-nodes "$prefix-changed"
    expect 0 "$eventspace" scope set collectives-nodes node-threads=2 batch=50 \
        "$prefix-changed"
    expect 0 "$eventspace" scope set collectives shape=flat "$prefix-changed"
    wait
    cp "$folder/shown" "$folder/out"
    holds 'operation["MPI_Allreduce"]["count"] == 1000 and
        operation["MPI_Allreduce"]["least_bytes"] == 8' changed
    holds 'sum(o["count"] for o in lines if o["type"] == "node") == 2000' changed
    holds 'summary["lost_tuples"] == summary["incomplete"] == 0' changed
fi

# A live run is followed to its end; what the monitor shows before is thrown away.
"$eventspace" run -n 4 --name "$prefix-live" -- "$late" \
    --ranks-late 1 --late-us 20000 --sleep --iterations 200 --operation barrier \
    >"$folder/live" 2>&1 </dev/null &
await 20 "$eventspace" list "$prefix-live"
shows_operations()
{
    timeout 20 "$eventspace" collectives -n 1 -i 0.5 "$prefix-live" | grep -q COMM
}
await 20 shows_operations
timeout 60 "$eventspace" collectives --format json --follow -i 0.5 "$prefix-live" \
    >"$folder/out" || fault "live: $(cat "$folder/out")"
wait
holds 'operation["MPI_Barrier"]["count"] == 200 and summary["over"]' live
holds 'summary["culprit"] == 1 and sum(o["type"] == "summary" for o in lines) > 1' live
holds 'summary["incomplete"] == 0 and summary["open"] == 0' live

# Interrupted it sums up all the same.
"$eventspace" run -n 4 --name "$prefix-stopped" -- "$late" \
    --ranks-late 1 --late-us 10000 --sleep --iterations 6000 \
    >"$folder/stopped" 2>&1 </dev/null &
launched=$!
await 20 "$eventspace" list "$prefix-stopped"
rm "$folder/out" # what the monitor before this one wrote is not to be waited for
"$eventspace" collectives --format json --follow -i 0.5 "$prefix-stopped" \
    >"$folder/out" 2>"$folder/err" &
monitor=$!
await 60 grep -qs '"type":"operation"' "$folder/out"
# Where nothing is shown before the end, it says what it waits for.
"$eventspace" collectives "$prefix-stopped" >"$folder/silent" 2>"$folder/told" &
silent=$!
await 30 grep -qs "the report follows when the run ends" "$folder/told"
[ ! -s "$folder/silent" ] || fault "silent: $(cat "$folder/silent")"
kill -INT $silent
wait $silent || fault "silent: ended with $?: $(cat "$folder/told")"
grep -q "operations in" "$folder/silent" || fault "silent: $(cat "$folder/silent")"
await 30 grep -qs '"rank"' "$folder/out"
kill -INT $monitor
wait $monitor || fault "stopped: ended with $?: $(cat "$folder/err")"
holds 'summary["operations"] > 0 and not summary["over"]' stopped
kill $launched
wait $launched

# The wind tunnel has one reduction an iteration, and one at the end of each part.
timeout -k 5 60 "$eventspace" run -n 4 --name "$prefix-tunnel" \
    --keep -- "$top_builddir/apps/windtunnel" --rows 64 --iterations 100 \
    >"$folder/tunnel" 2>"$folder/err" </dev/null || fault "tunnel: $(cat "$folder/err")"
expect 0 "$eventspace" collectives "$prefix-tunnel"
contains out "OPERATION"
contains out "MPI_COMM_WORLD"
expect 0 "$eventspace" events --class collective --rank 0 --format json "$prefix-tunnel"
grep -c '"type":"event"' "$folder/out" >"$folder/count"
expect 0 "$eventspace" collectives --format json "$prefix-tunnel"
holds "summary['complete'] == $(cat "$folder/count") and summary['incomplete'] == 0" tunnel

expect 2 "$eventspace" collectives --operation send "$prefix-late"
contains err "'send' is not a collective operation"
expect 2 "$eventspace" collectives --operation allreduc "$prefix-late"
contains err "'allreduc' is not a collective operation; did you mean 'Allreduce'?"
# What is not there is said; a table without rows says nothing.
expect 0 "$eventspace" collectives --once --comm nocomm "$prefix-late"
contains out "no collective operation matches the options, 40 others not shown"
lacks out "OPERATION"
expect 2 "$eventspace" collectives --since yesterday "$prefix-late"
expect 2 "$eventspace" collectives --blame-over much "$prefix-late"
expect 2 "$eventspace" collectives --set reduce=count "$prefix-late"
expect 2 "$eventspace" collectives "$prefix-none"
contains err "$prefix-none"

finish
