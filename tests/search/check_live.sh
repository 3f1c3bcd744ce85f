#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_live.sh - eventspace search --follow on running programs: matches are printed before
# the program ends, those that need the end are printed at the end, and together they are
# those of the recording of the same run.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi
unset ES_YIELD_NAP # the programs must still run while they are searched
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

# start NAME RANKS PROGRAM... - starts a recorded run in the background and notes when it
# ends. $keep may be --keep: the run exists after its end.
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

# follow NAME PATTERNS ARGUMENTS... - prints the matches, each after the time of its
# arrival.
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

# compare NAME PATTERNS EARLY LATE PREDICATE... - waits for both, then compares the matches.
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

# A farm: messages are found while it runs; lost ones are known at the end only.
start farm 3 "$apps/masterworker" --tasks 3000 --numbers 4000
follow farm mpi MessageRace LostMessage Overtaking
compare farm mpi MessageRace '' MessageRace LostMessage Overtaking

# A wind tunnel, with a second follower that ends early by --limit.
start tunnel 2 "$apps/windtunnel" --exchange-ms 4 --iterations 1000000 --check-every 20 \
    --seconds 300 --until "$folder/enough"
follow tunnel "$folder/live.pattern" Matched Initial Last
expect 0 "$eventspace" search "$run" -p "$folder/live.pattern" --follow Matched --limit 3
[ "$(grep -vc '^ ' "$folder/out")" -eq 3 ] || fault "--limit 3: $(cat "$folder/out")"
kill -0 "$program" 2>/dev/null || fault 'the tunnel ended before there was enough'
await 20 [ -s "$folder/tunnel.followed" ]
touch "$folder/enough"
compare tunnel "$folder/live.pattern" Matched,Initial Last Matched Initial Last

# A run that may be over before it is followed.
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

# A run that hangs: operations under way are reported when the search ends, by an interrupt.
start hang 2 "$apps/hang" receive-cycle --seconds 30
# Bash starts background commands with interrupts ignored, so Python restores them.
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

# One rank is killed: followers end and report the matches so far.
follow hang mpi UnderWay
for process in $(descendants "$program"); do
    [ "$(readlink "/proc/$process/exe")" = "$(readlink -f "$apps/hang")" ] && victim=$process
done
kill -KILL "${victim:?nobody hangs}"
wait "$program"
wait "$follower"
[ "$(cat "$folder/hang.follow-status")" -le 1 ] ||
    fault "following the dead: $(cat "$folder/hang.follow-status" "$folder/hang.err")"

# A run that is over and kept, and one that no longer exists.
expect 0 "$eventspace" search "$run" -p mpi UnderWay --follow
contains out 'MPI_Recv open'
expect 2 "$eventspace" search "$prefix-farm" -p mpi --follow
contains err 'no such file, archive or run'
finish
