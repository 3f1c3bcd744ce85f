#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_collected.sh - run, exec, list and clean with the collector and MPI programs.

. "${0%/*}/functions.sh"
need_mpi
apps=$top_builddir/apps

# A good end with --keep: the tuples are there.
expect 0 "$eventspace" run -n 2 --keep --threshold 10 --name "$prefix-ring" -- "$apps/ring"
expect 0 "$eventspace" list -f json -e "$prefix-ring"
json_lines_hold "o['threshold'] <= 15 if o['type'] == 'element' else (o['state'] == 'finalized' and o['size'] == 2 and o['tuples'] > 100)"
[ "$(grep -c '"type":"process"' "$folder/out")" = 2 ] || fault "not two processes"
expect 0 "$eventspace" events -r 1 --last 5 "$prefix-ring"
contains out MPI_
expect 0 "$eventspace" clean "$prefix-ring"
contains out "2 segments, run directory"

# Nobody calls MPI.
expect 0 env -u EVENTSPACE_LAUNCHER "$eventspace" run -n 1 --name "$prefix-none" --record "$folder/none" -- true
[ "$(cat "$folder/err")" = "eventspace run: nothing was recorded: no call of MPI was seen ('eventspace doctor true' says what can hide calls)" ] ||
    fault "run without MPI says: $(cat "$folder/err")"

# Without it nothing is left, by no way of starting.
expect 0 "$eventspace" run -n 2 --name "$prefix-gone" -- "$apps/ring"
expect 2 "$eventspace" list "$prefix-gone"
expect 0 "$MPIEXEC" -n 2 "$eventspace" exec -- "$apps/ring"
expect 0 "$MPIEXEC" -n 2 "$eventspace" exec --keep -- sh -c 'echo "$EVENTSPACE_RUN"'
name=$(sort -u "$folder/out")
[[ $name == job-* && $(wc -l <<<"$name") == 1 ]] || fault "the ranks' runs are $name"
# Who cleans up behind a rank alone does so after the rank's end.
ln -s "$(realpath "$apps/ring")" "$folder/$prefix-alone" || exit 1
has_no_segments()
{
    ! compgen -G "/dev/shm/eventspace.$1-*"
}
expect 0 "$eventspace" exec -- "$folder/$prefix-alone"
await 60 has_no_segments "$prefix-alone"

# A run's name that is given, under the user's own launcher.
expect 0 env EVENTSPACE_RUN="$prefix-own" "$MPIEXEC" -n 2 "$eventspace" exec -- "$apps/ring"
expect 0 "$eventspace" list -f json "$prefix-own"
json_lines_hold "o['state'] == 'finalized' and not o['alive']"
expect 0 "$eventspace" clean "$prefix-own"

# While it records, the sum above the table is that of the rows: all is read once.
"$eventspace" run -n 2 --name "$prefix-busy" -- "$apps/ring" --rounds 100000000 \
    >"$folder/busy" 2>&1 </dev/null &
launched=$!
records()
{
    "$eventspace" list "$prefix-busy" | grep -q '[1-9][0-9]* tuples'
}
await 60 records
for _ in 1 2 3 4 5; do
    expect 0 "$eventspace" list "$prefix-busy"
    awk '/^run /  { match($0, /[0-9]+ tuples/); sum = substr($0, RSTART) + 0; next }
         /^ *RANK/ { end = index($0, "TUPLES") + length("TUPLES") - 1; next }
         end && /running/ { count = split(substr($0, 1, end), word); rows += word[count] }
         END { exit !(sum > 0 && sum == rows) }' "$folder/out" ||
        fault "the rows are not the sum: $(cat "$folder/out")"
done
kill -TERM "$launched"
wait "$launched"
expect 0 "$eventspace" clean "$prefix-busy"

# Killed in mid-run: what was recorded last is still there, and how it ended.
"$eventspace" run -n 2 --name "$prefix-killed" -- "$apps/hang" --seconds 60 receive-cycle \
    >"$folder/hang.out" 2>"$folder/hang.err" </dev/null &
launched=$!
await 60 grep -q 'good iterations done' "$folder/hang.out"
waits()
{
    "$eventspace" events -r 1 "$prefix-killed" | grep -q 'MPI_Recv from 0, tag 3'
}
await 60 waits
victim=$("$eventspace" list -f json "$prefix-killed" |
    sed -n 's/.*"rank":1,.*"pid":\([0-9]*\),.*/\1/p')
# The launcher kills rank 0 then: not before it is noted how rank 1 ended.
launcher=$(ps -o ppid= -p "$victim")
is_noted()
{
    "$eventspace" list -f json "$prefix-killed" | grep -q '"rank":1,.*"state":"killed"'
}
kill -STOP "${launcher// /}"
kill -KILL "$victim" || fault "rank 1 has no process '$victim'"
await 60 is_noted
kill -CONT "${launcher// /}"
await 60 test ! -e "/proc/$launched"
wait $launched
[ $? -ne 0 ] || fault "run ended well though rank 1 was killed"
grep -q 'rank 1 was killed by signal 9' "$folder/hang.err" ||
    fault "run does not say who died: $(cat "$folder/hang.err")"
grep -q "eventspace events $prefix-killed" "$folder/hang.err" ||
    fault "run does not say how to look"
expect 0 "$eventspace" list "$prefix-killed"
contains out "killed by signal 9"
expect 0 "$eventspace" events -r 1 "$prefix-killed"
contains out "MPI_Recv from 0, tag 3"
contains out "MPI_Barrier"
expect 1 "$eventspace" heartbeat --once "$prefix-killed"
contains out dead
expect 0 "$eventspace" clean "$prefix-killed"
finish
