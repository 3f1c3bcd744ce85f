#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# tree_runs.sh - operations over trees leave the result of the documented order, to the last
# byte, and that of the library.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

for seed in 1 2; do
    for n in 1 2 3 5 7; do
        ranks "$n" "$bin/tree_runs" "$seed" 200
        expect 0 "seed $seed: $n ranks come to the same by tree"
    done
done
finish
