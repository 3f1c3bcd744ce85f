# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# await.sh - waiting for a sign instead of for a time; sourced by drivers.
# shellcheck shell=bash

# await SECONDS COMMAND... - until it succeeds, which takes so long at most on a quiet
# machine.  A busy one has three times as long.  In vain is a `fault`, which the sourcing
# driver defines, and ends with 1.
await() {
    local end=$((SECONDS + 3 * $1 + 1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { fault "in vain: $*"; return 1; }
        sleep 0.05
    done
}
