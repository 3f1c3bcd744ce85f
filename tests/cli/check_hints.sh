#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_hints.sh - what to ask next stands behind answers on a terminal, nowhere else.

. "${0%/*}/functions.sh"
need_mpi
apps=$top_builddir/apps
on_terminal=("${PYTHON:-python3}" "$top_srcdir/tests/cli/terminal.py" 100)

expect 0 "$eventspace" run -n 2 --keep --name "$prefix-ring" -- "$apps/ring"

expect 0 "${on_terminal[@]}" "$eventspace" record -o "$folder/a" "$prefix-ring"
contains out "next: eventspace order $folder/a, "
expect 0 "${on_terminal[@]}" "$eventspace" record --quiet -o "$folder/b" "$prefix-ring"
lacks out "next:"
expect 0 "$eventspace" record -o "$folder/c" "$prefix-ring"
lacks out "next:"
lacks err "next:"

echo 'S := [class = "send"];' >"$folder/send.pattern"
search=("$eventspace" search -p "$folder/send.pattern" "$folder/a" --limit 2)
expect 0 "${on_terminal[@]}" "${search[@]}"
contains out "next: eventspace export $folder/a --to perfetto "
expect 0 "${on_terminal[@]}" "${search[@]}" --count
lacks out "next:"
expect 0 "${on_terminal[@]}" "${search[@]}" --quiet
lacks out "next:"
expect 0 "${search[@]}"
lacks out "next:"
lacks err "next:"

# The run that was meant is named where a file, an archive or a run could be.
for command in "search -p $folder/send.pattern" order; do
    # shellcheck disable=SC2086
    expect 2 "$eventspace" $command "${prefix}-rnig"
    contains err "$prefix-rnig: no such file, archive or run on this host; did you mean '$prefix-ring'?"
done

expect 0 "$eventspace" clean "$prefix-ring"

# Who is late in collective operations leads to what it did.
expect 0 "$eventspace" run -n 2 --keep --name "$prefix-late" -- "$apps/imbalance"
expect 0 "${on_terminal[@]}" "$eventspace" collectives "$prefix-late"
contains out "next: eventspace events --rank "
expect 0 "$eventspace" clean "$prefix-late"

# One who hangs leads to what came before.
"$eventspace" run -n 2 --name "$prefix-hung" -- "$apps/hang" --seconds 60 receive-cycle \
    >"$folder/hang.out" 2>&1 </dev/null &
launched=$!
await 20 grep -q 'good iterations done' "$folder/hang.out"
both_wait()
{
    [ "$("$eventspace" heartbeat --once "$prefix-hung" | grep -c 'MPI_Recv from [01], tag 3')" -ge 2 ]
}
await 20 both_wait
expect 1 "${on_terminal[@]}" "$eventspace" heartbeat --interval 0.1 --stalled-after 0.5 --count 40 \
    "$prefix-hung"
contains out "next: eventspace events --rank 0 --limit 10 $prefix-hung"
expect 1 "$eventspace" heartbeat --once --stalled-after 0.1 "$prefix-hung"
lacks err "next:"
kill -INT $launched
wait $launched
expect 0 "$eventspace" clean "$prefix-hung"
finish
