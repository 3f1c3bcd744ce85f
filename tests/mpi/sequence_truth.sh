#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# sequence_truth.sh - every receive has the number of the message that it received, in all
# forms of receiving. Random traffic; ES_TEST_SEED=N repeats a failure.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

seed=${ES_TEST_SEED:-$(date +%s)}
cat >"$work/plan" <<'PLAN'
eventspace-plan 1
collector all classes=send,receive,completion,collective,communicator,one-sided,io,other threshold=131071
end
PLAN
export EVENTSPACE_PLAN=$work/plan

# converse RANKS MESSAGES THREADS
converse() {
    rm -rf "$work/logs"
    mkdir "$work/logs"
    echo "seed $seed: $1 ranks, $3 threads"
    check "traffic runs, seed $seed" observe "$1" "$bin/traffic" "$work/logs" "$seed" "$2" "$3"
    tuples >"$work/tuples"
    check "tuples are true, seed $seed" "$PYTHON" "$here/check_traffic.py" "$work/tuples" \
        "$work/logs" "$3"
    seed=$((seed + 1))
}

for _ in 1 2 3; do
    converse 2 1500 1
done
converse 4 300 1
EVENTSPACE_CLOCK=monotonic converse 2 1500 1 # without the fast path
converse 2 400 3
finish
