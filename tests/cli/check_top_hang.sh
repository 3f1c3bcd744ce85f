#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_top_hang.sh - top of a run that hangs names the deadlock, on terminals of three
# sizes and in batch.

. "${0%/*}/functions.sh"
need_mpi
run=$prefix-hang

"$eventspace" run -n 4 --name "$run" -- "$top_builddir/apps/hang" receive-cycle \
    --seconds 100 >"$folder/hang" 2>&1 </dev/null &
maker=$!
end_all()
{
    kill $maker 2>/dev/null
    wait $maker 2>/dev/null
    tmux -L "$prefix" kill-server 2>/dev/null
    clear_up
}
trap end_all EXIT
hangs()
{
    "$eventspace" why "$run" 2>&1 | grep -q 'DEADLOCK (certain)'
}
await 30 hangs || fault "does not hang: $(cat "$folder/hang")"

expect 0 "$eventspace" top --batch -n 1 "$run"
contains out "DEADLOCK (certain): 0 -> 3 -> 2 -> 1 -> 0"
[ "$(grep -c '^ *[0-3] .*DEADLOCK .*MPI_Recv' "$folder/out")" = 4 ] ||
    fault "not four ranks: $(cat "$folder/out")"
expect 0 "$eventspace" top -f json -n 1 --filter deadlock "$run"
json_lines_hold "[row['finding'] for row in o['rows']] == ['DEADLOCK'] * 4"
json_lines_hold "all(row['open'] and row['operation'] == 'MPI_Recv' for row in o['rows'])"
json_lines_hold "all(row['mpi_share'] > 0 and row['peer'] == (row['rank'] + 3) % 4 for row in o['rows'])"

if grep -q '^#define HAVE_NCURSESW 1' "$top_builddir/config.h" && command -v tmux >/dev/null; then
    . "${0%/*}/top_terminal.sh"
    for size in "80 24" "40 10" "200 60"; do
        # shellcheck disable=SC2086 # two numbers
        open_terminal $size "$eventspace" top "$run"
        shows "DEADLOCK (certain)"
        await 10 eval '[ "$(screen | grep -c "[0-3] .*DEADLOCK ")" -ge 3 ]' ||
            fault "$size: ranks are not named: $(screen)"
        keys q
        shows "ended 0"
        close_terminal
    done
else
    echo "no ncurses or no tmux: terminals are left out"
fi
finish
