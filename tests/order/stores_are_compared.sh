#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# stores_are_compared.sh - bench/order.sh measures every store with every pattern, and all
# give the same answers; bench/order_curves.py draws the results.

set -u
. "${top_srcdir:?not set}/tests/checks.sh"
cd "${top_builddir:?not set}" || exit 1
[ -x bench/order_stores ] || skip 'the benchmarks are not built'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out

sh "$top_srcdir/bench/order.sh" smoke >"$out"
expect 0 'the benchmark runs, and all stores answer alike'
stores=$(bench/order_stores -? 2>&1 | sed -n '/^stores:/,$ s/^  \([a-z]*\) .*/\1/p')
check 'there are stores' [ -n "$stores" ]
for store in $stores; do
    for pattern in stencil ring scatter-gather random web life master-worker wavefront drift \
        grid balance production; do
        check "$store over $pattern" \
            grep -q "^figure: order_${pattern/-/_}_24_${store}[_a-z0-9]*_ingest " "$out"
    done
done
check 'every line of the table has its times' \
    [ "$(grep -c '^dense .*%' "$out")" -eq 24 ]
check 'whole vectors are whole' \
    [ "$(grep -c '_dense_actual_ratio 1 ratio' "$out")" -eq 24 ]

bench/order_stores -p nothing >"$out" 2>&1
expect 2 'an unknown pattern is refused'
check 'by its name' grep -q "'nothing'" "$out"
bench/order_stores dense:size=3 >"$out" 2>&1
expect 2 'an unknown key is refused'
bench/order_stores -m 1 -n 1000 -e 20000 -q 10 dense >"$out"
expect 0 'vectors that do not fit are computed'
check 'and said to be' grep -q 'computed, would take' "$out"
bench/order_stores -n 64x >"$out" 2>&1
expect 2 'a number has to be one'

"${PYTHON:-python3}" "$top_srcdir/bench/order_curves.py" -o "$work/curves" --ranks 20 \
    --events 1000 --last 14 --loads ring,web --strategies static,merge-first,fixed >"$out"
expect 0 'the curves are drawn'
check 'with the best of each' [ "$(grep -c '^figure: .*_best_size ' "$out")" -eq 6 ]
check 'of each size' [ "$(wc -l <"$work/curves.tsv")" -eq $((1 + 2 * 3 * 13)) ]
check 'one line for each' [ "$(grep -c '<polyline' "$work/curves.svg")" -eq 6 ]
check 'beside what the papers claim' grep -q '13 and 14 within 20 %' "$work/curves.md"
bench/order_curve -p ring -n 16 -e 500 -f 16 -t 16 cluster:strategy=fixed |
    awk -F '\t' '{ exit !($4 == 1 && $9 == 0) }'
expect 0 'one cluster of all traces has no cluster receives, and vectors of all'
finish
