#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_plots.sh - the tables and plots of benchmarks, for data with known results.

set -eu
bench=${top_srcdir:?}/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "check_plots.sh: $*" >&2
    exit 1
}

# Seven pairs of each row: the noise is 0.97 to 1.03, and collecting costs one tenth.
{
    printf 'size\tpair\trow\titerations/s\tpulls/s\tcpu\tserver_cpu\tlost\n'
    pair=0
    for rate in 100 101 99 102 98 103 97; do
        pair=$((pair + 1))
        printf 'small\t%d\tnone\t100\t\t\t\t\n' $pair
        printf 'small\t%d\tagain\t%d\t\t\t\t\n' $pair $rate
        printf 'small\t%d\te266\t%d\t200\t0.4\t\t5\n' $((pair + 100)) $((rate * 10 / 11))
        printf 'small\t%d\tnone\t100\t\t\t\t\n' $((pair + 100))
    done
    printf 'small\t200\tnone\t100\t\t\t\t\nsmall\t200\tfour-all\t80\t100\t7.5\t\t3\n'
    printf 'small\t201\tnone\t100\t\t\t\t\nsmall\t201\tcollectives\t50\t\t2.5\t\t0\n'
    # A run without its partner is left out.
    printf 'small\t300\te266\t1\t1\t1\t\t1\n'
} >"$work/runs.tsv"

"$PYTHON" "$bench/perturbation_table.py" "$work/runs.tsv" >"$work/table" || fail "no table"
grep -q '^| 266 elements, full speed | 7 | 1.111 ' "$work/table" || fail "no row of e266"
grep '^figure:' "$work/table" >"$work/figures"
for line in 'again_slowdown 1.0000 ratio' 'again_slowdown_low 0.9709 ratio' \
    'again_slowdown_high 1.0309 ratio' 'e266_rate 200.0 pulls/s' 'e266_cpu_per_pull 20.00 us' \
    'four_all_rate 100.0 pulls/s' 'four_all_cpu 7.50 %' 'collectives_slowdown 2.0000 ratio' \
    'collectives_cpu 2.50 %'; do
    grep -qx "figure: windtunnel_small_$line" "$work/figures" ||
        fail "no figure $line in: $(cat "$work/figures")"
done

grep -q four_all_cpu_per_pull "$work/figures" && fail "monitors' time is taken for pulls'"

# Each row that can be measured has a description.
sh "$bench/perturbation.sh" --list >"$work/list" || fail "no list of rows"
for row in $(sed 's/^[a-z]*://' "$work/list"); do
    grep -q "^    \"$row\": (" "$bench/perturbation_table.py" || fail "row $row has no words"
done

"$PYTHON" "$bench/plot.py" --title 'A < B & C' --match 'windtunnel_*_*_slowdown' \
    --note 'windtunnel_*_*_rate' --reference 1 --noise again "$work/table" >"$work/plot.svg" ||
    fail "no plot"
"$PYTHON" - "$work/plot.svg" <<'EOF' || fail "the plot is not what it should be"
import sys
from xml.etree import ElementTree

svg = "{http://www.w3.org/2000/svg}"
root = ElementTree.parse(sys.argv[1]).getroot()
points = root.findall(svg + "circle")
texts = [element.text for element in root.findall(svg + "text")]
width, height = float(root.get("width")), float(root.get("height"))
assert len(points) == 4, "one point for each slowdown"
assert all(0 < float(p.get("cx")) < width and 0 < float(p.get("cy")) < height for p in points)
assert float(points[0].get("cx")) < float(points[1].get("cx")), "the slower stands right"
assert {"A < B & C", "small", "again", "e266"} <= set(texts), texts
assert "1.111, 200 pulls/s" in texts, texts
assert [r.get("class") for r in root.findall(svg + "rect")].count("noise") == 1
EOF

# Input with tabs, and a logarithmic scale.
printf 'one_x\t1\tus\nten_x\t10\tus\n' | "$PYTHON" "$bench/plot.py" --log --match '*_x' |
    grep -q 'class="point"' || fail "no plot of lines with tabs"

"$PYTHON" "$bench/plot.py" </dev/null 2>"$work/error" && fail "a plot of nothing"
grep -q 'no figure fits' "$work/error" || fail "no word about no figures"
