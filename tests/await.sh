# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# await.sh - waits for a condition instead of for a time; sourced by drivers.
# shellcheck shell=bash

# await SECONDS COMMAND... - runs the command until it succeeds.  On a quiet machine
# that takes at most SECONDS; busy machines get three times as long.  After that time
# await calls `fault`, which the sourcing driver defines, and returns 1.
await() {
    local end=$((SECONDS + 3 * $1 + 1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { fault "in vain: $*"; return 1; }
        sleep 0.05
    done
}
