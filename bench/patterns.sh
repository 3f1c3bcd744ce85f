#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# patterns.sh - the cost of pattern searches and convex closures: tables and figures.
#
#   bench/patterns.sh [quick|full] [FOLDER]      from the top of the build folder
#   bench/patterns.sh document [FOLDER]          docs/ takes over what is in FOLDER
#
# Writes cases.txt, closures.txt, large.txt, attributes.txt, live.txt and, from these,
# tables.md and figures (*.svg) to FOLDER (patterns-measured), and figures as lines to
# standard output. Quick takes some minutes and omits searches that take longer than
# about a second; full takes about half an hour on an idle machine, limits each search
# to ES_PATTERN_SECONDS (100), and goes to 10^7 events. Exits with 1 if a search finds
# other matches than those in the synthetic sets.

set -eu
mode=${1:-quick}
folder=${2:-patterns-measured}
sources=$(dirname "$0")
seconds=${ES_PATTERN_SECONDS:-100}
case $mode in
quick) options="-q -t $seconds" runs=3 sizes=1000000 ;;
full) options="-t $seconds" runs=10 sizes="1000000 10000000" ;;
document) ;;
*)
    echo "usage: patterns.sh [quick|full|document] [FOLDER]" >&2
    exit 2
    ;;
esac

# Everything below "## Tables" is from one run.
document() {
    page=$sources/../docs/engines.md
    for file in tables.md closures-combined.svg closures-random.svg \
        patterns-comparisons.svg patterns-time.svg; do
        if ! [ -s "$folder/$file" ]; then
            echo "patterns.sh: no $folder/$file: run it with quick or full first" >&2
            exit 2
        fi
    done
    { sed '/^## Tables$/q' "$page" && echo && cat "$folder/tables.md"; } >"$folder/page.md"
    cp "$folder/page.md" "$page"
    cp "$folder"/*.svg "$sources/../docs/"
    echo "$page"
}

if [ "$mode" = document ]; then
    document
    exit
fi
if ! [ -x bench/patterns_bench ]; then
    echo "patterns.sh: no bench/patterns_bench: run it in the build folder, after make" >&2
    exit 2
fi
mkdir -p "$folder"
status=0
begin=$(date +%s)

# measure FILE COMMAND...: appends the output to FILE, and prints the time it took.
measure() {
    file=$folder/$1
    shift
    "$@" >>"$file" || status=$?
    echo "patterns.sh: $1: $(($(date +%s) - begin)) s since the start" >&2
}

# Commit, machine, and other load of the machine.
describe() {
    commit=unknown
    if git -C "$sources" rev-parse --short HEAD >"$folder/commit.txt" 2>/dev/null; then
        commit=$(cat "$folder/commit.txt")
        git -C "$sources" diff --quiet HEAD || commit="$commit, changed"
    fi
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    echo "One run: \`ES_PATTERN_SECONDS=$seconds bench/patterns.sh $mode\`, commit" \
        "$commit, $(nproc) cores (${model:-unknown}), load before it" \
        "$(cut -d ' ' -f 1 /proc/loadavg)"
}

head=$(describe)
for file in cases closures large attributes live; do
    : >"$folder/$file.txt"
done
# shellcheck disable=SC2086
measure cases.txt bench/patterns_bench $options -d "$sources/patterns"
measure closures.txt bench/closures_bench -r "$runs"
for events in $sizes; do
    measure large.txt bench/patterns_large -e "$events" -t "$seconds" \
        -d "$sources/patterns"
done
measure attributes.txt bench/patterns_large -a -e 1000000 -t 20 -d "$sources/patterns"
measure live.txt bench/pattern_live
{
    echo "$head, $((($(date +%s) - begin + 59) / 60)) minutes; closures" \
        "\`bench/closures_bench -r $runs\`."
    echo
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$sources/pattern_tables.py" \
        -o "$folder" "$folder/cases.txt" "$folder/closures.txt" "$folder/large.txt" \
        "$folder/live.txt"
} >"$folder/tables.md"
sed -n '/^figure:/p' "$folder"/*.txt
echo "$folder/tables.md"
exit $status
