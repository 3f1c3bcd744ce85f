#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# ledgers.sh - the ledger of a process that hangs lists its outstanding operations, while it
# lives and after it was killed.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

# says HOW - whether the ledgers have the expected contents.
says() {
    "$top_builddir/tests/scopes/ledgers" "$EVENTSPACE_RUN" 2>/dev/null |
        python3 "$here/check_ledgers.py" "$1" >"$work/why" 2>&1
}

# comes_to HOW - waits for that, for at most one minute.
comes_to() {
    local i
    for ((i = 0; i < 600; i++)); do
        says "$1" && return 0
        sleep 0.1
    done
    sed 's/^/# /' "$work/why"
    return 1
}

for how in waitall waitany wait poll storm receive threads; do
    "$bin/tuples" --remove "$EVENTSPACE_RUN"
    timeout -k 5 90 "$MPIEXEC" -n 2 env LD_PRELOAD="$runtime$library:$shim" \
        "$bin/outstanding" "$how" </dev/null >"$work/out" 2>&1 &
    launcher=$!
    check "it says what is outstanding, $how" comes_to "$how"
    kill "$launcher"
    wait "$launcher"
    check "and also when it was killed, $how" says "$how"
done
finish
