#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_record_bench.sh - bench/record.sh prints all of its figures.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
need_mpi
unset EVENTSPACE_LAUNCHER # as a user starts it
[ -x "$top_builddir/bench/load" ] || fault "bench/load is not built"

# It runs in the build folder, as users run it.
cd "$top_builddir" || exit 1
timeout -k 5 100 sh "$top_srcdir/bench/record.sh" 1 1 >"$folder/out" 2>"$folder/err" ||
    fault "it ended with $?: $(cat "$folder/out" "$folder/err")"
is_empty err
for figure in tunnel_recorded_slowdown tunnel_blocked_slowdown pace to_plain_write \
    live_discard_pace live_discard_lost live_block_pace live_block_lost; do
    [ "$(grep -c "^figure: record_$figure [0-9.]* [a-z/]*$" "$folder/out")" -eq 1 ] ||
        fault "not one figure $figure: $(cat "$folder/out")"
done
contains out "figure: record_live_block_lost 0.000 ratio"
expect 2 sh "$top_srcdir/bench/record.sh" 0
contains err "usage:"

finish
