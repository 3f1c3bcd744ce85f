#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# cancelled_sends.sh - a send and a receive with equal numbers are one message, also if
# sends are cancelled. Random programs; ES_TEST_SEED=N repeats a failure. Open MPI cancels
# no send.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

seed=${ES_TEST_SEED:-$(date +%s)}
cat >"$work/plan" <<'PLAN'
eventspace-plan 1
collector all classes=send,receive,completion,collective,communicator,one-sided,io,other threshold=131071
end
PLAN
export EVENTSPACE_PLAN=$work/plan

mkdir "$work/logs"

# cancel RANKS STEPS
cancel() {
    rm -f "$work/logs"/*
    echo "seed $seed: $1 ranks"
    check "the program runs, seed $seed" \
        observe "$1" "$bin/cancelled_sends" "$work/logs" "$seed" "$2"
    tuples >"$work/tuples"
    check "what is joined is true, seed $seed" "$PYTHON" "$here/check_cancelled.py" \
        "$work/tuples" "$work/logs"
    seed=$((seed + 1))
}

for _ in 1 2 3; do
    cancel 1 4000
    cancel 2 4000
done
finish
