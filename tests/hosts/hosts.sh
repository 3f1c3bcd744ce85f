#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# hosts.sh - emulates hosts by name spaces; docs/hosts.md explains them.
#
#   hosts.sh possible              0, or 1 and one line with the reason
#   hosts.sh world COMMAND...      runs COMMAND in a world of its own; inside it:
#   hosts.sh up [--rate RATE] [--delay US] [--shm SIZE] [--shared-runs]
#                                  77 if this system cannot delay
#   hosts.sh exec HOST COMMAND...  runs COMMAND on a host, as its root
#   hosts.sh kill HOST             the host fails: all its processes end
#   hosts.sh link down|up HOST     disconnects or connects its cable
#   hosts.sh names                 lists the hosts that are up
#
#       cluster east, 10.77.1.0/24          cluster west, 10.77.2.0/24
#       front   a0   a1   out               b0   b1
#         |      |    |    |                 |    |
#         +------+----+----+---- gate ~~~~~~-+----+
#
# `gate` forwards between the clusters; --rate and --delay apply to the line drawn as ~.
#
# A world is a set of name spaces (network, mount, process ids; users, if needed), so any
# number of worlds can exist at a time. However COMMAND ends, the kernel ends all processes
# of its world, and nothing is left behind.

set -eu
PATH=$PATH:/usr/sbin:/sbin
self=$(readlink -f "$0")
state=/run/hosts # in the world's own /run
runs=/run/runs
east=10.77.1
west=10.77.2

# Name, bridge and address of each host's cable.
cables="
    front east $east.100
    out   east $east.101
    a0    east $east.1
    a1    east $east.2
    b0    west $west.1
    b1    west $west.2
    gate  east $east.254"

fail() {
    echo "hosts.sh: $*" >&2
    exit 2
}

fault() { # of await
    echo "hosts.sh: $*" >&2
}
. "${self%/*}/../await.sh"

# --- Worlds --------------------------------------------------------------------------

spaces=(--net --mount --uts --ipc --pid --fork --kill-child)
# shellcheck disable=SC2016 # for the inner shell
trial='mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /mnt &&
    ip link add br0 type bridge && ip link add v0 type veth peer name v1 &&
    tc qdisc add dev v0 root tbf rate 1mbit burst 64kb latency 50ms &&
    echo 1 >/proc/sys/net/ipv4/ip_forward'

# Prints the options of unshare that make a world: none for root, others for a user.
maker() {
    if unshare "${spaces[@]}" true 2>/dev/null; then
        printf ''
    elif unshare --user --map-root-user "${spaces[@]}" true 2>/dev/null; then
        printf '%s' '--user --map-root-user'
    else
        return 1
    fi
}

possible() {
    local tool how why
    for tool in unshare nsenter ip tc mount hostname; do
        command -v $tool >/dev/null || { echo "there is no $tool here"; return 1; }
    done
    how=$(maker) || { echo 'name spaces can be made neither by this user nor as root'; return 1; }
    # shellcheck disable=SC2086 # a list of options
    why=$(unshare $how "${spaces[@]}" sh -c "$trial" 2>&1) ||
        { echo "name spaces work only in part: ${why//$'\n'/; }"; return 1; }
}

world() {
    local how
    how=$(maker) || fail "no world can be made here; \"hosts.sh possible\" says why"
    export EVENTSPACE_DIR=$runs ES_HOSTS_WORLD=1
    # shellcheck disable=SC2016,SC2086 # for the inner shell; a list of options
    exec unshare $how "${spaces[@]}" bash -c '
        mount -t proc proc /proc && mount -t tmpfs -o mode=755 tmpfs /run &&
        mkdir -m 700 /run/hosts /run/runs && ip link set lo up && "$@"' world "$@"
}

# --- Hosts ---------------------------------------------------------------------------

# Process 1 of a host: sets it up, then reaps orphaned processes until the host ends.
hold() { # NAME SHM-SIZE SHARED-RUNS
    [ "$1" = front ] || mount -t proc proc /proc
    mount --bind "$state/etc-hosts" /etc/hosts
    mount -t tmpfs -o "size=$2,mode=1777" tmpfs /dev/shm
    [ "$3" = yes ] || mount -t tmpfs -o mode=700 tmpfs "$runs"
    hostname "$1"
    ip link set lo up
    : >"$state/$1.ready"
    trap : TERM INT HUP
    while :; do
        sleep 1000 &
        wait || :
    done
}

# A process can be started on a host only from a process id name space that contains the
# host's. So `front`, where launchers run, uses the process ids of the world.
start_host() { # NAME
    local own_pids=--pid
    [ "$1" = front ] && own_pids=--fork
    unshare --net --mount --uts --ipc --fork --kill-child $own_pids \
        bash "$self" hold "$1" "$shm" "$shared" </dev/null >>"$state/$1.log" 2>&1 &
    echo $! >"$state/$1.pid"
}

await_host() { # NAME
    await 20 test -e "$state/$1.ready" || fail "$1 does not start: $(cat "$state/$1.log")"
}

holder() { # NAME
    [ -r "$state/$1.pid" ] || fail "there is no host '$1'"
    cat "$state/$1.pid"
}

# The mount name space changes the working directory, so the command first returns to it.
execute() { # NAME COMMAND...
    local pid
    pid=$(holder "$1")
    shift
    # shellcheck disable=SC2016 # for the inner shell
    exec nsenter --target "$pid" --net --uts --ipc --mount \
        --pid="/proc/$pid/ns/pid_for_children" -- \
        sh -c 'cd "$0" 2>/dev/null; exec "$@"' "$PWD" "$@"
}

plug() { # NAME BRIDGE ADDRESS
    ip link add "v$1" type veth peer name eth0 netns "$(holder "$1")"
    ip link set "v$1" master "$2" up
    # No detection of duplicate addresses, and no wait of the bridge port before it
    # forwards.
    (execute "$1" ip addr add "$3/24" dev eth0)
    (execute "$1" ip link set eth0 up)
}

# The gateway's second cable, which is the slow or long line.
plug_gate() {
    if [ -n "$delay" ]; then
        "${ES_DELAY_LINE:?names no program}" "$delay" vline eth1 >"$state/line.log" 2>&1 &
        await_line
        ip link set eth1 netns "$(holder gate)"
    else
        ip link add vline type veth peer name eth1 netns "$(holder gate)"
    fi
    ip link set vline master west up
    (execute gate ip addr add "$west.254/24" dev eth1)
    (execute gate ip link set eth1 up)
    # shellcheck disable=SC2016 # for the inner shell
    (execute gate sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward')
    [ -n "$rate" ] || return 0
    tc qdisc add dev vline root tbf rate "$rate" burst 64kb latency 50ms
    (execute gate tc qdisc add dev eth1 root tbf rate "$rate" burst 64kb latency 50ms)
}

await_line() {
    await 20 grep -qs ready "$state/line.log" || fail "no delay line: $(cat "$state/line.log")"
}

up() {
    local name bridge address
    rate='' delay='' shm=256m shared=no
    while [ $# -gt 0 ]; do
        case $1 in
        --rate) rate=$2; shift ;;
        --delay) delay=$2; shift ;;
        --shm) shm=$2; shift ;;
        --shared-runs) shared=yes ;;
        *) fail "up: unknown option '$1'" ;;
        esac
        shift
    done
    [ -n "${ES_HOSTS_WORLD:-}" ] || fail 'up: only in a world: hosts.sh world COMMAND'
    if [ -n "$delay" ] && { [ ! -c /dev/net/tun ] || ! (: <>/dev/net/tun) 2>/dev/null; }; then
        echo 'skipped: no delay line: /dev/net/tun is absent or must not be used'
        exit 77
    fi
    for bridge in east west; do
        ip link add $bridge type bridge
        ip link set $bridge up
    done
    { echo "127.0.0.1 localhost"; echo "$cables" | awk 'NF { print $3, $1 }'; } \
        >"$state/etc-hosts"
    for name in $(echo "$cables" | awk '{ print $1 }'); do start_host "$name"; done
    for name in $(echo "$cables" | awk '{ print $1 }'); do await_host "$name"; done
    while read -r name bridge address; do
        [ -n "$name" ] || continue
        plug "$name" "$bridge" "$address"
        [ "$name" = gate ] || route "$name" "$bridge"
    done <<<"$cables"
    plug_gate
}

route() { # NAME BRIDGE
    local through=$east
    [ "$2" = east ] || through=$west
    (execute "$1" ip route add default via "$through.254")
}

is_gone() { # PID
    ! grep -qs '^State:.[^Z]' "/proc/$1/status"
}

# The cable is removed after all processes have ended, so that their peers see closed
# connections.
kill_host() { # NAME
    local pid first
    pid=$(holder "$1")
    [ "$1" != front ] || fail 'kill: not the host of the launcher'
    first=$(cat "/proc/$pid/task/$pid/children")
    first=${first% }
    kill -9 "$pid"
    await 20 is_gone "$first"
    rm -f "$state/$1.pid" "$state/$1.ready"
    ip link del "v$1" 2>/dev/null || :
}

names() {
    find "$state" -name '*.ready' -printf '%f\n' | sed 's/\.ready$//' | sort
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
possible) possible ;;
world) world "$@" ;;
hold) hold "$@" ;;
up) up "$@" ;;
exec) execute "$@" ;;
kill) kill_host "$1" ;;
link) ip link set "v$2" "$1" ;;
names) names ;;
*) sed -n '/^# hosts.sh/,/^$/s/^# \{0,1\}//p' "$self" >&2; exit 2 ;;
esac
