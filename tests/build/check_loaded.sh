#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_loaded.sh - the busy loops of tests/run-loaded run in parallel to its command
# and end with it, even if it is interrupted or killed.

set -u
. "$top_srcdir/tests/checks.sh"

loaded=$top_srcdir/tests/run-loaded
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

loops_of() { # PID - prints the loops of a running script
    ps -o pid= -o args= --ppid "$1" | awk '/busy-loop/ { print $1 }'
}

has_loops() { # PID COUNT
    [ "$(loops_of "$1" | wc -l)" -eq "$2" ]
}

is_gone() { # PID
    ! kill -0 "$1" 2>/dev/null
}

"$loaded" sh -c 'exit 7'
expect 7 'it ends as its command does'
"$loaded" 2>/dev/null
expect 2 'without a command it says how it is used'

# ends SIGNAL WHOM - the loops end when SIGNAL is sent to the script, or to its process
# group (WHOM is -).
# shellcheck disable=SC2016 # for that shell
ends() {
    setsid "$loaded" sh -c 'while kill -0 $PPID; do sleep 0.1; done' 2>/dev/null &
    local pid=$! loop
    await 20 has_loops $pid 4
    mapfile -t loops < <(loops_of $pid)
    kill "-$1" -- "$2$pid"
    wait $pid 2>/dev/null
    for loop in "${loops[@]}"; do
        await 30 is_gone "$loop"
        expect 0 "a loop is gone after SIG$1"
    done
}
ends TERM -
ends KILL ''
finish
