#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# perturbation.sh - slowdown of the wind tunnel by collection and by event scopes, and
# the rate at which these can be pulled (EventSpace paper, section 6).
#
#   bench/perturbation.sh [OPTION]...             from the top of the build folder
#   bench/perturbation.sh ROUNDS [SIZE...]        collection alone, without a side load
#
# In a round, each row is run once, before or after the tunnel alone, alternately; the
# slowdown is the median of the rounds' ratios of iterations per second. The row "again"
# is the tunnel alone once more: it shows the noise of the machine.
#
# The tunnel has 2 ranks here. A side load (bench/load) replaces the paper's other 138
# threads: it writes real elements into the same run, at the rate of the paper's events
# (200, 14 and 3.3 Hz for small, medium and large), also while the tunnel runs alone.

set -eu

usage() {
    cat <<'EOF'
usage: perturbation.sh [OPTION]... | perturbation.sh ROUNDS [SIZE...]
  --rounds N       runs of each row (7)
  --sizes "SIZE.." small medium large
  --rows "ROW.."   which rows, or the names of groups: goals paper full
                   collective (all)
  --seconds S      about how long a run takes (4)
  --nice N         the observers are nicer by N (0)
  --no-side        no side load: rows none, again and collected only
  -o PREFIX        writes PREFIX.tsv (each run), PREFIX.md and PREFIX.svg
  --list           the rows there are
EOF
}

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/perturbation_rows.sh
. "$here/perturbation_rows.sh"

rounds=7
sizes="small medium large"
rows=
seconds=4
niceness=0
side=yes
output=

fail() {
    echo "perturbation.sh: $*" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --rounds | --sizes | --rows | --seconds | --nice | -o)
        [ $# -ge 2 ] || fail "$1: a value is missing"
        case $1 in
        --rounds) rounds=$2 ;;
        --sizes) sizes=$2 ;;
        --rows) rows="$rows $2" ;;
        --seconds) seconds=$2 ;;
        --nice) niceness=$2 ;;
        -o) output=$2 ;;
        esac
        shift
        ;;
    --no-side) side=no ;;
    --list)
        echo "goals: $rows_goals"
        echo "paper: $rows_paper"
        echo "full: $rows_full"
        echo "collective: $rows_collective"
        exit 0
        ;;
    --help)
        usage
        exit 0
        ;;
    [0-9]*)
        rounds=$1
        shift
        [ $# -eq 0 ] || sizes=$*
        side=no
        break
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done

case $rounds in '' | 0 | *[!0-9]*) fail "--rounds $rounds: expected a number from 1" ;; esac
case $seconds in '' | *[!0-9.]*) fail "--seconds $seconds: expected a number" ;; esac

build=$PWD
for program in cli/eventspace apps/windtunnel bench/load bench/observe; do
    [ -x "$build/$program" ] || fail "run it in the build folder, after make"
done

[ -n "$rows" ] || rows="paper full goals collective"
[ "$side" = yes ] || rows=collected
rows="again $(expand_rows "$rows" | tr '\n' ' ')"
for row in $rows; do
    observers_of "$row" . >/dev/null
done

# --- Runs ---------------------------------------------------------------------------

work=$(mktemp -d)
EVENTSPACE_DIR=$work/runs
export EVENTSPACE_DIR
mkdir -m 700 "$EVENTSPACE_DIR"
name=perturbation-$$
started=
run=

finish() {
    for pid in $started; do
        kill "$pid" 2>/dev/null || :
    done
    wait
    # Only of this run: there may be others.
    [ -z "$run" ] || "$build/cli/eventspace" clean --force "$run" >/dev/null 2>&1 || :
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

write_maps "$work"

# The paper's rate of events in each element.
element_rate_of() {
    case $1 in
    small) echo 200 ;;
    medium) echo 14 ;;
    large) echo 3.3 ;;
    *) fail "no size $1" ;;
    esac
}

# Elements of the tunnel and of the side load, by ranks: 0-1 have 10, 2 makes them 14 (a
# thread of the paper), 3 makes them 266 (a host), 4 to 14 make them 1,948; 4 has 162.
start_side() {
    [ "$side" = yes ] || return 0
    common="--run $1 --here --threshold 200 --writers 1 --seconds 0 --quiet"
    common="$common --rate $(element_rate_of "$2")"
    for load in "--first-rank 2 --elements 4" \
        "--first-rank 3 --threads 18 --elements 14" \
        "--first-rank 4 --ranks 11 --threads 18 --elements 9 --total 1682"; do
        # shellcheck disable=SC2086 # words of a command
        "$build/bench/load" $common $load >"$work/load.out" 2>&1 &
        started="$started $!"
        loads="$loads $!"
    done
}

stop_side() {
    for pid in $loads; do
        kill "$pid" 2>/dev/null || :
        wait "$pid" 2>/dev/null || :
    done
    loads=
}

wait_for() {
    tries=0
    until [ -s "$1" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 500 ] || fail "no $1 after 10 s"
        sleep 0.02
    done
}

# Monitors require ranks.
wait_for_ranks() {
    for rank in 0 1; do
        tries=0
        until ls /dev/shm/"eventspace.$1".*."$rank".* >/dev/null 2>&1; do
            tries=$((tries + 1))
            [ "$tries" -lt 500 ] || fail "no rank $rank after 10 s"
            sleep 0.02
        done
    done
}

# The run's home server.
server_of() {
    sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$EVENTSPACE_DIR/$1/server.json" | head -n 1
}

# Converts the words of an observer to its command: command_of RUN WORD...
command_of() {
    watched_run=$1
    shift
    case $* in
    eventspace*) echo "$build/cli/$* $watched_run" ;;
    *through-server*)
        echo "$build/bench/observe --run $watched_run $* --cpu-of $(server_of "$watched_run")"
        ;;
    *) echo "$build/bench/observe --run $watched_run $*" ;;
    esac
}

# Changes a monitor's scope as soon as it exists: reconfigure RUN SCOPE WORD...
reconfigure() {
    of_run=$1
    shift
    tries=0
    until "$build/cli/eventspace" scope set "$@" "$of_run" </dev/null >"$work/set.out" 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || fail "a scope cannot be reconfigured: $(cat "$work/set.out")"
        sleep 0.1
    done
}

# Starts the row's observers; their output goes to observer-N, that of monitors to
# monitor-N.
start_observers() {
    observers_of "$2" "$work" >"$work/observers"
    number=0
    watched=
    monitors=
    while read -r words; do
        case $words in
        "set "*)
            # shellcheck disable=SC2086 # words
            reconfigure "$1" ${words#set }
            continue
            ;;
        esac
        number=$((number + 1))
        out=$work/observer-$number
        case $words in
        eventspace*)
            wait_for_ranks "$1"
            out=$work/monitor-$number
            ;;
        esac
        # shellcheck disable=SC2046,SC2086 # words
        nice -n "$niceness" $(command_of "$1" $words) \
            </dev/null >"$out" 2>"$work/observer-$number.err" &
        started="$started $!"
        watched="$watched $!"
        [ "$out" = "$work/observer-$number" ] || monitors="$monitors $!"
        begun_s=$(date +%s.%N)
    done <"$work/observers"
    sampler=
    [ -n "$monitors" ] || return 0
    # Monitors do not know the costs in their server.
    "$build/bench/observe" --run "$1" --elements 1 --name 0.0/completion --rate 1 \
        --cpu-of "$(server_of "$1")" </dev/null >"$work/server-cpu" 2>/dev/null &
    sampler=$!
    started="$started $!"
}

# The costs of monitors; observers report their own.
account_monitors() {
    number=0
    for pid in $watched; do
        number=$((number + 1))
        [ -e "$work/monitor-$number" ] || continue
        awk -v now="$(date +%s.%N)" -v begun="$begun_s" -v ticks="$(getconf CLK_TCK)" \
            '{ sub(/.*\) /, ""); printf "cpu: %.3f %%\n", ($12 + $13) / ticks / (now - begun) * 100 }' \
            "/proc/$pid/stat" >"$work/observer-$number" 2>/dev/null || :
    done
    [ -n "$sampler" ] || return 0
    kill "$sampler" 2>/dev/null || :
    wait "$sampler" || :
    grep '^server_cpu:' "$work/server-cpu" >>"$work/observer-1" || :
}

# A monitor may exit with a finding (1), with the run gone (3), or by the signal sent to
# it (143).
ended_well() {
    status=0
    { wait "$1" || status=$?; } 2>/dev/null # the shell would tell of signals
    [ "$status" -ne 0 ] || return 0
    case " $monitors " in
    *" $1 "*) case $status in 1 | 3 | 143) ;; *) return 1 ;; esac ;;
    *) return 1 ;;
    esac
}

# The run may outlive the tunnel, so they are told to end.
stop_observers() {
    account_monitors
    for pid in $watched; do
        kill "$pid" 2>/dev/null || :
    done
    for pid in $watched; do
        ended_well "$pid" || {
            echo "perturbation.sh: row $1: an observer ended with $status:" >&2
            cat "$work"/observer-*.err >&2
            exit 1
        }
    done
    cat "$work"/observer-*.err 2>/dev/null >&2 || :
    for out in "$work"/monitor-*; do
        [ ! -e "$out" ] || monitor_losses "$out" >>"$work/observer-${out##*-}"
    done
}

# Tuples lost by the collective-operation monitor, as last reported for ranks and nodes.
monitor_losses() {
    sed -n 's/^{"type":"\(summary\|nodes\)".*"lost_tuples":\([0-9]*\).*/\1 \2/p' "$1" |
        awk '{ lost[$1] = $2 } END { for (i in lost) print "lost: " lost[i] }'
}

# Sum of a named value over the row's observers.
observed() {
    cat "$work"/observer-[0-9] 2>/dev/null |
        awk -v name="$1:" '$1 == name { sum += $2; n++ } END { if (n) printf "%.10g", sum }'
}

tunnel_rate() {
    awk '/^iterations per second:/ { print $4 }' "$work/tunnel.out"
}

# Runs a row, or the tunnel alone ("none") as in the row WHERE, and prints a line of the
# list: one_run SIZE ROW ITERATIONS PAIR WHERE.
one_run() {
    run=$name-$((serial += 1))
    rm -f "$work"/observer-* "$work"/monitor-* "$work/tunnel.out"
    tunnel="$build/apps/windtunnel --size $1 --slices 4 --iterations $3"
    tunnel="$tunnel --check-every $(check_every_of "$5")"
    loads=
    watched=
    monitors=
    sampler=
    map=$(map_of "$2")
    case $map in
    '')
        # shellcheck disable=SC2086
        "${MPIEXEC:-mpiexec}" -n 2 $tunnel </dev/null >"$work/tunnel.out" 2>&1 &
        tunnel_pid=$!
        ;;
    *)
        # shellcheck disable=SC2086
        "$build/cli/eventspace" run -n 2 --map "$work/$map" --name "$run" -- \
            $tunnel </dev/null >"$work/tunnel.out" 2>&1 &
        tunnel_pid=$!
        wait_for "$EVENTSPACE_DIR/$run/server.json"
        ;;
    esac
    started=$tunnel_pid
    start_side "$run" "$1"
    [ -z "$map" ] || start_observers "$run" "$2"
    wait "$tunnel_pid" || {
        cat "$work/tunnel.out" >&2
        exit 1
    }
    stop_observers "$2"
    stop_side
    started=
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$4" "$2" "$(tunnel_rate)" \
        "$(observed rate)" "$(observed cpu)" "$(observed server_cpu)" \
        "$(observed lost)" >>"$work/runs.tsv"
}

# The cost in a server on a host with idle cores: pulls as in the row host-100, without
# a tunnel.
measure_idle_server() {
    run=$name-idle
    "$build/cli/eventspaced" --run "$run" --foreground </dev/null >"$work/server.log" 2>&1 &
    server=$!
    started=$server
    wait_for "$EVENTSPACE_DIR/$run/server.json"
    "$build/bench/load" --run "$run" --here --first-rank 4 --threads 18 --elements 9 \
        --rate 14 --seconds 0 --quiet >/dev/null &
    loads=$!
    started="$server $loads"
    "$build/bench/observe" --run "$run" --elements 162 --set through-server=yes --rate 100 \
        --cpu-of "$server" --seconds "$(awk -v s="$seconds" 'BEGIN { print s * 3 }')" \
        >"$work/observer-1"
    stop_side
    kill "$server" 2>/dev/null || :
    wait "$server" || :
    started=
    echo "figure: server_162_elements_100_hz_cpu $(observed server_cpu) %"
}

# The number of iterations that take this many seconds alone.
calibrate() {
    case $1 in
    small) few=60 ;;
    medium) few=4 ;;
    *) few=2 ;;
    esac
    "${MPIEXEC:-mpiexec}" -n 2 "$build/apps/windtunnel" --size "$1" --slices 4 \
        --iterations $few --check-every 1000000 </dev/null >"$work/tunnel.out" 2>&1
    tunnel_rate | awk -v seconds="$seconds" \
        '{ n = int($1 * seconds + 0.5); print n < 2 ? 2 : n }'
}

for size in $sizes; do
    element_rate_of "$size" >/dev/null
done
serial=0
pair=0
printf 'size\tpair\trow\titerations/s\tpulls/s\tcpu\tserver_cpu\tlost\n' \
    >"$work/runs.tsv"
for size in $sizes; do
    iterations=$(calibrate "$size")
    round=1
    while [ "$round" -le "$rounds" ]; do
        for row in $rows; do
            pair=$((pair + 1))
            # The order alternates from round to round.
            if [ $((round % 2)) -eq 1 ]; then
                one_run "$size" none "$iterations" "$pair" "$row"
                one_run "$size" "$row" "$iterations" "$pair" "$row"
            else
                one_run "$size" "$row" "$iterations" "$pair" "$row"
                one_run "$size" none "$iterations" "$pair" "$row"
            fi
        done
        if [ -t 2 ]; then
            printf '\r%s: round %d of %d' "$size" "$round" "$rounds" >&2
        fi
        round=$((round + 1))
    done
    [ ! -t 2 ] || echo >&2
done

"${PYTHON:-python3}" "$here/perturbation_table.py" --side "$side" "$work/runs.tsv" \
    >"$work/table.md"
case " $rows " in
*" host-100 "*) measure_idle_server >>"$work/table.md" ;;
esac
cat "$work/table.md"
if [ -n "$output" ]; then
    cp "$work/runs.tsv" "$output.tsv"
    grep -v '^figure:' "$work/table.md" >"$output.md"
    "${PYTHON:-python3}" "$here/plot.py" --title "Slowdown of the wind tunnel" \
        --match 'windtunnel_*_*_slowdown' --note 'windtunnel_*_*_rate' --reference 1 \
        --noise again "$work/table.md" >"$output.svg"
fi
