#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_growth.sh - bench/growth.sh measures all that it says grows, and the plots show it.

. "${0%/*}/functions.sh"
[ -x "$top_builddir/bench/load" ] || fault "bench/load is not built"

# It runs in the build folder, as users run it.
cd "$top_builddir" || exit 1
# shellcheck disable=SC2016 # for the shell inside, whose number is in the run's name
timeout -k 5 100 sh -c 'echo $$ >"$1" && exec sh "$2" smoke' sh "$folder/number" \
    "$top_srcdir/bench/growth.sh" >"$folder/figures" 2>"$folder/err" ||
    fault "it ended with $?: $(cat "$folder/figures" "$folder/err")"
is_empty err
grep ' ends before ' "$folder/figures" && fault "a part goes no further"
for figure in elements_{direct,bare_loop,server}_{100,1000} hosts_flat_{1,2} \
    {time,memory}_{heartbeat,why,list}_{2,20} order_{append,index}_{1000,10000} \
    heap_{order,index}_10000 search_{Chain,Apart,Late,Sends}_10000 \
    archive_size_{1000,10000} {record_time,peak_record}_10000; do
    [ "$(grep -c "^figure: growth_${figure} [0-9.e+-]* [A-Za-z]*$" "$folder/figures")" -eq 1 ] ||
        fault "not one figure $figure: $(cat "$folder/figures")"
done
[ -z "$(find /dev/shm -name "eventspace.growth-$(cat "$folder/number").*")" ] ||
    fault "segments are left"
expect 2 sh "$top_srcdir/bench/growth.sh" large
contains err "usage:"

# Its figures have plots; what is linear is told to be.
plot=$top_srcdir/bench/growth_plot.py
expect 0 "$PYTHON" "$plot" -o "$folder/growth" "$folder/figures"
printf 'figure: growth_order_one_%d %d s\n' 10 20 100 200 1000 2000 >"$folder/made"
expect 0 "$PYTHON" "$plot" -o "$folder/made" "$folder/made"
contains out "order one: 1.00, in theory 1"
"$PYTHON" - "$folder" <<'END' || fault "the plots are not what they should be"
import os, sys
from xml.etree import ElementTree

svg = "{http://www.w3.org/2000/svg}"
def lines(name):
    root = ElementTree.parse(os.path.join(sys.argv[1], name)).getroot()
    return [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
            for line in root.findall(svg + "polyline")]

assert len(lines("growth-live.svg")) == 2 * (3 + 1 + 3 + 3)
assert len(lines("growth-events.svg")) == 2 * (2 + 4 + 2 + 1 + 1 + 1)
theory, measured = lines("made-events.svg")
assert theory[0] == measured[0] and theory[-1] == measured[-1], (theory, measured)
END
expect 2 "$PYTHON" "$plot" /dev/null
finish
