#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# top.sh - the share of a core that `eventspace top` uses to watch many ranks once a
# second: on a screen, in batch, and in batch with --waits.
#
#   bench/top.sh [RANKS [LOOKS]]            from the top of the build folder
#
# The load generator writes the run: by default 1,000 ranks and 12 looks.

set -eu
ranks=${1:-1000} looks=${2:-12}
if ! [ -x bench/load ] || ! [ -x cli/eventspace ]; then
    echo "top.sh: no bench/load: run it in the build folder, after make" >&2
    exit 2
fi
source=$(dirname "$0")/..
run=top-$$
folder=$(mktemp -d)
bench/load --run "$run" --here --ranks "$ranks" --elements 4 --rate 2 --writers 1 \
    --seconds 0 --quiet >"$folder/load" &
load=$!
trap 'kill $load 2>/dev/null; wait $load 2>/dev/null || true; rm -rf "$folder"' EXIT
until grep -q ready "$folder/load"; do
    kill -0 $load
    sleep 0.1
done

show() {
    if [ "$1" = screen ]; then
        python3 "$source/tests/cli/terminal.py" 160 cli/eventspace top -n "$2" "$run"
    else
        cli/eventspace top --batch ${3:-} -n "$2" "$run"
    fi >"$folder/shown"
}

# Excludes the cost of opening: subtracts a short run from a longer one.  The second
# line of times has those of child processes that have ended.
for way in screen batch waits; do
    option=
    [ $way = waits ] && option=--waits
    times >"$folder/begun"
    show $way 2 $option
    times >"$folder/short"
    show $way $((2 + looks)) $option
    times >"$folder/long"
    awk -v looks="$looks" -v name="top_${ranks}_$way" '
        FNR == 2 {
            for (i = 1; i <= 2; i++) {
                split($i, part, /[ms]/)
                used[FILENAME] += 60 * part[1] + part[2]
            }
            files[++count] = FILENAME
        }
        END {
            begun = used[files[1]]; short = used[files[2]]; long = used[files[3]]
            printf "figure: %s %.2f %%\n", name, 100 * (long - short - (short - begun)) / looks
        }' "$folder/begun" "$folder/short" "$folder/long"
done
