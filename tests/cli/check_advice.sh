#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_advice.sh - a chain of ranks is in force, the monitor proposes a flatter tree, and
# puts it in force while the program runs; what it foretold is what comes.

. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

imbalance=$top_builddir/apps/imbalance
# The last rank of the chain comes last: all of the chain is gone through, there and back.
chain=explicit:0-1,1-2,2-3
work="--ranks-late 3 --late-us 4000 --sleep"

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# holds EXPRESSION : of the JSON lines of out: `advice` and `applied`.
holds()
{
    "${PYTHON:-python3}" - "$1" "$folder/out" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
names = {t: [o for o in lines if o["type"] == t] for t in ("advice", "applied")}
sys.exit(not eval("(" + sys.argv[1] + ")", names))
END
}

must()
{
    holds "$1" || fault "not $1: $(cat "$folder/out")"
}

# leaves NAME OPTION... -- ARGUMENT... : a run of imbalance whose segments stay.
leaves()
{
    local name=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    timeout -k 5 60 "$eventspace" run -n 4 --keep \
        --name "$prefix-$name" "${options[@]}" -- "$imbalance" "$@" \
        >"$folder/$name" 2>&1 </dev/null || fault "$name: $(cat "$folder/$name")"
}

expect 2 "$eventspace" collectives --apply --once "$prefix-none"
contains err "--apply and --once: give one of them"
expect 2 "$eventspace" collectives --apply --after 3 "$prefix-none"

# --- A chain that has run

# shellcheck disable=SC2086 # words
leaves chain "--trees=$chain" -- $work --iterations 150
expect 0 "$eventspace" collectives --advise --format json "$prefix-chain"
must 'len(advice) == 1 and advice[0]["operation"] == "allreduce"'
must 'advice[0]["in_force"] == "explicit:0-1,1-2,2-3" and advice[0]["tree"]'
must '(advice[0]["min_bytes"], advice[0]["max_bytes"]) == (8, 15)'
must 'advice[0]["verdict"] in ("better", "unsure")'
must 'advice[0]["then"] == "linear" and advice[0]["basis"] == "scaled"'
must '0.3 < advice[0]["gain"] < 0.9 and advice[0]["samples"] == 32'
must 'advice[0]["gain_ns"] > 0 and len(advice[0]["candidates"]) >= 15'
# Nobody is there any more who could change it.
must 'advice[0]["command"] is None and not applied'
expect 0 "$eventspace" collectives --advise "$prefix-chain"
contains out "Advice"
contains out "allreduce on MPI_COMM_WORLD of 8 to 15 bytes:"
expect 3 "$eventspace" collectives --apply "$prefix-chain"
contains err "has ended"

# Nonblocking operations last as long as their caller lets them: nothing is said of them.
leaves nonblocking "--trees=$chain" -- --operation iallreduce --iterations 50
expect 0 "$eventspace" collectives --advise "$prefix-nonblocking"
contains out "none: no operation was seen that can use a tree"
# There is no model of the library's own algorithms, and the run began without trees.
leaves library -- --iterations 100 --operation barrier --work-us 100
expect 0 "$eventspace" collectives --advise --format json "$prefix-library"
must 'all(o["in_force"] == "library" and not o["tree"] for o in advice)'
must 'all(o["command"] is None and o["basis"] != "scaled" for o in advice)'
expect 0 "$eventspace" collectives --advise "$prefix-library"
contains out "cannot be switched; start it with --trees"
expect 2 "$eventspace" collectives --apply "$prefix-library"
contains err "cannot be switched; start it with --trees"

# --- A chain that is replaced while it runs

# What is measured is the machine's to spoil: one good try will do.
apply()
{
    local name=$prefix-live$1
    # shellcheck disable=SC2086 # words
    "$eventspace" run -n 4 --name "$name" "--trees=$chain" -- \
        "$imbalance" $work --iterations 700 >"$folder/live" 2>&1 </dev/null &
    await 20 "$eventspace" list "$name"
    timeout -k 5 90 "$eventspace" collectives --apply --after 64 -i 0.5 --format json \
        "$name" >"$folder/out" 2>"$folder/err" ||
        fault "live: $(cat "$folder/out" "$folder/err")"
    wait
    grep -q "correct" "$folder/live" || fault "live: $(cat "$folder/live")"
    holds 'len(applied) == 1 and not applied[0]["went_back"] and
        applied[0]["measured_ns"] is not None and
        applied[0]["before_count"] >= 64 and applied[0]["count"] >= 64 and
        applied[0]["measured_ns"] < applied[0]["before_ns"] and
        1 / 3 < applied[0]["measured_ns"] / applied[0]["predicted_ns"] < 3'
}

for try in 1 2 3 4; do
    apply $try && break
done
mkdir "$folder/printed"
grep -E '"type":"(advice|applied)"' "$folder/out" >"$folder/printed/collectives.json"
"${PYTHON:-python3}" "${0%/*}/record_members.py" "$top_srcdir/docs/formats.md" \
    "$folder/printed" all || fault "docs/formats.md and what was printed differ"
"${PYTHON:-python3}" "${0%/*}/schema_members.py" "$top_srcdir/docs/formats.md" \
    "$top_srcdir/docs/eventspace.schema.json" "$folder/printed" || fault "the schema is not right"
must 'len(applied) == 1 and applied[0]["before"] == "explicit:0-1,1-2,2-3"'
must 'applied[0]["after"] == "linear" and applied[0]["version"] >= 1'
must 'applied[0]["measured_ns"] < applied[0]["before_ns"]'
must '1 / 3 < applied[0]["measured_ns"] / applied[0]["predicted_ns"] < 3'
must 'advice[-1]["in_force"] == "linear" and advice[-1]["version"] >= 1'
contains err "linear replaces explicit:0-1,1-2,2-3 after"

finish
