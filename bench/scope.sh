#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# scope.sh - the cost of pulls: all views and shapes, relative to the reading floor and
# bare trees.
#
#   bench/scope.sh [quick|full [CORE]]      from the top of the build folder
#
# Quick takes less than a minute, full about 9.  With CORE, everything runs on that
# processor: if wake-ups between processors are expensive, the samples without CORE have
# two modes, both for bare trees and for scopes.

set -eu
mode=${1:-quick}
case $mode in
quick) rounds=3 turn=30 ;;
full) rounds=9 turn=300 ;;
*)
    echo "usage: scope.sh [quick|full [CORE]]" >&2
    exit 2
    ;;
esac
if ! [ -x bench/scope_tree ]; then
    echo "scope.sh: no bench/scope_tree: run it in the build folder, after make" >&2
    exit 2
fi
pin=
[ $# -lt 2 ] || pin="taskset -c $2"
for view in 1 14 266 1948; do
    $pin bench/scope_tree $view $rounds $turn
done
echo "growth:"
for view in 100 1000 10000 100000; do
    $pin bench/scope_tree $view $rounds $turn tcp
done | awk '
    { print }
    # Linearity: the cost of an element among 100,000 relative to that among 1,000;
    # because of caches, the bare loop grows, too, so the ratio is also compared to that
    # of the loop.
    /^figure: .*_(cpu_per_element|cpu_of_bare) / {
        count = $2
        sub(/^scope_tree_/, "", count)
        name = count
        sub(/_.*/, "", count)
        sub(/^[0-9]+_/, "", name)
        value[name, count] = $3
        names[name] = 1
    }
    END {
        for (name in names)
            if (value[name, 1000] > 0)
                printf "figure: scope_growth_%s_100000_to_1000 %.2f ratio\n", name,
                       value[name, 100000] / value[name, 1000]
    }'
