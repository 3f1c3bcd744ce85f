#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_live.sh - eventspace search --follow on programs that run: matches are printed
# before the program ends, those that need the end come at the end, and all together are
# those of the recording of the same run.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi
unset ES_YIELD_NAP # the programs are to last while they are searched
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES
python=${PYTHON:-python3}
same=$top_srcdir/tests/search/same_matches.py

apps=$top_builddir/apps
export EVENTSPACE_PATTERNS=$top_srcdir/share/patterns

cat >"$folder/live.pattern" <<'END'
Send := [class = "send"]; Recv := [class = "receive"];
Send $s; Recv $r; Recv *others; Send *sends;
Message := $s => $r;
Matched := ($s => $r) & $s.tag = $r.tag;
Initial := *others !--> $s;
Last := $s !--> *sends;
END

# start NAME RANKS PROGRAM... : a recorded run in the background; when it ended is noted.
# $keep may be --keep: the run is there after its end.
keep=
start()
{
    local name=$1 ranks=$2
    shift 2
    run=$prefix-$name
    (
        # shellcheck disable=SC2086 # nothing or an option
        timeout -k 5 60 "$eventspace" run -n "$ranks" $keep \
            --name "$run" --record "$folder/$name" -- "$@" \
            >"$folder/$name.program" 2>&1 </dev/null
        echo $? >"$folder/$name.status"
        date +%s%N >"$folder/$name.ended"
    ) &
    program=$!
    await 20 "$eventspace" search "$run" -p "$folder/live.pattern" Message --first
}

# follow NAME PATTERNS ARGUMENTS... : lines after the times at which they came.
follow()
{
    local name=$1 patterns=$2
    shift 2
    (
        timeout -k 5 40 "$eventspace" search "$run" -p "$patterns" --follow "$@" \
            2>"$folder/$name.err"
        echo $? >"$folder/$name.follow-status"
    ) | "$python" "$same" stamp >"$folder/$name.followed" &
    follower=$!
}

# compare NAME PATTERNS EARLY LATE PREDICATE... : after both have ended.
compare()
{
    local name=$1 patterns=$2 early=$3 late=$4
    shift 4
    wait "$program"
    wait "$follower"
    timeout -k 5 20 "$eventspace" search "$folder/$name" -p "$patterns" "$@" \
        >"$folder/$name.recorded" 2>"$folder/$name.recorded.err"
    "$python" "$same" compare "$folder" "$name" "$early" "$late" ||
        fault "$name: $(cat "$folder/$name.err" "$folder/$name.program")"
}

# descendants PROCESS
descendants()
{
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}

# A farm: messages while it runs; what nobody received is known in the end only.
start farm 3 "$apps/masterworker" --tasks 3000 --numbers 4000
follow farm mpi MessageRace LostMessage Overtaking
compare farm mpi MessageRace '' MessageRace LostMessage Overtaking

# A wind tunnel, with one follower more that has enough soon.
start tunnel 2 "$apps/windtunnel" --exchange-ms 4 --iterations 1000000 --check-every 20 \
    --seconds 40 --until "$folder/enough"
follow tunnel "$folder/live.pattern" Matched Initial Last
expect 0 "$eventspace" search "$run" -p "$folder/live.pattern" --follow Matched --limit 3
[ "$(grep -vc '^ ' "$folder/out")" -eq 3 ] || fault "--limit 3: $(cat "$folder/out")"
kill -0 "$program" 2>/dev/null || fault 'the tunnel ended before there was enough'
await 20 [ -s "$folder/tunnel.followed" ]
touch "$folder/enough"
compare tunnel "$folder/live.pattern" Matched,Initial Last Matched Initial Last

# One that may be over before anybody has begun to follow it.
keep=--keep
start life 3 "$apps/life" --hops 3000
follow life "$folder/live.pattern" Message Matched
"$eventspace" search "$run" -p "$folder/live.pattern" Last --follow --keep 64 --memory 64KiB \
    --count >"$folder/few" 2>"$folder/few.err" &
few=$!
compare life "$folder/live.pattern" '' Message Message Matched
wait $few
[ "$(grep -c 'matches may be missing or wrong: ' "$folder/few.err")" -eq 1 ] ||
    fault "that there was too little room is not told once: $(cat "$folder/few.err")"
"$eventspace" clean --force "$run" >"$folder/out"
keep=

# A run that stands still: what it hangs in is told when it is ended, by an interrupt here.
start hang 2 "$apps/hang" receive-cycle --seconds 30
# What bash starts in the background ignores interrupts.
"$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execv(sys.argv[1], sys.argv[1:])' \
    "$eventspace" search "$run" -p "$folder/live.pattern" Message Last --follow --stats \
    >"$folder/out" 2>"$folder/err" &
interrupted=$!
await 20 grep -q '^Message: ' "$folder/out"
! grep -q '^Last: ' "$folder/out" || fault 'what is last was told before the end'
kill -INT $interrupted
wait $interrupted || fault "an interrupted search ended with $?"
grep -q '^Last: ' "$folder/out" || fault 'what waited for the end was not told'
grep -q 'the search was ended by an interrupt' "$folder/err" || fault "$(cat "$folder/err")"
contains out "Last"

# One rank dies: followers end, with what there was.
follow hang mpi UnderWay
for process in $(descendants "$program"); do
    [ "$(readlink "/proc/$process/exe")" = "$(readlink -f "$apps/hang")" ] && victim=$process
done
kill -KILL "${victim:?nobody hangs}"
wait "$program"
wait "$follower"
[ "$(cat "$folder/hang.follow-status")" -le 1 ] ||
    fault "following the dead: $(cat "$folder/hang.follow-status" "$folder/hang.err")"

# It is over, but there; and one that is not there any more.
expect 0 "$eventspace" search "$run" -p mpi UnderWay --follow
contains out 'MPI_Recv open'
expect 2 "$eventspace" search "$prefix-farm" -p mpi --follow
contains err 'no such file, archive or run'
finish
