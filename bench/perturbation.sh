#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# perturbation.sh - slowdown of the wind tunnel by collecting and observing (EventSpace paper, section 6).
#
#   bench/perturbation.sh [PAIRS [SIZE...]]     from the top of the build folder
#
# Each pair is one run alone and one in the configuration of its line, in turn, so that both meet the same
# machine; the slowdown is the median of the pairs' ratios of iterations per second.  The line "alone" is the
# same configuration against itself: the machine's noise.  bench/plot.py draws the table.
#
#   ES_PERTURBATION="alone collected ..." chooses the configurations, ES_ITERATIONS the length of a run.

set -eu
pairs=${1:-7}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- small medium large
build=$PWD
if ! [ -x "$build/cli/eventspace" ] || ! [ -x "$build/apps/windtunnel" ] || ! [ -x "$build/bench/observe" ]; then
    echo "perturbation.sh: run it in the build folder, after make" >&2
    exit 2
fi
configurations=${ES_PERTURBATION:-alone collected get-1 get-thread get-rank get-all get-all-flat get-all-100hz
    get-all-threads three-monitors}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Iterations that take some seconds each.
iterations_of() {
    case $1 in
    small) echo "${ES_ITERATIONS:-400}" ;;
    medium) echo "${ES_ITERATIONS:-30}" ;;
    large) echo "${ES_ITERATIONS:-8}" ;;
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

# The observers of a configuration: one line of settings each.
observers_of() {
    case $1 in
    get-1) echo "--name=0.0/point-to-point" ;;
    get-thread) echo "--ranks=0 --thread=0" ;;
    get-rank) echo "--ranks=0" ;;
    get-all) echo "--set=shape=views" ;;
    get-all-flat) echo "--set=shape=flat" ;;
    get-all-100hz) echo "--rate=100" ;;
    get-all-threads) echo "--set=threads=2" ;;
    three-monitors) printf '%s\n' "--rate=100" "--rate=100 --ranks=0" "--rate=100 --thread=0" ;;
    esac
}

# One run in a configuration; what observers say goes to $folder/observed.
run_in() {
    configuration=$1
    shift
    if [ "$configuration" = alone ]; then
        rate "${MPIEXEC:-mpiexec}" -n 2 "$@"
        return
    fi
    run="perturbation-$$"
    observers_of "$configuration" >"$folder/settings"
    while read -r settings; do
        # shellcheck disable=SC2086 # words of a command
        "$build/bench/observe" --run "$run" $settings >>"$folder/observed" 2>>"$folder/faults" &
    done <"$folder/settings"
    rate "$build/cli/eventspace" run --name "$run" -n 2 -- "$@"
    wait
}

median() {
    sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

echo "size configuration pairs alone(it/s) so(it/s) slowdown min max pulls/s"
for size in "$@"; do
    tunnel="$build/apps/windtunnel --size $size --iterations $(iterations_of "$size") --check-every 1000"
    for configuration in $configurations; do
        : >"$folder/list"
        : >"$folder/observed"
        i=0
        while [ "$i" -lt "$pairs" ]; do
            # shellcheck disable=SC2086 # words of a command
            alone=$(run_in alone $tunnel)
            # shellcheck disable=SC2086
            so=$(run_in "$configuration" $tunnel)
            echo "$alone $so" >>"$folder/list"
            i=$((i + 1))
        done
        awk '{ print $1 / $2 }' "$folder/list" | sort -n >"$folder/ratios"
        slowdown=$(median <"$folder/ratios")
        pulls=-
        [ ! -s "$folder/observed" ] || pulls=$(awk '/^rate:/ { print $2 }' "$folder/observed" | median)
        printf '%-7s %-16s %5d %11.2f %10.2f %8.3f %6.3f %6.3f %s\n' "$size" "$configuration" "$pairs" \
            "$(awk '{ print $1 }' "$folder/list" | median)" "$(awk '{ print $2 }' "$folder/list" | median)" \
            "$slowdown" "$(head -n 1 "$folder/ratios")" "$(tail -n 1 "$folder/ratios")" "$pulls"
        echo "figure: windtunnel_${size}_${configuration}_slowdown $slowdown ratio"
    done
done
[ ! -s "$folder/faults" ] || { cat "$folder/faults" >&2; exit 1; }
