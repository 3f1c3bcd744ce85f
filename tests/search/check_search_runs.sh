#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_search_runs.sh - eventspace search on real runs: an archive, a kept run and an
# exported set have the same matches, which include all messages; and live runs.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
need_mpi
python=${PYTHON:-python3}
apps=$top_builddir/apps

cat >"$folder/runs.pattern" <<'END'
Send := [kind = "send"]; Recv := [kind = "receive"];
MpiSend := [class = "send"]; MpiRecv := [class = "receive"];
MpiSend $s; MpiRecv $r; Recv *others;
Message := Send => Recv;
Matched := ($s => $r) & $s.tag = $r.tag & $s.communicator = $r.communicator;
Mistaken := ($s => $r) & $s.tag != $r.tag;
Together := MpiSend || MpiSend;
Before := $s --> $r;
Within := (MpiSend => MpiRecv) within 10s;
Initial := *others !--> $s;
END
predicates='Message Matched Mistaken Together Before Within Initial'

# Computes the expected numbers of matches of a set by closure.
cat >"$folder/expected.py" <<'END'
import itertools, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
events = {(e["trace"], e["index"]): e for e in lines if "trace" in e}
before = {}
def known(start):
    stack = [start]
    while stack:
        at = stack[-1]
        needs = [tuple(p) for p in events[at].get("partners", [])
                 if events[at].get("kind") == "receive"]
        needs += [(at[0], at[1] - 1)] if at[1] > 1 else []
        missing = [n for n in needs if n not in before]
        if missing:
            stack += missing
            continue
        before[at] = {at}.union(*(before[n] for n in needs))
        stack.pop()
for id in events:
    if id not in before:
        known(id)
kind = lambda k: [i for i, e in events.items() if e.get("kind") == k]
of = lambda c: [i for i, e in events.items() if e.get("attributes", {}).get("class") == c]
value = lambda i, name: events[i].get("attributes", {}).get(name)
is_before = lambda a, b: a != b and a in before[b]
pairs = [(tuple(s), r) for r in kind("receive") for s in events[r].get("partners", [])]
sends, recvs = set(of("send")), set(of("receive"))
mpi = [(s, r) for s, r in pairs if s in sends and r in recvs]
same = lambda s, r, name: value(s, name) is not None and value(s, name) == value(r, name)
print(f"Message: {len(set(pairs))}")
print(f"Matched: {sum(same(s, r, 'tag') and same(s, r, 'communicator') for s, r in mpi)}")
print(f"Mistaken: {sum(value(s, 'tag') != value(r, 'tag') for s, r in mpi)}")
print("Together:", sum(not is_before(a, b) and not is_before(b, a)
                       for a, b in itertools.combinations(sends, 2)))
print("Before:", sum(is_before(s, r) for s in sends for r in recvs))
print(f"Within: {len(mpi)}")
receives = kind("receive")
print("Initial:", sum(not any(is_before(r, s) for r in receives) for s in sends))
assert len(mpi) > 20
END

# compare NAME - compares the archive, the run and the set.
compare()
{
    local run=$prefix-$1 archive=$folder/$1 set=$folder/$1.jsonl source engine

    expect 0 "$eventspace" import "$archive" -o "$set"
    "$python" "$folder/expected.py" "$set" >"$folder/expected" || fault "$1: no answers"
    for source in "$set" "$archive" "$run"; do
        # shellcheck disable=SC2086 # several words
        expect 0 "$eventspace" search -p "$folder/runs.pattern" "$source" $predicates --count
        cmp -s "$folder/out" "$folder/expected" ||
            fault "$source: $(diff "$folder/out" "$folder/expected")"
        is_empty err
        expect 0 "$eventspace" search -p "$folder/runs.pattern" "$source" Message Matched \
            --sort --format json
        if [ "$source" = "$set" ]; then
            cp "$folder/out" "$folder/matches"
        elif [ "$source" = "$archive" ]; then
            # A set has the trace numbers of its archive; a run may have others.
            cmp -s "$folder/out" "$folder/matches" || fault "$source has other matches"
        fi
    done
    for engine in rewrite closure; do
        # shellcheck disable=SC2086
        expect 0 "$eventspace" search -p "$folder/runs.pattern" "$set" $predicates --count \
            --engine $engine
        cmp -s "$folder/out" "$folder/expected" ||
            fault "$1, $engine: $(diff "$folder/out" "$folder/expected")"
    done
}

expect 0 "$eventspace" run --name "$prefix-tunnel" --keep --record "$folder/tunnel" -n 2 -- \
    "$apps/windtunnel" --rows 20 --iterations 20
compare tunnel
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-tunnel" Matched --first
grep -qE '^[01]\.0:[0-9]+ MPI_[A-Za-z]+, [01]\.0:[0-9]+ MPI_[A-Za-z]+$' "$folder/out" ||
    fault "no events with names and types: $(cat "$folder/out")"
# The lines of a send and of its receive.
size='[0-9]+ B  at [0-9.]+ s'
grep -qE "^    [01]\.0:[0-9]+ +MPI_I?s?[Ss]end +rank [01]  to [01] +tag [0-9]+  .*COMM_WORLD +$size  for " \
    "$folder/out" && grep -qE "^    [01]\.0:[0-9]+ +MPI_I?[Rr]ecv +rank [01]  from [01] " \
    "$folder/out" || fault "a message is not told of: $(cat "$folder/out")"
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-tunnel" Matched --first --brief
[ "$(wc -l <"$folder/out")" -eq 1 ] || fault "--brief is not a line: $(cat "$folder/out")"
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-tunnel" Matched --limit 20 \
    --format json
json_lines_hold '(len(o["events"]) == len(o["match"]) == 2
    and {e["class"] for e in o["events"]} == {"send", "receive"}
    and o["events"][0]["peer"] == o["events"][1]["rank"]
    and o["events"][1]["peer"] == o["events"][0]["rank"]
    and o["events"][0]["tag"] == o["events"][1]["tag"]
    and o["events"][0]["bytes"] == o["events"][1]["bytes"] > 0
    and all(0 < e["start_unix_ns"] < e["stop_unix_ns"] for e in o["events"]))'
expect 0 "$eventspace" run --name "$prefix-master" --keep --record "$folder/master" -n 2 -- \
    "$apps/masterworker" --tasks 30
compare master

# An incomplete order is reported.
expect 0 "$eventspace" run --name "$prefix-lossy" --keep --threshold 15 -n 2 -- \
    "$apps/windtunnel" --rows 20 --iterations 20
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-lossy" MpiRecv --count --stats \
    --format json
contains err "eventspace search: incomplete: "
grep statistics "$folder/out" >"$folder/only"
cp "$folder/only" "$folder/out"
json_lines_hold 'o["lower_bound"] and o["complete"]'

# A live run: its matches so far; followed until its end, until a limit, and until an
# interrupt.
"$eventspace" run --name "$prefix-live" --record "$folder/live" -n 2 -- \
    "$apps/windtunnel" --exchange-ms 4 --iterations 1000000 --check-every 20 --seconds 300 \
    --until "$folder/enough" >"$folder/live.out" 2>&1 &
program=$!
has_match()
{
    "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched --first \
        >"$folder/out" 2>"$folder/err" && [ -s "$folder/out" ]
}
await 20 has_match
contains out "MPI_"
timeout 300 "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched Mistaken --follow \
    --format json --stats >"$folder/followed" 2>"$folder/followed.err" &
follower=$!
"$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched --follow \
    >"$folder/interrupted" 2>"$folder/interrupted.err" &
interrupted=$!
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched --follow --first
[ "$(grep -vc '^ ' "$folder/out")" -eq 1 ] || fault "--follow --first is not one match"
[ "$(grep -c '^    .* rank ' "$folder/out")" -eq 2 ] || fault "its events are not told of"
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched --follow --first \
    --brief
[ "$(wc -l <"$folder/out")" -eq 1 ] || fault "--follow --brief is not one line"
contains out "MPI_"
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched --follow --limit 20 \
    --by pair --format json
[ "$(cat "$folder/out")" = '{"type":"sum","pattern":"Matched","rank":0,"other_rank":1,"matches":20}' ] ||
    fault "--follow --by pair: $(cat "$folder/out")"
# The time limit is doubled until a match is found, since the machine may be busy.
limit_ms=150
has_some_in_time()
{
    limit_ms=$((2 * limit_ms))
    timeout 60 "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched \
        --follow --time-limit ${limit_ms}ms --count >"$folder/out" 2>"$folder/err"
}
await 120 has_some_in_time
contains err "the search was ended by --time-limit: there may be more matches"
await 20 [ -s "$folder/interrupted" ]
kill -0 $program || fault "the program ended too early for what follows it"
kill -TERM $interrupted
wait $interrupted || fault "an interrupted follower ended with $?"
grep -q "the search was ended by an interrupt" "$folder/interrupted.err" ||
    fault "an interrupt is not told: $(cat "$folder/interrupted.err")"
# Waits for enough matches for the comparison below.
followed_many()
{
    [ "$(wc -l <"$folder/followed")" -gt 40 ]
}
await 40 followed_many
touch "$folder/enough"
wait $program || fault "the program ended with $?: $(cat "$folder/live.out")"
wait $follower || fault "a follower ended with $?: $(cat "$folder/followed.err")"
expect 2 "$eventspace" search -p "$folder/runs.pattern" "$prefix-live" Matched
contains err "$prefix-live"

# The matches that were followed are those of the recording, if nothing was overwritten.
expect 0 "$eventspace" search -p "$folder/runs.pattern" "$folder/live" Matched Mistaken --stats \
    --format json
"$python" - "$folder/followed" "$folder/out" <<'END' || fault "followed and recorded runs differ"
import json, sys
followed, recorded = ([json.loads(line) for line in open(name)] for name in sys.argv[1:3])
live = followed[-1]
assert live["type"] == "statistics" and live["engine"] == "live" and live["complete"], live
matches = [line for line in followed if "match" in line]
assert len(matches) == live["matches"] > 20, live
assert len({json.dumps(line) for line in matches}) == len(matches)
assert all(line["pattern"] == "Matched" for line in matches)
lost = live["lower_bound"] or any(line.get("lower_bound") for line in recorded)
if not lost:
    assert len(matches) == sum("match" in line for line in recorded), (live, recorded[-1])
END
finish
