#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_order_runs.sh - order, export and import of real runs. An archive, a kept run and an
# exported set have the same statistics, and all answers equal those by closure. Live runs
# are followed.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
need_mpi
python=${PYTHON:-python3}
apps=$top_builddir/apps
tools=$top_srcdir/tests/order

# numbers SOURCE [OPTION...] - prints the statistics of `order` without times.
numbers()
{
    expect 0 "$eventspace" order --format json "$@"
    sed 's/"build_ns":[^,]*,//; s/"events_per_second":[^,]*,//' "$folder/out"
}

# compare_sources NAME - the run's set, questions about it with answers by closure, all
# formats.
compare_sources()
{
    local run=$prefix-$1 archive=$folder/$1 set=$folder/$1.jsonl source to how

    numbers "$archive" >"$folder/numbers"
    numbers "$run" | cmp -s - "$folder/numbers" ||
        fault "$1: archive and run have other numbers: $(cat "$folder/numbers" "$folder/out")"
    expect 0 "$eventspace" order "$run"
    grep -qx 'ranks  *2' "$folder/out" || fault "not 2 ranks: $(cat "$folder/out")"
    contains out "messages matched"
    for word in never "not seen" lost incomplete store; do
        lacks out "$word"
    done
    is_empty err
    expect 0 "$eventspace" import "$archive" -o "$set"
    is_empty err
    for to in event-set shiviz chrome dot csv; do
        expect 0 "$eventspace" export "$archive" --to $to -o "$archive.$to"
        expect 0 "$eventspace" export "$run" --to $to -o "$folder/run.$to"
        is_empty err
        expect 0 "$eventspace" export "$set" --to $to -o "$folder/set.$to"
        "$python" "$top_srcdir/tests/eventset/compare_exports.py" $to "$folder/run.$to" "$archive.$to" ||
            fault "$1: --to $to of archive and run differ"
        "$python" "$top_srcdir/tests/eventset/compare_exports.py" $to "$folder/set.$to" "$archive.$to" ||
            fault "$1: --to $to of archive and set differ"
        "$python" "$top_srcdir/tests/eventset/compare_exports.py" $to "$archive.$to" ||
            fault "$1: --to $to is not as its readers want it"
    done
    "$python" "$tools/ask_closure.py" "$set" "${ES_TEST_SEED:-$RANDOM}" \
        >"$folder/questions" 2>"$folder/answers" || fault "$1: $(tail -3 "$folder/answers")"
    for source in "$archive" "$run" "$set"; do
        for how in "" "--store cluster" "--strategy static" "--tune seed-hosts=yes"; do
            # shellcheck disable=SC2086 # several words
            expect 0 "$eventspace" order "$source" $how --query "$folder/questions"
            cmp -s "$folder/out" "$folder/answers" || fault "$source $how answers otherwise"
        done
    done
}

expect 0 "$eventspace" run --name "$prefix-tunnel" --keep --record "$folder/tunnel" -n 2 -- \
    "$apps/windtunnel" --rows 20 --iterations 20
compare_sources tunnel
contains out before
contains out concurrent
# Rank 0 starts late, so that the recorder finds the elements of rank 1 first.
# shellcheck disable=SC2016 # for the inner shell
expect 0 "$eventspace" run --name "$prefix-master" --keep --record "$folder/master" -n 2 -- \
    sh -c '[ "$PMI_RANK" != 0 ] || sleep 1; exec "$@"' late "$apps/masterworker" --tasks 150
compare_sources master

# One cluster for this host, and at most one for the trace of the communicator.
expect 0 "$eventspace" order "$prefix-tunnel" --tune seed-hosts=yes --strategy merge-nth --threshold 1e9 \
    --format json
json_lines_hold 'o["traces"] - 1 <= 2 and o["levels"][0]["clusters"] < o["traces"]'

if command -v dot >/dev/null; then
    expect 0 "$eventspace" run --name "$prefix-ring" --record "$folder/ring" -n 2 -- "$apps/ring"
    expect 0 "$eventspace" export "$folder/ring" --to dot -o "$folder/ring.dot"
    expect 0 dot -Tsvg "$folder/ring.dot"
    is_empty err
    [ "$(grep -c 'class="node"' "$folder/out")" -gt 4 ] || fault "dot drew nothing"
else
    echo "there is no dot: what is exported for it is not drawn"
fi

# Overwritten events are reported, for the run and for an archive of the rest.
expect 0 "$eventspace" run --name "$prefix-lossy" --keep --threshold 15 -n 2 -- \
    "$apps/windtunnel" --rows 20 --iterations 20
expect 0 "$eventspace" order "$prefix-lossy"
contains out "tuples were lost"
contains out "events shown as concurrent may be ordered, too"
lacks out "never received"
numbers "$prefix-lossy" >"$folder/numbers"
json_lines_hold 'o["lower_bound"] and o["lost"] > 100'
for kind in sends receives; do
    json_lines_hold "o['unmatched_$kind'] == sum(c['$kind'] for c in o['unmatched'])"
done
json_lines_hold 'all({c["source"], c["destination"]} == {0, 1} for c in o["unmatched"])'
json_lines_hold 'len(o["unmatched"]) > 0'
expect 0 "$eventspace" record "$prefix-lossy" -o "$folder/lossy"
numbers "$folder/lossy" | cmp -s - "$folder/numbers" ||
    fault "losses: archive and run have other numbers: $(cat "$folder/numbers" "$folder/out")"
for source in "$prefix-lossy" "$folder/lossy"; do
    expect 0 "$eventspace" export "$source" --to csv -o "$folder/lossy.csv"
    contains err "eventspace export: incomplete: "
    echo '0:1 0:2' >"$folder/questions"
    expect 0 "$eventspace" order "$source" --query "$folder/questions"
    contains out before
    contains err "eventspace order: incomplete: "
    contains err "tuples were lost"
    lacks err " 0 "
done
expect 0 "$eventspace" import "$folder/lossy" -o "$folder/lossy.jsonl"
contains err "eventspace import: incomplete: "

# Messages that were never received, of a run that has ended; figures only with --stats.
expect 3 "$eventspace" run --name "$prefix-unreceived" --keep -n 2 -- "$apps/hang" --seconds 1 wrong-tag
expect 0 "$eventspace" order "$prefix-unreceived"
contains out "never received        2 messages"
contains out "  1 from rank 0 to 1, tag 2"
contains out "  1 from rank 1 to 0, tag 2"
lacks out incomplete
lacks out Fidge
expect 0 "$eventspace" order "$prefix-unreceived" --stats
contains out "never received        2 messages"
contains out "% of Fidge/Mattern"

# A live run: its events so far, and all until its end. It is not kept.
"$eventspace" run --name "$prefix-live" --record "$folder/live" -n 2 -- \
    "$apps/windtunnel" --exchange-ms 4 --iterations 1000000 --check-every 20 --seconds 300 \
    --until "$folder/enough" >"$folder/live.out" 2>&1 &
program=$!
# has_events COUNT [--local] RUN - `order` has at least COUNT events of the live run.
has_events()
{
    local count=$1
    shift
    "$eventspace" order "$@" --format json >"$folder/seen" 2>"$folder/err" &&
        "$python" -c 'import json, sys; sys.exit(json.load(sys.stdin)["events"] < int(sys.argv[1]))' \
            "$count" <"$folder/seen"
}
# is_attached PROCESS RUN - its child has mapped a segment of the run.
is_attached()
{
    command=$(ps -o pid= --ppid "$1") && command=${command// /} &&
        grep -q "eventspace.$2" "/proc/$command/maps"
}
await 20 has_events 10 "$prefix-live"
timeout 60 "$eventspace" export --follow "$prefix-live" --to csv -o "$folder/followed.csv" \
    2>"$folder/csv.err" &
exporter=$!
timeout 60 "$eventspace" order --follow "$prefix-live" --format json >"$folder/followed" \
    2>"$folder/followed.err" &
follower=$!
await 20 is_attached $exporter "$prefix-live"
await 20 is_attached $follower "$prefix-live"
await 20 has_events 400 "$prefix-live"
touch "$folder/enough"
wait $follower || fault "order --follow ended with $?: $(cat "$folder/followed.err")"
wait $exporter || fault "export --follow ended with $?: $(cat "$folder/csv.err")"
wait $program || fault "the program ended with $?: $(cat "$folder/live.out")"
numbers "$folder/live" >"$folder/numbers"
"$python" - "$folder/followed" "$folder/numbers" "$folder/followed.csv" <<'END' ||
import json, sys
followed, recorded = (json.load(open(name)) for name in sys.argv[1:3])
assert followed["lower_bound"] == (followed["lost"] > 0), followed
if not followed["lost"]:
    for key in "events", "messages", "collectives", "cuts":
        assert followed[key] == recorded[key] or recorded["lost"], (key, followed, recorded)
assert sum(1 for line in open(sys.argv[3])) > 100
END
    fault "followed and recorded runs differ"

# An interrupt ends the follower, not the run.
"$eventspace" run --name "$prefix-long" -n 2 -- \
    "$apps/windtunnel" --exchange-ms 4 --iterations 1000000 --seconds 60 >"$folder/live.out" 2>&1 &
program=$!
# The run's server answers before its ranks have segments on this host.
await 20 has_events 20 --local "$prefix-long"
timeout -k 5 20 "$eventspace" order --follow --local "$prefix-long" --format json \
    >"$folder/out" 2>"$folder/err" &
follower=$!
await 20 is_attached $follower "$prefix-long"
kill -TERM "$command"
wait $follower || fault "the interrupted command ended with $?: $(cat "$folder/err")"
json_lines_hold 'o["type"] == "statistics" and o["events"] > 10'
kill -0 $program || fault "the program has ended, too"
expect 2 "$eventspace" order --server tls:127.0.0.1:1 "$prefix-long"
contains err "eventspace order: cannot use the run's tuple servers: tls:127.0.0.1:1"
kill -TERM $program
wait $program
for run in tunnel master ring lossy unreceived live long; do
    "$eventspace" clean "$prefix-$run" >"$folder/out" 2>&1
done
finish
