#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_collect_bench.sh - bench/collect.sh and bench/exchange.sh measure what they say.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_LAUNCHER # as a user starts it
[ -x "$top_builddir/bench/collect_null" ] || fault "bench/collect_null is not built"

# has_figures NAME... : one line for each, with a value.
has_figures() {
    for figure; do
        [ "$(grep -c "^figure: $figure -*[0-9.]* [a-z]*$" "$folder/out")" -eq 1 ] ||
            fault "not one figure $figure: $(cat "$folder/out" "$folder/err")"
    done
}

# They run in the build folder, as users run them.
cd "$top_builddir" || exit 1
timeout -k 5 100 sh "$top_srcdir/bench/collect.sh" 4 >"$folder/out" 2>"$folder/err" ||
    fault "collect.sh ended with $?: $(cat "$folder/out" "$folder/err")"
is_empty err
has_figures collect_null_{send,receive,isend_irecv_waitall,allreduce}_to_floor \
    collect_null_{test,iprobe}_poll_over_pass_through

timeout -k 5 100 sh "$top_srcdir/bench/exchange.sh" 1 4 >"$folder/out" 2>"$folder/err" ||
    fault "exchange.sh ended with $?: $(cat "$folder/out" "$folder/err")"
is_empty err
has_figures exchange_{pingpong,rate}_{least,median}_added

finish
