#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_picture.sh - pictures of the process-time diagram; what the diagram finds is
# tested in tests/monitors.

. "${0%/*}/functions.sh"
need_mpi

timeout -k 5 60 "$eventspace" run -n 3 --name "$prefix-picture" --keep \
    --record "$folder/ring.rec" -- "$top_builddir/apps/ring" --rounds 20 \
    >"$folder/program" 2>"$folder/err" </dev/null ||
    fault "ring: $(cat "$folder/program" "$folder/err")"

# What a picture has: is it XML, how many of its elements have a class.
picture_has()
{
    "${PYTHON:-python3}" - "$folder/out" "$@" <<'END' || fault "picture: not $*: $(head -c 600 "$folder/out")"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
counts = {}
for element in root.iter():
    name = element.get("class")
    counts[name] = counts.get(name, 0) + 1
sys.exit(not all(eval(text, {}, {"n": lambda name: counts.get(name, 0)})
                 for text in sys.argv[2:]))
END
}

# Three rows, each call, each message, and the legend (one of each).
for source in "$folder/ring.rec" "$prefix-picture"; do
    for axis in time level; do
        expect 0 "$eventspace" export "$source" --to svg --axis "$axis"
        picture_has 'n("computing") == 4' 'n("send") > 60' 'n("receive") > 60' \
            'n("message") >= 60' 'n("grid") > 1' 'n("past") == 0'
    done
done

# Cones: two lines and the event.
expect 0 "$eventspace" export "$folder/ring.rec" --to svg --axis level --cone 1.0:9
picture_has 'n("past") == 1' 'n("future") == 1' 'n("event") == 1'

# A part: of one rank there are no messages.
expect 0 "$eventspace" export "$folder/ring.rec" --to svg --rank 1 --end 1h
picture_has 'n("computing") == 2' 'n("message") == 0'

# Into a file, which is complete or not there.
expect 0 "$eventspace" export "$folder/ring.rec" --to svg -o "$folder/ring.svg"
is_empty out
cp "$folder/ring.svg" "$folder/out"
picture_has 'n("computing") == 4'

# Collective operations: a band from the first arrival to the last, which has a mark,
# as the legend says.
timeout -k 5 60 "$eventspace" run -n 3 --name "$prefix-late" --record "$folder/late.rec" \
    -- "$top_builddir/apps/imbalance" --iterations 4 --ranks-late 1 --late-us 20000 \
    >"$folder/program" 2>"$folder/err" </dev/null || fault "imbalance: $(cat "$folder/program" "$folder/err")"
expect 0 "$eventspace" export "$folder/late.rec" --to svg
picture_has 'n("band") >= 4' 'n("late") >= 4' 'n("late") + n("unsure") == n("band") + 1'

# What is wrong is said in one line, and no file is made.
refuses()
{
    local words=$1
    shift
    expect 2 "$eventspace" export "$@" -o "$folder/none.svg"
    contains err "$words"
    [ ! -e "$folder/none.svg" ] || fault "a file for: $*"
}
refuses "is for --to svg only" "$folder/ring.rec" --to csv --axis level
refuses "pictures and pages take" "$folder/ring.rec" --to svg --limit 5
refuses "--axis" "$folder/ring.rec" --to svg --axis space
refuses "--cone 9.0:1" "$folder/ring.rec" --to svg --cone 9.0:1
refuses "--cone 1.0:99999" "$folder/ring.rec" --to svg --cone 1.0:99999
refuses "--width" "$folder/ring.rec" --to svg --width 5
refuses "select nothing" "$folder/ring.rec" --to svg --begin 1h
refuses "no event to draw" "$folder/ring.rec" --to svg --rank 7
expect 0 "$eventspace" export "$folder/ring.rec" --to event-set
cp "$folder/out" "$folder/ring.jsonl"
refuses "is an event set" "$folder/ring.jsonl" --to svg

finish
