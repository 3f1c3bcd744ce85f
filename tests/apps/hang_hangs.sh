# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# hang_hangs.sh - each deadlock of apps/hang lasts for --seconds; then the program calls
# MPI_Abort().
#
# The exit status shows that: it is 3 only if the program gave up. The last message is
# not checked, because Hydra drops output that it has not read before MPI_Abort().

. "${top_srcdir:?not set}/tests/apps/functions.sh"

log=$(mktemp) || exit 99
trap 'rm -f "$log"' EXIT

for ranks in 2 3; do
    while read -r options; do
        run "$ranks" hang --after 3 --seconds 0.3 $options >"$log" 2>&1
        expect 3 "hang $options on $ranks ranks gives up"
        check 'after the good iterations' grep -q '3 good iterations done' "$log"
        check 'and not because it went on' [ -z "$(grep 'did not hang' "$log")" ]
    done <<'CASES'
receive-cycle
missing-collective
missing-collective --absent-sleeps
wrong-tag
send-cycle
wait
CASES
done

# With --seconds 0 there is no time limit: `timeout` has to end the program.
timeout -k 5 1 "$MPIEXEC" -n 2 "$apps/hang" receive-cycle --seconds 0 >"$log" 2>&1
expect 124 'hang receive-cycle --seconds 0 does not end by itself'

run 2 hang none --seconds 0 >"$log" 2>&1
expect 0 'hang none ends'
run 2 hang send-cycle --bytes 1 >"$log" 2>&1
expect 1 'a case that does not hang is an error'

finish
