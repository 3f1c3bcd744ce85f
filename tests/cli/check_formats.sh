#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_formats.sh - docs/formats.md and the JSON Schema tell of each member that commands
# print, and of no other.

. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

printed=$folder/printed
mkdir "$printed"

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# prints NAME STATUS ARGUMENT... : keeps the JSON that a command prints.
prints()
{
    local name=$1 wanted=$2
    shift 2
    expect "$wanted" "$eventspace" "$@" --format json
    cat "$folder/out" >>"$printed/$name.json"
}

# expect_any COMMAND... : what it prints counts, not how it ends.
expect_any()
{
    timeout -k 5 60 "$@" >"$folder/out" 2>"$folder/err"
}

is_live()
{
    "$eventspace" scope list "$run" | grep -q heartbeat
}

# A run that goes on, with collective operations in trees, and a scope.
run=$prefix-live
"$eventspace" run -n 4 --name "$run" --trees=explicit:0-1,1-2,2-3 -- \
    "$top_builddir/apps/imbalance" --iterations 100000 --ranks-late 3 --late-us 4000 \
    --sleep >"$folder/live" 2>&1 </dev/null &
live=$!
await 20 "$eventspace" scope list "$run"
await 20 "$eventspace" heartbeat --once "$run"
"$eventspace" heartbeat --interval 0.1 "$run" >"$folder/heartbeat" 2>&1 &
await 20 is_live || cat "$folder/live" "$folder/heartbeat"
prints list 0 list
prints list 0 list --elements "$run"
prints heartbeat 0 heartbeat --count 2 --interval 0.1 "$run"
prints events 0 events --sites "$run"
prints events 0 events --reduce 'mean of=duration by=thread' "$run"
prints events 0 events --reduce 'mean of=duration by=site' "$run"
# Of few operations not everything is told.
are_told()
{
    "$eventspace" collectives --nodes --advise --once --format json "$run" >"$folder/look" &&
        grep -q '"type":"node"' "$folder/look" && grep -q '"type":"advice"' "$folder/look"
}
await 30 are_told || cat "$folder/look"
prints collectives 0 collectives --nodes --instances --by-size --advise --count 2 "$run"
prints time 0 time "$run"
prints profile 0 profile "$run"
prints top 0 top --count 2 --interval 0.1 --waits "$run"
prints top 0 top --count 1 --by tree "$run"
prints 'scope list' 0 scope list "$run"
prints 'scope show' 0 scope show heartbeat "$run"
expect 0 "$eventspace" collect tree kary:4 --bytes 0-4096 "$run"
prints 'collect tree' 0 collect tree "$run"
prints list 0 list "$run"
kill $live
prints record 0 record -o "$folder/archive" "$run"

# is_stuck SIGN : all ranks wait by now, and what a look tells has this in it.
is_stuck()
{
    "$eventspace" heartbeat --once --stalled-after 0.2 --format json "$run" >"$folder/look"
    grep -qF "$1" "$folder/look"
}

# hangs SIGN NAME ARGUMENT... : a run that is stuck.
hangs()
{
    local sign=$1
    shift
    run=$prefix-$1
    "$eventspace" run -n 3 --name "$run" -- "$top_builddir/apps/hang" "$@" \
        >"$folder/hang" 2>&1 </dev/null &
    await 30 grep -q "now $1" "$folder/hang"
    await 30 is_stuck "$sign" || cat "$folder/hang" "$folder/look"
    prints heartbeat 1 heartbeat --count 4 --interval 0.1 --stalled-after 0.2 "$run"
    expect_any "$eventspace" why --format json "$run"
    cat "$folder/out" >>"$printed/why.json"
    prints events 0 events --sites "$run"
    kill $!
}
hangs '"cycle":[0,2,1]' receive-cycle
hangs '"requests":[{"operation":"MPI_Irecv"' wait
hangs '"held_up_by":[{"rank":2,"threads":2' missing-collective --absent-sleeps

# What is wrong with runs that ended well.
latent=$top_builddir/tests/mpi/latent
[ -x "$latent" ] || latent=$top_builddir/mpi/latent
for how in send-first gather-any leave-over; do
    expect 0 timeout -k 5 120 "$eventspace" run -n 3 --record "$folder/$how" -- "$latent" "$how"
    expect_any "$eventspace" why --format json "$folder/$how"
    cat "$folder/out" >>"$printed/why.json"
done

# A reader that is stopped for a while loses events.
run=$prefix-ring
"$eventspace" run -n 2 --name "$run" -- "$top_builddir/apps/ring" --rounds 100000000 \
    >"$folder/ring" 2>&1 </dev/null &
ring=$!
await 20 "$eventspace" heartbeat --once "$run"
expect 0 "$eventspace" collect threshold 16 "$run"
"$eventspace" events --follow --new --format json "$run" >"$folder/followed" &
reader=$!
has_lost()
{
    kill -STOP $reader
    sleep 0.5
    kill -CONT $reader
    grep '"type":"loss"' "$folder/followed" >>"$printed/events.json"
}
await 20 has_lost
kill $reader $ring

# What a process leaves.
run=$prefix-left
"$helpers/make_segments" "$run" 2 50
prints clean 0 clean "$run"

# Who sends to whom.
run=$prefix-sent
expect 0 "$eventspace" run -n 3 --keep --name "$run" -- "$top_builddir/apps/ring" --rounds 3
prints profile 0 profile "$run"

# Events of a run, ordered and searched.
run=$prefix-ended
expect 0 "$eventspace" run -n 3 --keep --name "$run" -- "$top_builddir/apps/ring" --rounds 3
printf '0.0:1 1.0:1\nconcurrent 0.0:1\nleast-successors 0.0:1\n' >"$folder/questions"
prints order 0 order --stats --query "$folder/questions" "$run"
prints order 0 order --stats --store cluster "$run"
cat >"$folder/messages.pattern" <<'END'
S := ["", "MPI_Send", ""];
Message := S --> ["", "MPI_Recv", ""];
Sends := S || S;
END
prints search 0 search -p "$folder/messages.pattern" "$run" --limit 2
prints search 0 search -p "$folder/messages.pattern" "$run" Message --count --stats
prints search 0 search -p "$folder/messages.pattern" "$run" --follow --limit 1 --stats
for by in rank pair communicator; do
    prints search 0 search -p "$folder/messages.pattern" "$run" --by "$by"
done
prints search 0 search -p "$folder/messages.pattern" --list

# Messages of any source that came in another order.
for name in a b; do
    expect 0 "$eventspace" run -n 3 --record "$folder/$name" --name "$prefix-$name" -- \
        "$top_builddir/apps/masterworker"
done
expect_any "$eventspace" compare --format json "$folder/a" "$folder/b"
cat "$folder/out" >>"$printed/compare.json"
expect_any "$eventspace" compare --format json "$folder/a" "$folder/archive"
cat "$folder/out" >>"$printed/compare.json"

prints doctor 0 doctor
prints check 0 check "$top_srcdir/tests/data/pathmap/collectives/input"
prints check 2 check /dev/null

# Ends that only a server sees, a gather tree of many elements, and messages without
# another end are not provoked; a change of trees is in check_advice.sh.
"${PYTHON:-python3}" "${0%/*}/record_members.py" "$top_srcdir/docs/formats.md" "$printed" \
    "list process exit_code" "list process signal" "scope show stage elements" \
    "collectives applied" "order statistics unmatched.communicator" \
    "order statistics unmatched.source" "order statistics unmatched.destination" \
    "order statistics unmatched.tag" "order statistics unmatched.sends" \
    "order statistics unmatched.receives" "search match events.source" \
    "search match events.window" "search match events.instance" \
    "search match events.state" || fault "the document and the commands differ"
"${PYTHON:-python3}" "${0%/*}/schema_members.py" "$top_srcdir/docs/formats.md" \
    "$top_srcdir/docs/eventspace.schema.json" "$printed" || fault "the schema is not right"
finish
