#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# trees_live.sh - trees are changed while the program runs: all ranks switch at the same
# operation, and no operation is lost.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

trees() {
    printf 'eventspace-trees 1\ntree t shape=%s\nend\n' "$*"
}

printf 'eventspace-plan 1\n' >"$work/plan"
for class in collective contribute arrival departure; do
    echo "collector $class classes=$class threshold=131071" >>"$work/plan"
done
echo end >>"$work/plan"
export EVENTSPACE_PLAN=$work/plan

export EVENTSPACE_TREES=$(trees library)
observe 4 "$bin/trees_live" 6 >"$work/out" &
program=$!
has_begun() {
    [ "$(tuples | grep -c MPI_Bcast)" -gt 8 ]
}
await 20 has_begun

"$bin/trees_desired" "$EVENTSPACE_RUN" "$(trees nonsense)" >/dev/null
expect 0 'a wish that makes no sense'
shapes=(linear kary binomial 'kary fan-out=3' 'levels levels=host,core'
    'explicit edges=3-0,3-1,1-2' library exchange)
for i in {1..24}; do
    "$bin/trees_desired" "$EVENTSPACE_RUN" "$(trees "${shapes[i % 8]}")" >/dev/null || break
    sleep 0.1
done
[ "$i" -eq 24 ]
expect 0 'all wishes are written'
wait "$program"
expect 0 'the program gets what it should'

tuples >"$work/tuples"
"$PYTHON" "$here/check_trees.py" <"$work/tuples" >"$work/checked"
expect 0 'every edge has two ends, of one version'
cat "$work/checked"
[ "$(cut -d' ' -f5 "$work/checked")" -ge 3 ]
expect 0 'several versions were in force'
[ "$(awk -F'\t' '$1 == "element" && $6 > 0' "$work/tuples" | wc -l)" -eq 0 ]
expect 0 'no tuple was lost'

# Every rank has recorded every operation of the program.
rounds=$(sed -n 's/rounds //p' "$work/out")
[ "$(grep -c 'MPI_Allreduce' "$work/tuples")" -eq $((rounds * 2 * 4)) ]
expect 0 "$rounds rounds are recorded"

# All ranks report the same versions of each communicator.
"$bin/trees_desired" "$EVENTSPACE_RUN" >"$work/log"
[ "$(cut -f2- "$work/log" | sort | uniq -c | awk '$1 != 4' | wc -l)" -eq 0 ]
expect 0 'the log is the same at all ranks'
[ "$(wc -l <"$work/log")" -ge 24 ]
expect 0 'the log tells of the changes'

# Nonblocking operations keep the tree with which they were started.
all=barrier,bcast,reduce,allreduce,ibarrier,ibcast,ireduce,iallreduce
export EVENTSPACE_TREES=$(trees "library operations=$all")
observe 4 "$bin/trees_live" 4 mixed >"$work/out" &
program=$!
for i in {1..60}; do
    kill -0 "$program" 2>/dev/null || break
    "$bin/trees_desired" "$EVENTSPACE_RUN" \
        "$(trees "${shapes[i % 8]} operations=$all")" >/dev/null 2>&1
    sleep 0.05
done
wait "$program"
expect 0 'mixed: the program gets what it should'
[ "$("$bin/trees_desired" "$EVENTSPACE_RUN" | cut -f3 | sort -u | wc -l)" -ge 4 ]
expect 0 'mixed: several versions were in force'

finish
