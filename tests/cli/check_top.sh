#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_top.sh - top of a run that the load generator writes: batch, and on terminals of
# several sizes.

. "${0%/*}/functions.sh"
load=$top_builddir/bench/load
run=$prefix-top

"$load" --run "$run" --hosts 2 --ranks 12 --elements 2 --rate 200 --seconds 0 --quiet \
    >"$folder/load" &
maker=$!
end_all()
{
    kill $maker 2>/dev/null
    tmux -L "$prefix" kill-server 2>/dev/null
    clear_up
}
trap end_all EXIT
await 20 grep -q ready "$folder/load"

# Batch: each look is a table, or an object.
expect 0 "$eventspace" top --batch -n 2 -i 100ms "$run"
[ "$(grep -c "^run $run  12 ranks on 2 hosts" "$folder/out")" = 2 ] || fault "not two looks"
[ "$(grep -c 'MPI_' "$folder/out")" = 24 ] || fault "not 12 rows in each"
contains out "12 progressing"
lacks out CAUSED
expect 0 "$eventspace" top --batch -n 1 --sort=-rank --filter 2-4 "$run"
[ "$(awk '$1 ~ /^[0-9]+$/ && $2 ~ /^host-/ { printf "%s ", $1 }' "$folder/out")" = "4 3 2 " ] ||
    fault "not ranks 4 to 2: $(cat "$folder/out")"
expect 0 "$eventspace" top --batch -n 1 --by host --waits "$run"
[ "$(grep -c '^host  *host-[01] ' "$folder/out")" = 2 ] || fault "not two hosts: $(cat "$folder/out")"
contains out SUFFERED
expect 0 "$eventspace" top -f json -n 2 -i 100ms --sort rank "$run"
json_lines_hold "o['type'] == 'top' and o['ranks'] == 12 and o['hosts'] == 2 and o['progressing'] == 12"
json_lines_hold "[row['rank'] for row in o['rows']] == list(range(12)) and o['events_per_second'] > 0"
expect 0 "$eventspace" top --batch -n 1 --color=always --filter none-such "$run"
lacks out MPI_

# What is wrong is said once, and nothing is started.
expect 2 "$eventspace" top --batch --sort size "$run"
contains err "--sort"
for wrong in "--interval 1ms" "--by process" "-n 0" "--color red" "$run-other" "a b"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$eventspace" top --batch $wrong
done
expect 2 "$eventspace" top "$run"
[ "$(wc -l <"$folder/err")" = 1 ] || fault "not one line: $(cat "$folder/err")"

grep -q '^#define HAVE_NCURSESW 1' "$top_builddir/config.h" || {
    contains err "built without ncurses"
    finish
}
contains err "not a terminal: give --batch"

# Random keys and sizes.
for seed in ${ES_TOP_SEED:-1 $$}; do
    expect 0 "${PYTHON:-python3}" "${0%/*}/top_keys.py" "$seed" 100 \
        "$eventspace" top -i 100ms "$run"
done

command -v tmux >/dev/null || {
    echo "the rest needs tmux"
    finish
}
. "${0%/*}/top_terminal.sh"

open_terminal 80 24 "$eventspace" top -i 200ms "$run"
shows "12 ranks on 2 hosts"
shows "12 progressing"
shows "nothing is wrong"
# Sorted by rank from the last on; the title of the table stands above.
keys '<' '<' I
first_rank_is()
{
    [ "$(screen | grep -A 1 'RANK STATE' | awk 'NR == 2 { print $1 }')" = "$1" ]
}
await 10 first_rank_is 11 || fault "not rank 11 first: $(screen)"
# The menu of columns: it begins at the one that is sorted by, and Esc changes nothing.
keys F6
shows "Sort by"
screen | grep -q '^STATE ' || fault "no column in the menu: $(screen)"
screen | grep -q '^CAUSED' && fault "a column that is not shown is in the menu"
keys Down Down Escape
hides "Sort by"
await 10 first_rank_is 11 || fault "not rank 11 first: $(screen)"
keys F6 Down Enter
hides "Sort by"
keys F6 Up Up Enter
hides "Sort by"
await 10 first_rank_is 0 || fault "not rank 0 first: $(screen)"
keys I
await 10 first_rank_is 11 || fault "not rank 11 first: $(screen)"
# A filter, and off again; a search.
keys '\' 3 , 5 Enter
shows "[filter: 3,5]"
await 10 first_rank_is 5 || fault "not rank 5 first: $(screen)"
keys '\' Escape
await 10 first_rank_is 11 || fault "not rank 11 first: $(screen)"
keys / 'host-1' Enter
hides "Search:"
# A tree, folded; hosts only.
keys F5
shows "- host-0 (6)"
keys Home +
shows "+ host-0 (6)"
keys '*'
shows "+ host-1 (6)"
keys F5
# The rank below the table: a strip, and its events.
keys Tab
shows "last 10.0 s: "
shows "MPI_Send"
# Paused, and on again.
keys Z
shows "paused"
keys Z
hides "paused"
keys F1
shows "any key goes back"
keys x
shows "12 progressing"

# Other sizes: what does not fit is left out.
resize 40 10
shows "STATE"
hides "EVENTS/S"
shows "F1 help"
keys F6 End
await 10 eval 'screen | grep -q "^LINE "' || fault "the menu does not scroll: $(screen)"
keys Escape
hides "Sort by"
resize 200 60
shows "HOST"
shows "EVENTS/S"
is_on_alternate 1 || fault "not on the alternate screen"
keys q
shows "ended 0"
is_on_alternate 0 || fault "still on the alternate screen"
is_as_before || fault "the terminal is not as it was"
close_terminal

# Signals leave the terminal as it was.
for signal in TERM INT HUP SEGV ABRT; do
    open_terminal 60 12 "$eventspace" top -i 200ms "$run"
    shows "12 progressing"
    kill -s $signal "$(pid_of "$eventspace")"
    shows "ended "
    is_on_alternate 0 || fault "SIG$signal: still on the alternate screen"
    is_as_before || fault "SIG$signal: the terminal is not as it was"
    close_terminal
done

# Stopped and continued: the shell has its screen meanwhile.
open_shell 60 12
keys "$eventspace top -i 200ms $run" Enter
shows "12 progressing"
keys C-z
shows "Stopped"
is_on_alternate 0 || fault "stopped on the alternate screen"
keys "fg" Enter
shows "12 progressing"
keys q
close_terminal

# Colours, and none; ASCII where the locale has nothing else.
open_terminal 80 24 env -u NO_COLOR "$eventspace" top "$run"
shows "12 progressing"
await 10 has_colours || fault "no colours"
close_terminal
open_terminal 80 24 env NO_COLOR=1 "$eventspace" top "$run"
shows "12 progressing"
has_colours && fault "colours"
close_terminal
open_terminal 80 24 env LC_ALL=C "$eventspace" top --by tree "$run"
shows '`- 0'
screen | LC_ALL=C grep -q '[^ -~]' && fault "not ASCII: $(screen)"
close_terminal
open_terminal 80 24 env TERM=none-such "$eventspace" top "$run"
shows "TERM=none-such is not known"
shows "ended 2"
close_terminal
finish
