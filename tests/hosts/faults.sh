#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# faults.sh - what breaks while a program is observed over three hosts, and what of it
# the program felt, the consumer was told, and was lost. Each fault is a function and a
# run of its own; the table that is printed stands in docs/measurements.md.
#
# usage: faults.sh [FAULT...]

. "${0%/*}/functions.sh"

# Of some seconds: longer than a fault takes, and its result is known beforehand.
program=("$apps/windtunnel" --rows 704 --matrices 2 --iterations 1500)
table=$work/table

result() { # FILE
    grep -E '^(particles|momentum|hash)' "$1"
}

# observe OPTIONS... - starts the program and a consumer of all its events.
observe() {
    start_run "$fault" --keep "$@" -- "${program[@]}"
    begin consumer front "$consumer" "$fault" - 3
    await 20 test -s $work/consumer.out
}

is_running() {
    [ ! -s $work/job.status ]
}

pid_of() { # HOST NAME
    hosts exec "$1" pgrep -x "$2"
}

# restart_server HOST - as a user would by hand.
restart_server() {
    on "$1" 10 "$top_builddir/cli/eventspaced" --run "$fault" --home "$(home_of "$fault")" \
        >$work/out
}

# Both end; the program as if nothing had been. Leaves in $felt what it felt.
ran_on() {
    ended job
    expect 0 "$fault: the program runs on"
    check "$fault: its result is the same" \
        test "$(result $work/job.out)" = "$(result $work/plain)"
    felt='nothing: ran on, same result'
}

# The consumer's account against the hosts' truth. Leaves $told and $lost.
account() {
    ended consumer
    expect 0 "$fault: the consumer ends well"
    truth "$fault" a0 a1 b0
    "$PYTHON" "$here/account.py" $work/consumer.out $work/truth.* >$work/account
    expect 0 "$fault: every event was given once, or stated as lost"
    cat $work/account
    lost=$(head -n 1 $work/account)
    told=$(paste -sd ';' $work/consumer.err | sed 's/;/; /g')
}

told_of() { # PATTERN
    check "$fault: the consumer is told \"$1\"" grep -q "$1" $work/consumer.err
}

nothing_lost() {
    check "$fault: nothing is lost" grep -q ', 0 lost$' $work/account
}

row() { # WHAT
    echo "| $1 | $felt | ${told:-nothing} | $lost |" >>$table
}

clear_up() {
    local host
    ended job
    on front 20 "$eventspace" clean --force "$fault" >/dev/null 2>&1
    for host in a0 a1 b0; do
        on $host 20 "$eventspace" clean --force "$fault" >/dev/null 2>&1
    done
}

# --- Faults ------------------------------------------------------------------------------

server_killed() {
    observe --threshold 60000
    hosts exec a1 kill -9 "$(pid_of a1 eventspaced)"
    await 10 grep -q 'host a1' $work/consumer.err
    check "$fault: the program still runs" is_running
    restart_server a1
    expect 0 "$fault: started again"
    ran_on
    account
    told_of 'host a1: '
    nothing_lost
    row 'tuple server killed (`kill -9`), started again by hand'
}

rank_killed() {
    local status
    observe --threshold 60000
    hosts exec a1 kill -9 "$(pid_of a1 windtunnel)"
    ended job
    status=$?
    check "$fault: the launcher says so" test $status -ne 0
    felt="the launcher ended all ranks, status $status"
    account
    on a1 10 "$eventspace" list "$fault" >$work/out
    check "$fault: its end is known" grep -q 'killed by signal 9' $work/out
    told="${told:+$told; }rank 1: killed by signal 9"
    nothing_lost
    row 'rank killed (`kill -9`)'
}

consumer_killed() {
    observe --threshold 60000
    begin other b0 "$consumer" "$fault" - 3
    await 20 test -s $work/other.out
    send KILL other b0
    await 10 test -s $work/other.status
    ran_on
    account
    nothing_lost
    row 'another consumer killed (`kill -9`)'
}

link_down() {
    observe --threshold 60000
    hosts link down b0
    sleep 2.5
    hosts link up b0
    ran_on
    account
    nothing_lost
    felt='waited while its own messages could not pass, same result'
    row 'link of a host down for 2.5 s'
}

memory_full() {
    # 40 KiB are left: a segment comes into being, with fewer tuples.
    hosts exec a1 sh -c 'dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null
        truncate -s -40960 /dev/shm/full'
    observe
    on a1 10 "$eventspace" list "$fault" | grep 'less than the threshold' >$work/less
    expect 0 "$fault: it is known that elements are smaller"
    ran_on
    hosts exec a1 rm /dev/shm/full
    account
    told="by \`eventspace list\`: $(cat $work/less)"
    row '`/dev/shm` of a host full'
}

rank_stopped() {
    local pid
    observe --threshold 60000
    pid=$(pid_of a1 windtunnel)
    hosts exec a1 kill -STOP "$pid"
    sleep 2
    hosts exec a1 kill -CONT "$pid"
    ran_on
    account
    nothing_lost
    felt='stood still while the rank did, same result'
    row 'rank stopped for 2 s (`SIGSTOP`)'
}

consumer_slow() {
    observe --threshold 127
    send STOP consumer front
    sleep 2
    send CONT consumer front
    ran_on
    account
    check "$fault: losses are stated" grep -qv ', 0 lost$' $work/account
    row 'slow consumer (stopped for 2 s, elements of 127 tuples)'
}

# -------------------------------------------------------------------------------------------

all='server_killed rank_killed consumer_killed link_down memory_full rank_stopped
    consumer_slow'
hosts up
place a0 a1 b0
plain 60 "${program[@]}" >$work/plain
expect 0 'the program without us'
for fault in ${*:-$all}; do
    begun=$SECONDS
    felt='' told='' lost=''
    $fault
    clear_up
    echo "$fault took $((SECONDS - begun)) s"
done
check_nothing_left
printf '\n| fault | the program felt | the consumer was told | events |\n'
printf '| --- | --- | --- | --- |\n'
cat $table
finish
