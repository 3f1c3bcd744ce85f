#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# growth.sh - how costs grow with elements, hosts, ranks, events and archives.
#
#   bench/growth.sh [smoke|quick|full [PART...]]      from the top of the build folder
#
# Parts: elements, hosts, ranks, events, archives.
# Prints `figure: growth_PANEL_SERIES_SIZE VALUE UNIT`, which bench/growth_plot.py
# draws, and reports if a part ends before its largest size. Smoke takes seconds and is
# a test, quick about a minute, full about ten. Times are processor time, the minimum of
# the repeats.

set -eu
usage() {
    echo "usage: growth.sh [smoke|quick|full [PART...]]" >&2
    exit 2
}

mode=${1:-quick}
case $mode in
smoke)
    elements="100 1000" hosts="1 2" ranks="2 20" events="1000 10000" archives="1000 10000"
    rounds=1 turn=5 repeats=1
    ;;
quick)
    elements="100 1000 10000 100000" hosts="1 4 16" ranks="2 10 100 1000"
    events="10000 100000 1000000" archives="10000 100000 1000000"
    rounds=3 turn=60 repeats=3
    ;;
full)
    elements="100 1000 10000 100000 200000 300000 1000000" hosts="1 2 4 8 16 32 64"
    ranks="2 10 100 1000 10000 30000 60000 100000"
    events="10000 100000 1000000 10000000 100000000"
    archives="10000 100000 1000000 10000000"
    rounds=5 turn=200 repeats=3
    ;;
*) usage ;;
esac
shift $(($# > 0))
parts=${*:-elements hosts ranks events archives}
for part in $parts; do
    case $part in elements | hosts | ranks | events | archives) ;; *) usage ;; esac
done
many=$repeats
build=$PWD
for program in cli/eventspace bench/load bench/scope_tree bench/order_stores \
    bench/patterns_large; do
    [ -x "$build/$program" ] || {
        echo "growth.sh: no $program: run it in the build folder, after make" >&2
        exit 2
    }
done
patterns=$(cd "$(dirname "$0")" && pwd)/patterns

work=$(mktemp -d)
EVENTSPACE_DIR=$work/runs
export EVENTSPACE_DIR
mkdir -m 700 "$EVENTSPACE_DIR"
name=growth-$$
loads=

end_loads() {
    for load in $loads; do
        kill "$load" 2>/dev/null || :
        wait "$load" 2>/dev/null || :
    done
    loads=
}
finish() {
    end_loads
    "$build/cli/eventspace" clean --force "$name" >/dev/null 2>&1 || :
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

figure() {
    echo "figure: growth_$*"
}

# ended PART SIZE - reports that a part ends early, with the last error message.
ended() {
    echo "$1 ends before $2: $(tail -n 1 "$work/err")"
}

# cost COMMAND... - stores the processor time (s) and the maximum memory (KiB) of the
# child, the minima of the repeats, in cpu and memory. The memory of the meter itself is
# a lower limit.
cost() {
    "${PYTHON:-python3}" -I - "$repeats" "$@" >"$work/cost" 2>"$work/err" <<'END' || return 1
import os, sys
least = []
out = os.open(os.devnull, os.O_WRONLY)
for _ in range(int(sys.argv[1])):
    pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ,
                          file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        sys.exit(1)
    least.append((used.ru_utime + used.ru_stime, used.ru_maxrss))
print(f"{min(cpu for cpu, _ in least):.4g} {min(memory for _, memory in least)}")
END
    read -r cpu memory <"$work/cost"
}

# value NAME [SIGN] - the minimum of a figure in the output of a program's repeats; with
# "-" the maximum.
value() {
    awk -v name="$1" '$2 == name { print $3 }' "$work/out" | sort -g"${2:+r}" | head -n 1
}

# repeat COMMAND...
repeat() {
    : >"$work/out"
    round=0
    while [ "$round" -lt "$repeats" ]; do
        round=$((round + 1))
        "$@" >>"$work/out" 2>"$work/err" || return 1
    done
}

grow_elements() {
    echo "A pull, by elements: direct, through one server over TCP, and the bare loop."
    for size in $elements; do
        status=0
        "$build/bench/scope_tree" "$size" "$rounds" "$turn" tcp >"$work/out" 2>"$work/err" ||
            status=$?
        row=scope_tree_${size}
        [ -z "$(value "${row}_direct_none_concatenated_concurrent_cpu")" ] || {
            figure "elements_direct_$size" \
                "$(value "${row}_direct_none_concatenated_concurrent_cpu") us"
            figure "elements_bare_loop_$size" \
                "$(value "${row}_direct_none_concatenated_concurrent_bare_cpu") us"
        }
        [ -z "$(value "${row}_1_server_tcp_concatenated_concurrent_cpu")" ] ||
            figure "elements_server_$size" \
                "$(value "${row}_1_server_tcp_concatenated_concurrent_cpu") us"
        [ $status -eq 0 ] || ended "a pull through a server" "$size elements"
    done
}

# In its own network, with a bridge to the hosts.
with_bridge() {
    # shellcheck disable=SC2016 # for the shell in there
    unshare --user --map-root-user --net sh -c 'PATH=$PATH:/usr/sbin:/sbin
        ip link set lo up && ip link add br0 type bridge &&
        ip address add 10.78.0.1/16 dev br0 && ip link set br0 up && "$@"' sh "$@"
}

grow_hosts() {
    each=280
    where="each in a network namespace" wrap=with_bridge bridge=bridge
    with_bridge ip link add v0 type veth peer name v1 2>/dev/null || {
        where="plain processes (no namespaces here)" wrap="" bridge=""
    }
    echo "A pull, by hosts: $each elements on each, servers over TCP, $where, all here."
    for size in $hosts; do
        # shellcheck disable=SC2086 # none or one
        $wrap "$build/bench/scope_tree" $each "$rounds" "$turn" "$size" $bridge \
            >"$work/out" 2>"$work/err" || {
            ended "hosts" "$size"
            break
        }
        row=scope_tree_$((size * each))
        figure "hosts_flat_$size" "$(value "${row}_${size}_servers_tcp_concatenated_concurrent_cpu") us"
        [ "$size" -lt 16 ] || figure "hosts_tree_$size" \
            "$(value "${row}_$((size / 8))_x_8_tcp_concatenated_concurrent_cpu") us"
    done
}

# start_load RANKS [OPTION...] - splits many ranks into two processes, which may have
# 65,530 mappings each (vm.max_map_count). Returns when everything is written.
start_load() {
    count=$1 first=0
    shift
    while [ "$first" -lt "$count" ]; do
        part=$((count - first < 50000 ? count - first : 50000))
        from=
        rm -f "$work/load-$first" # of the load before
        [ "$first" -eq 0 ] || from="--first-rank $first"
        # shellcheck disable=SC2086 # none or two
        "$build/bench/load" --run "$name" --here --ranks "$part" $from --writers 1 --rate 10000000 \
            --seconds 300 --linger 600 --quiet "$@" >"$work/load-$first" 2>"$work/err" &
        loads="$loads $!"
        until grep -qs '^written' "$work/load-$first"; do
            kill -0 "$!" 2>/dev/null || return 1
            sleep 0.05
        done
        first=$((first + part))
    done
}

grow_ranks() {
    echo "One look, by ranks of 4 elements."
    for size in $ranks; do
        start_load "$size" --elements 4 --threshold 7 --count 4 || {
            ended "ranks" "$size"
            end_loads
            break
        }
        for command in heartbeat why list; do
            once=
            [ $command != heartbeat ] || once=--once
            # shellcheck disable=SC2086 # none or one
            if cost "$build/cli/eventspace" $command $once "$name"; then
                figure "time_${command}_$size" "$cpu s"
                figure "memory_${command}_$size" "$memory KiB"
            else
                ended "$command" "$size ranks"
            fi
        done
        end_loads
    done
}

# product A B
product() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a * b }'
}
# quotient A B
quotient() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'
}

grow_events() {
    echo "The order of a stencil of 64 ranks, and searches in a set of 1,000 ranks, by events."
    for size in $events; do
        repeats=$many
        [ "$size" -lt 10000000 ] || repeats=1
        repeat "$build/bench/order_stores" -p stencil -n 64 -e "$size" -q 1000 epoch || {
            ended "the order" "$size events"
            break
        }
        row=order_stencil_64_epoch
        figure "order_append_$size" "$(product "$size" "$(value ${row}_ingest)e-9") s"
        figure "heap_order_$size" "$(product "$size" "$(value ${row}_heap)") B"
        repeat "$build/bench/patterns_large" -e "$size" -j 1 -t 1 -d "$patterns" || {
            ended "searches" "$size events"
            break
        }
        label=$size
        [ $((size % 1000000)) -ne 0 ] || label=$((size / 1000000))m
        row=patterns_large_$label
        figure "order_index_$size" "$(quotient "$size" "$(value "${row}_load_rate" -)") s"
        figure "heap_index_$size" "$(product "$size" "$(value "${row}_load_heap")") B"
        for pattern in Chain Apart Late Sends; do
            figure "search_${pattern}_$size" "$(value "${row}_${pattern}_ms") ms"
        done
    done
}

grow_archives() {
    echo "An archive, by events: 2 ranks with 4 elements each."
    for size in $archives; do
        repeats=$many
        [ "$size" -lt 10000000 ] || repeats=1
        rm -rf "$work/archive"
        start_load 2 --elements 4 --threshold $((size / 8)) --count $((size / 8))
        # Its segments stay, like those of a run that is over.
        # shellcheck disable=SC2086 # words
        kill -KILL $loads
        end_loads
        # An archive must be new or empty: each round has its own.
        # shellcheck disable=SC2016 # for the shell inside
        cost sh -c 'rm -rf "$1" && exec "$2" record --format json -o "$1" "$3"' \
            sh "$work/archive" "$build/cli/eventspace" "$name" || {
            ended "archives" "$size"
            break
        }
        "$build/cli/eventspace" clean --force "$name" >/dev/null 2>&1 || :
        bytes=$(find "$work/archive" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
        figure "archive_size_$size" "$(quotient "$bytes" "$size") B"
        figure "record_time_$size" "$cpu s"
        figure "peak_record_$size" "$memory KiB"
    done
}

for part in $parts; do
    "grow_$part"
done
