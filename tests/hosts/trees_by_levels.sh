#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# trees_by_levels.sh - over a slow line, a tree that follows the clusters must be faster
# than one that does not, as measured by bench/collective_hosts.sh.

. "${top_srcdir:?not set}/tests/checks.sh"

[ -n "${MPIEXEC:-}" ] || skip 'no mpiexec was found by configure'
[ -x "${top_builddir:?not set}/bench/collective" ] || skip 'the benchmarks are not built'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Large messages, so that the rate of the line decides and not the load of this machine.
# Ranks may sleep 0.1 ms between two tests, which is little against the line's 5 ms.
timeout -k 5 200 bash "$top_srcdir/bench/collective_hosts.sh" --rounds 3 --sizes 8,1048576 \
    --operations bcast --others "library binomial" -o "$work/bench" >"$work/out" 2>"$work/err"
status=$?
cat "$work/out" "$work/err"
[ $status -ne 77 ] || skip 'there can be no pretend hosts'
[ $status -eq 0 ]
expect 0 'the benchmark runs'
check 'it has a plot' grep -q '<circle' "$work/bench.svg"
check 'and a list' grep -q '^collective_hosts_bcast_8_levels_host_cluster_time' "$work/bench.tsv"
awk '$2 == "collective_hosts_bcast_1048576_binomial_ratio" { n++; ratio = $3 }
    END { exit !(n == 1 && ratio > 1.1) }' "$work/out"
expect 0 'the blind tree takes longer'
finish
