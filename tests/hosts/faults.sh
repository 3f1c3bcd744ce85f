#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# faults.sh - injects faults while a program is observed over three hosts, and checks what
# the program notices, what the consumer is told and what is lost. Each fault is a function
# and has a run of its own; docs/hosts.md contains the table that is printed.
#
# usage: faults.sh [FAULT...]

. "${0%/*}/functions.sh"

# The program runs until $work/enough exists, when the fault is over, and computes its result
# again alone. It pauses most of the time, which leaves the processors to others.
program=("$apps/windtunnel" --rows 88 --matrices 2 --iterations 1000000 --check-every 20
    --pause-ms 60 --until $work/enough --verify)
table=$work/table

# observe OPTIONS... - starts the program and a consumer of all its events. The scope of the
# consumer has the settings in $settings and ends after $idle seconds without a tuple.
observe() {
    rm -f $work/enough
    start_run "$fault" --keep --map $work/map.json "$@" -- "${program[@]}"
    # shellcheck disable=SC2086 # words
    begin consumer front "$consumer" "$fault" - $idle $settings
    await 20 test -s $work/consumer.out
}

pid_of() { # HOST NAME
    hosts exec "$1" pgrep -x "$2"
}

# restart_server HOST - starts it by hand, as a user would.
restart_server() {
    on "$1" 10 "$top_builddir/cli/eventspaced" --run "$fault" --home "$(home_of "$fault")" \
        >$work/out
}

# The program still runs, and ends well, with the same result as alone. Sets $felt.
ran_on() {
    check "$fault: the program still runs" test ! -s $work/job.status
    touch $work/enough
    ended job
    expect 0 "$fault: its result is the same"
    felt='nothing: ran on, same result'
}

# Compares what the consumer received with the elements of the hosts (default: all). Sets
# $told and $lost.
account() {
    ended consumer
    expect 0 "$fault: the consumer ends well"
    # shellcheck disable=SC2086 # words
    truth "$fault" ${*:-a0 a1 b0}
    "$PYTHON" "$here/account.py" $work/consumer.out $work/truth.* >$work/account
    expect 0 "$fault: every event was given once, or stated as lost"
    cat $work/account
    lost=$(head -n 1 $work/account)
    told=$(paste -sd ';' $work/consumer.err | sed 's/;/; /g')
}

# The same without a1, whose elements can no longer be listed.
account_others() {
    ended consumer
    grep -v '"host": "a1"' $work/consumer.out >$work/others.out
    mv $work/others.out $work/consumer.out
    account a0 b0
    lost="of the other hosts: $lost"
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
    touch $work/enough
    ended job
    on front 20 "$eventspace" clean --force "$fault" >/dev/null 2>&1
    for host in a0 a1 b0; do
        hosts names | grep -qx $host &&
            on $host 20 "$eventspace" clean --force "$fault" >/dev/null 2>&1
    done
}

# --- Faults ------------------------------------------------------------------------------

server_killed() {
    observe --threshold 60000
    hosts exec a1 kill -9 "$(pid_of a1 eventspaced)"
    await 10 grep -q 'host a1' $work/consumer.err
    restart_server a1
    expect 0 "$fault: started again"
    ran_on
    account
    told_of 'host a1: '
    nothing_lost
    row 'tuple server killed (`kill -9`), started again by hand'
}

# The parent of the subtree is another subtree, not the consumer: the parent must find the
# new address.
nested_killed() {
    local host
    settings='shape=levels levels=host,cluster'
    observe --threshold 60000
    for host in a0 a1; do
        hosts exec $host kill -9 "$(pid_of $host eventspaced)"
        await 10 hosts exec $host sh -c '! pgrep -x eventspaced'
        restart_server $host
        expect 0 "$fault: $host started again"
        sleep 0.3
    done
    ran_on
    account
    told_of 'Connection refused'
    nothing_lost
    row 'tuple servers of a joint and below it killed in turn, started again'
}

server_gone() {
    observe --threshold 60000
    hosts exec a1 kill -9 "$(pid_of a1 eventspaced)"
    ran_on
    check "$fault: the user hears which host was not reached" \
        grep -q 'not reached.*: a1; ' $work/job.err
    account_others
    on front 20 "$eventspace" clean "$fault" >$work/out 2>&1
    expect 1 "$fault: clean does not reach all hosts"
    check "$fault: clean names the host" grep -q 'not reached.*: a1; ' $work/out
    told_of 'host a1: '
    on a1 10 "$eventspace" clean "$fault" >$work/out 2>&1
    expect 0 "$fault: clean over there"
    nothing_lost
    row 'tuple server killed (`kill -9`), not started again'
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

sockets_of() { # HOST
    hosts exec "$1" sh -c 'ls -l /proc/$(pgrep -x eventspaced)/fd | grep -c socket:'
}

has_sockets() { # HOST COUNT
    [ "$(sockets_of "$1")" = "$2" ]
}

has_one_scope() {
    [ "$(on front 10 "$eventspace" scope list "$fault" | grep -c '^consumer')" = 1 ]
}

consumer_killed() {
    local sockets
    observe --threshold 60000
    sockets=$(sockets_of a0)
    begin other b0 "$consumer" "$fault" - 3
    await 20 test -s $work/other.out
    send KILL other b0
    await 10 test -s $work/other.status
    await 10 has_one_scope
    expect 0 "$fault: its scope has expired"
    await 10 has_sockets a0 "$sockets"
    expect 0 "$fault: its parts have expired"
    ran_on
    account
    nothing_lost
    row 'another consumer killed (`kill -9`)'
}

link_down() {
    # TCP doubles its retransmission timeout, so the program pauses for longer than the link
    # is down.
    settings='limit=0.5s' idle=8
    observe --threshold 60000
    hosts link down b0
    sleep 2.5
    hosts link up b0
    ran_on
    account
    told_of 'b0: '
    nothing_lost
    felt='waited while its own messages could not pass, same result'
    row 'link of a host down for 2.5 s, limit 0.5 s'
}

memory_full() {
    # 72 KiB more are free than a segment leaves: it has fewer tuples.
    hosts exec a1 sh -c 'dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null
        truncate -s -1122304 /dev/shm/full'
    observe
    on a1 10 "$eventspace" list "$fault" | grep 'less than the requested threshold' >$work/less
    expect 0 "$fault: it is known that elements are smaller"
    ran_on
    check "$fault: the user gets one line" \
        test "$(grep -c '^eventspace: rank 1: too little space' $work/job.err)" = 1
    felt="$felt; \"$(grep '^eventspace: rank 1: too little space' $work/job.err)\""
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
    told='nothing but the losses'
    row 'slow consumer (stopped for 2 s, elements of 127 tuples)'
}

# Must be the last fault: the host does not come back.
host_killed() {
    local status
    observe --threshold 60000
    hosts kill a1
    ended job
    status=$?
    check "$fault: the launcher says so" test $status -ne 0
    felt="the launcher ended all ranks, status $status"
    account_others
    told_of 'host a1: '
    nothing_lost
    row 'a whole host gone'
}

# -------------------------------------------------------------------------------------------

all='server_killed nested_killed server_gone rank_killed consumer_killed link_down memory_full
    rank_stopped consumer_slow host_killed'
hosts up
place a0 a1 b0
draw_map $work/map.json
for fault in ${*:-$all}; do
    begun=$SECONDS
    felt='' told='' lost='' settings='' idle=3
    $fault
    clear_up
    echo "$fault took $((SECONDS - begun)) s"
done
check_nothing_left
printf '\n| fault | the program felt | the consumer was told | events |\n'
printf '| --- | --- | --- | --- |\n'
cat $table
finish
