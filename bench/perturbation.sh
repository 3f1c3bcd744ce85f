#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# perturbation.sh - slowdown of the wind tunnel by collection (EventSpace paper, section 6.1).
#
#   bench/perturbation.sh [PAIRS [SIZE...]]     from the top of the build folder
#
# Each pair is one run without collection and one with, in turn, so that both meet the same machine; the
# slowdown is the median of the pairs' ratios of iterations per second.

set -eu
pairs=${1:-7}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- small medium large
build=$PWD
if ! [ -x "$build/cli/eventspace" ] || ! [ -x "$build/apps/windtunnel" ]; then
    echo "perturbation.sh: run it in the build folder, after make" >&2
    exit 2
fi

# Iterations that take some seconds each.
iterations_of() {
    case $1 in
    small) echo 400 ;;
    medium) echo 30 ;;
    large) echo 8 ;;
    *)
        echo "perturbation.sh: no size $1" >&2
        exit 2
        ;;
    esac
}

# Iterations per second of one run: rate COMMAND...
rate() {
    "$@" </dev/null 2>&1 | awk '/^iterations per second:/ { print $4 }'
}

median() {
    sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

echo "size     pairs  alone (it/s)  collected (it/s)  slowdown: median  min    max"
for size in "$@"; do
    tunnel="$build/apps/windtunnel --size $size --iterations $(iterations_of "$size") --check-every 1000"
    list=$(mktemp)
    i=0
    while [ "$i" -lt "$pairs" ]; do
        # shellcheck disable=SC2086 # words of a command
        alone=$(rate "${MPIEXEC:-mpiexec}" -n 2 $tunnel)
        # shellcheck disable=SC2086
        collected=$(rate "$build/cli/eventspace" run -n 2 -- $tunnel)
        echo "$alone $collected" >>"$list"
        i=$((i + 1))
    done
    slowdown=$(awk '{ print $1 / $2 }' "$list" | median)
    printf '%-8s %5d %13.2f %17.2f %17.3f %6.3f %6.3f\n' "$size" "$pairs" \
        "$(awk '{ print $1 }' "$list" | median)" "$(awk '{ print $2 }' "$list" | median)" "$slowdown" \
        "$(awk '{ print $1 / $2 }' "$list" | sort -n | head -n 1)" \
        "$(awk '{ print $1 / $2 }' "$list" | sort -n | tail -n 1)"
    echo "figure: windtunnel_${size}_collected_slowdown $slowdown ratio"
    rm -f "$list"
done
