# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - functions shared by the drivers of tests over pretend hosts; sourced.
#
# Sourcing it starts the driver again in a world of its own, or skips it; see hosts.sh. The
# hosts are not up yet: call `hosts up`.
# shellcheck shell=bash

. "${top_srcdir:?not set}/tests/checks.sh"

here=$top_srcdir/tests/hosts
apps=${top_builddir:?not set}/apps
eventspace=$top_builddir/cli/eventspace
shims=$top_builddir/tests/hosts/finalize_shim.so:$top_builddir/tests/apps/.libs/yield_shim.so
consumer=$top_builddir/tests/hosts/consumer
export ES_YIELD_NAP=1 # ranks wait for each other, not for the processor
export ES_DELAY_LINE=$top_builddir/tests/hosts/delay_line

hosts() {
    local status=0
    bash "$here/hosts.sh" "$@" || status=$?
    # A driver is of no use without its hosts.
    [ "$1" != up ] || [ $status -eq 0 ] || exit $status
    return $status
}

if [ -z "${ES_HOSTS_WORLD:-}" ]; then
    [ -n "${MPIEXEC:-}" ] || skip 'no mpiexec was found by configure'
    [ -x "$apps/ring" ] || skip 'the example programs are not built'
    [ -z "${ES_SANITIZERS:-}" ] || skip 'a sanitized collector cannot be preloaded'
    "$MPIEXEC" --version 2>/dev/null | grep -qi hydra ||
        skip 'the launcher is not the one of MPICH'
    why=$(hosts possible) || skip "$why"
    exec bash "$here/hosts.sh" world bash "$0" "$@"
fi

# From here on this shell is process 1 of the world: all other processes end with it.
trap 'exit 1' TERM INT HUP
unset EVENTSPACE_RUN EVENTSPACE_RUN_DIR EVENTSPACE_PLAN EVENTSPACE_RANK EVENTSPACE_DISABLE
unset EVENTSPACE_PRELOAD EVENTSPACE_LAUNCHER
work=/run/work # visible to all hosts
mkdir $work

# Between hosts UCX uses TCP only, although they share a kernel.
export UCX_TLS=tcp,self
launcher="$MPIEXEC -launcher ssh -launcher-exec $here/launch.sh -genv LD_PRELOAD $shims"

# on HOST LIMIT COMMAND... - runs the command on the host, for at most LIMIT seconds.
on() {
    local host=$1 limit=$2
    shift 2
    hosts exec "$host" timeout -k 5 "$limit" "$@" </dev/null
}

# wrong_clocks - gives each host clocks of its own, wrong by what $work/skew/HOST says. Call
# it before `hosts up`. Programs started after it have the shim loaded.
wrong_clocks() {
    local epoch name offset drift
    # The hosts get a copy of /etc that makes all programs load the shim; this shell has a
    # mount name space of its own. Files that cannot be read are not needed.
    mkdir $work/etc $work/skew
    cp -a /etc/. $work/etc/ 2>/dev/null || :
    echo "$top_builddir/tests/hosts/skew_shim.so" >$work/etc/ld.so.preload
    mount --bind $work/etc /etc
    export ES_SKEW_DIR=$work/skew EVENTSPACE_CLOCK=monotonic
    # Offset (ns) and drift (ppb) of each host. The home server's clock is wrong, too: it is
    # the reference.
    epoch=$("$PYTHON" -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))')
    while read -r name offset drift; do
        echo "$offset $drift $epoch" >$work/skew/$name
    done <<END
front 700000000 15000
a0 2500000000 40000
a1 -1200000000 -25000
b0 7000000000 120000
b1 -3000000000 -180000
END
}

# place HOST[:SLOTS]... - puts one rank on each host, or SLOTS.
place() {
    local host
    ranks=0
    : >"$work/machines"
    for host; do
        [[ $host == *:* ]] || host=$host:1
        echo "$host" >>"$work/machines"
        ranks=$((ranks + ${host#*:}))
    done
}

# plain LIMIT PROGRAM ARGUMENTS... - runs a program over the hosts without the collector.
plain() {
    local limit=$1
    shift
    # shellcheck disable=SC2086 # words
    on front "$limit" $launcher -machinefile "$work/machines" -n "$ranks" "$@"
}

# collected LIMIT RUN [OPTION...] -- PROGRAM ARGUMENTS... - the same under `eventspace run`.
collected() {
    local limit=$1 run=$2
    shift 2
    on front "$limit" "$eventspace" run --name "$run" --hostfile "$work/machines" \
        --launcher "$launcher" "$@"
}

# start_run RUN [OPTION...] -- PROGRAM ARGUMENTS... - the same in the background, as "job".
# Returns when each host of ranks has a segment.
start_run() {
    local run=$1
    shift
    begin job front "$eventspace" run --name "$run" --hostfile "$work/machines" \
        --launcher "$launcher" "$@"
    local host
    while IFS=': ' read -r host _; do
        await 20 hosts exec "$host" sh -c "ls /dev/shm/eventspace.$run.*"
    done <"$work/machines"
}

# home_of RUN - prints the home server's address as other hosts reach it.
home_of() {
    hosts exec front cat "$EVENTSPACE_DIR/$1/server.json" |
        sed -n 's/.*tls:[^:]*:\([0-9]*\)".*/tls:front:\1/p'
}

# bring_key HOST RUN [FILE] - copies a key to a host outside the run, as its user would: the
# file "key", or "key.read" for a host that may only read.
bring_key() {
    hosts exec front tar -C "$EVENTSPACE_DIR" -c "$2/eventspace-run" "$2/${3:-key}" |
        hosts exec "$1" tar -C "$EVENTSPACE_DIR" -x && hosts exec "$1" chmod 700 "$EVENTSPACE_DIR/$2"
}

# truth RUN HOST... - writes what each host knows of its elements to $work/truth.HOST.
truth() {
    local run=$1 host
    shift
    rm -f $work/truth.*
    for host; do
        on "$host" 10 "$eventspace" list --elements --format json "$run" >$work/truth.$host
    done
}

# begin NAME HOST COMMAND... - starts it in the background, without time limit; it ends with
# the world. Output goes to $work/NAME.out and .err, the exit status to NAME.status.
begin() {
    local name=$1 host=$2
    shift 2
    rm -f "$work/$name".*
    # The shell in between is needed because nsenter stops with its child and stays stopped.
    # shellcheck disable=SC2016 # for the inner shell
    {
        hosts exec "$host" sh -c '"$@" & echo $! >"$0.new" && mv "$0.new" "$0.pid"; wait $!' \
            "$work/$name" "$@" </dev/null >"$work/$name.out" 2>"$work/$name.err"
        echo $? >"$work/$name.status"
    } &
    await 10 test -e "$work/$name.pid"
}

# send SIGNAL NAME HOST - sends a signal to a command started by `begin`.
send() {
    hosts exec "$3" kill "-$1" "$(cat "$work/$2.pid")"
}

# show_hang NAME - prints what it has said, and where all commands are.
show_hang() {
    local pid
    cat "$work/$1.err"
    for pid in $(pgrep -x eventspace); do
        tr '\0' ' ' <"/proc/$pid/cmdline"
        echo "waits: $(cat "/proc/$pid/wchan" 2>&1)"
        ! command -v gdb >/dev/null || gdb -p "$pid" -batch -ex 'thread apply all bt' 2>&1 |
            grep -E '^(#|Thread)'
    done
}

# ended NAME - waits at most 60 s until it has ended; returns its exit status.
ended() {
    await 60 test -s "$work/$1.status" || { show_hang "$1"; return 125; }
    return "$(cat "$work/$1.status")"
}

# nothing_left - no host has a segment, a run directory or a tuple server. Leftovers are
# listed in $work/left.
nothing_left() {
    local host found
    : >$work/left
    for host in $(hosts names); do
        # shellcheck disable=SC2016 # for the inner shell
        found=$(hosts exec "$host" sh -c 'find /dev/shm "$EVENTSPACE_DIR" -mindepth 1
            ps -o args= -e | grep "[e]ventspaced"')
        [ -z "$found" ] || printf 'left on %s:\n%s\n' "$host" "$found" >>$work/left
    done
    [ ! -s $work/left ]
}

# Waits, because servers end shortly after the run.
check_nothing_left() {
    await 20 nothing_left || cat $work/left
    expect 0 'nothing is left on any host'
}

# draw_map FILE - writes the pathmap of the hosts chosen by `place`: two clusters, and the
# gateway of cluster west.
draw_map() {
    local host slots number=0 separator='' first last
    {
        echo '{"version": 1, "application": {"ranks": '"$ranks"'}, "cluster": {"clusters":'
        echo '[{"name": "east"}, {"name": "west", "gateway": "gate"}], "hosts": ['
        echo '{"name": "front"}, {"name": "gate", "cluster": "west"},'
        for host in a0 a1; do echo '{"name": "'$host'", "cluster": "east"},'; done
        echo '{"name": "b0", "cluster": "west"}, {"name": "b1", "cluster": "west"}]},'
        echo '"mapping": {"ranks": ['
        while IFS=: read -r host slots; do
            first=$number last=$((number + slots - 1)) number=$((number + slots))
            echo "$separator"'{"ranks": "'"$first-$last"'", "host": "'"$host"'"}'
            separator=,
        done <"$work/machines"
        echo ']}}'
    } >"$1"
}
