# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# checks.sh - skipping, checking and counting for drivers of MPI programs; sourced.

. "${top_srcdir:?not set}/tests/await.sh"

failures=0

skip() {
    echo "skipped: $*"
    exit 77
}

# expect STATUS WHAT... - compares STATUS with the exit status of the previous command.
expect() {
    local found=$? expected=$1
    shift
    if [ "$found" -eq "$expected" ]; then
        echo "ok: $*"
    else
        fault "$*: exit status $found instead of $expected"
    fi
}

fault() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# check WHAT COMMAND... - the command has to succeed.
check() {
    local what=$1
    shift
    "$@"
    expect 0 "$what"
}

finish() {
    [ "$failures" -eq 0 ] && exit 0
    echo "$failures checks failed"
    exit 1
}
