#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# record.sh - the cost of recording for a program, and the speed of recording relative
# to a plain write() of the same bytes.
#
#   bench/record.sh [ROUNDS [SECONDS]]     from the top of the build folder
#
# In a round, the wind tunnel on 2 ranks runs collected, recorded, and recorded with all
# elements set to block, in alternating order; the slowdown is the median of the rounds'
# ratios of the collected tunnel's iterations per second to those of the recorded one.
#
# Then a finished run (bench/load, elements of 65,535 tuples) is recorded, and the bytes
# of its archive are copied, in the same place and in blocks of the size of packets;
# neither waits for the disk.  Finally, a program that writes as fast as possible is
# recorded for SECONDS: without block, the lost share shows how much recording falls
# behind; with block, the program runs at the speed of recording.

set -eu
rounds=${1:-7}
seconds=${2:-4}
case $rounds$seconds in *[!0-9]* | 0*)
    echo "usage: record.sh [ROUNDS [SECONDS]]" >&2
    exit 2
    ;;
esac
build=$PWD
for program in cli/eventspace apps/windtunnel bench/load; do
    [ -x "$build/$program" ] || {
        echo "record.sh: no $program: run it in the build folder, after make" >&2
        exit 2
    }
done

work=$(mktemp -d)
EVENTSPACE_DIR=$work/runs
export EVENTSPACE_DIR
mkdir -m 700 "$EVENTSPACE_DIR"
name=record-$$
writer=

finish() {
    [ -z "$writer" ] || kill "$writer" 2>/dev/null || :
    wait
    for run in tunnel load; do
        "$build/cli/eventspace" clean --force "$name-$run" >/dev/null 2>&1 || :
    done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

cat >"$work/block.json" <<END
{"version": 1, "application": {"ranks": 2}, "collectors": [
    {"name": "all", "classes": ["send", "receive", "completion", "collective",
     "communicator", "one-sided", "io", "other"], "on_full": "block"}
]}
END

median() {
    sort -n | awk '{ value[NR] = $1 } END {
        if (NR == 0) exit 1
        printf "%.3f\n", NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}

# --- The tunnel ---------------------------------------------------------------------

# tunnel OPTION... - prints the rate that it reports; removes the archive of the
# previous run.
tunnel() {
    rm -rf "$work/archive"
    "$build/cli/eventspace" run --name "$name-tunnel" "$@" -- \
        "$build/apps/windtunnel" --rows 128 --iterations 100000000 --seconds "$seconds" >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err" >&2
        exit 1
    }
    awk '/^iterations per second: / { print $4 }' "$work/out"
}

row() {
    case $1 in
    collected) tunnel -n 2 ;;
    recorded) tunnel -n 2 --record "$work/archive" ;;
    blocked) tunnel --map "$work/block.json" --record "$work/archive" ;;
    esac >"$work/$1.rate"
    [ -s "$work/$1.rate" ] || {
        echo "record.sh: the tunnel tells no rate" >&2
        exit 1
    }
}

round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    if [ $((round % 2)) = 1 ]; then
        order="collected recorded blocked"
    else
        order="blocked recorded collected"
    fi
    for kind in $order; do
        row "$kind"
    done
    for kind in recorded blocked; do
        awk 'NR == FNR { alone = $1; next } { print alone / $1 }' \
            "$work/collected.rate" "$work/$kind.rate" >>"$work/$kind.ratios"
    done
done
for kind in recorded blocked; do
    printf 'figure: record_tunnel_%s_slowdown %s ratio\n' "$kind" "$(median <"$work/$kind.ratios")"
done

# --- Speed --------------------------------------------------------------------------

# member KEY - of the summary that recording prints.
member() {
    sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$work/out"
}

# start_load OPTION... - returns when it has written everything, or is ready to write.
start_load() {
    : >"$work/load" # of the load before, which was ready, too
    "$build/bench/load" --run "$name-load" --here --ranks 2 --elements 4 --quiet "$@" \
        >"$work/load" 2>&1 &
    writer=$!
    until grep -q "$wait_for" "$work/load"; do
        kill -0 "$writer" || { cat "$work/load" >&2; exit 1; }
        sleep 0.05
    done
}

end_load() {
    kill "$writer" 2>/dev/null || :
    wait "$writer" 2>/dev/null || :
    writer=
}

# record ARCHIVE [OPTION...]
record() {
    archive=$1
    shift
    "$build/cli/eventspace" record --format json -o "$archive" "$@" "$name-load" >"$work/out"
}

# copy ARCHIVE - copies its streams in blocks of the size of packets; prints the
# seconds.
copy() {
    "${PYTHON:-python3}" - "$1" "$work/copied" <<'END'
import os, sys, time
whole = b"".join(open(os.path.join(folder, name), "rb").read()
                 for folder, _, names in os.walk(sys.argv[1]) if ".eventspace" not in folder
                 for name in names if name != "metadata")
begun = time.perf_counter()
file = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
for at in range(0, len(whole), 65536):
    os.write(file, whole[at:at + 65536])
os.close(file)
print(time.perf_counter() - begun)
END
}

wait_for='^written'
start_load --threshold 65535 --count 65535 --rate 10000000 --seconds 60 --linger 600
kill -KILL "$writer" # its segments stay: a run that is over
end_load
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    record "$work/over"
    tuples=$(member tuples)
    took=$(member seconds)
    echo "$tuples $took" | awk '{ print $1 / $2 }' >>"$work/pace"
    echo "$took $(copy "$work/over")" | awk '{ print $1 / $2 }' >>"$work/floor"
    rm -rf "$work/over"
done
printf 'figure: record_pace %s tuples/s\n' "$(median <"$work/pace")"
printf 'figure: record_to_plain_write %s ratio\n' "$(median <"$work/floor")"
"$build/cli/eventspace" clean --force "$name-load" >/dev/null 2>&1 || :

# Writers that do not wait at all, and writers that only wait for the recording.
wait_for='^ready'
for kind in discard block; do
    option=
    [ $kind = discard ] || option=--block
    # shellcheck disable=SC2086 # none or one
    start_load $option --threshold 4095 --rate 10000000 --seconds 0
    record "$work/$kind" --for "${seconds}s" --new
    end_load
    rm -rf "${work:?}/$kind"
    printf 'figure: record_live_%s_pace %s tuples/s\n' $kind \
        "$(echo "$(member tuples) $(member seconds)" | awk '{ printf "%.0f", $1 / $2 }')"
    printf 'figure: record_live_%s_lost %s ratio\n' $kind \
        "$(echo "$(member lost) $(member tuples)" | awk '{ printf "%.3f", $1 / ($1 + $2) }')"
done
