#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_search.sh - eventspace search: all engines and options find the same matches as a
# closure; output, limits, interrupts and errors.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
python=${PYTHON:-python3}
unset EVENTSPACE_PATTERNS

# --- By closure -----------------------------------------------------------------------

# Random messages, patterns over them, and their matches by closure.
"$python" - "$folder" "${ES_TEST_SEED:-$RANDOM}" <<'END' || exit 1
import itertools, json, random, sys
folder, seed = sys.argv[1], int(sys.argv[2])
print("seed", seed)
chance = random.Random(seed)
traces, count = 6, 90
events, before, counts, sends, types = [], {}, [0] * traces, [], {}
partners_of = {}
while len(events) < count:
    trace = chance.randrange(traces)
    counts[trace] += 1
    here = (trace, counts[trace])
    known = {here}
    if counts[trace] > 1:
        known |= before[trace, counts[trace] - 1]
    event = {"trace": trace, "index": counts[trace], "type": "work",
             "attributes": {"tag": str(chance.randrange(3))}}
    draw = chance.random()
    if draw < 0.35 and sends:
        partner = chance.choice(sends)
        event.update(kind="receive", partners=[partner], type="recv")
        known |= before[partner]
        partners_of[here] = partner
    elif draw < 0.8:
        event.update(kind="send", type="send")
        sends.append(here)
    before[here] = known
    types[here] = event["type"], event["attributes"]["tag"]
    events.append(event)
with open(folder + "/set.jsonl", "w") as out:
    print(json.dumps({"format": "eventspace-events", "version": 1,
                      "traces": [f"T {i}" for i in range(traces)]}), file=out)
    for event in events:
        print(json.dumps(event), file=out)
ids = sorted(before)
is_before = lambda a, b: a != b and a in before[b]
of = lambda kind: [i for i in ids if types[i][0] == kind]
answers = {
    "Before": {frozenset((a, b)) for a in of("send") for b in of("recv") if is_before(a, b)},
    "Concurrent": {frozenset((a, b)) for a, b in itertools.combinations(of("send"), 2)
                   if not is_before(a, b) and not is_before(b, a)},
    "Message": {frozenset((s, r)) for r, s in partners_of.items()},
    "SameTag": {frozenset((s, r)) for r, s in partners_of.items() if types[s][1] == types[r][1]},
    "First": {frozenset((a,)) for a in of("send")
              if not any(is_before(r, a) for r in of("recv"))},
    "Hidden": {frozenset((a,)) for a in of("work") if any(is_before(a, w) for w in of("work"))},
    "Nothing": set(),
}
for name, matches in answers.items():
    with open(f"{folder}/{name}.jsonl", "w") as out:
        for match in sorted(sorted(m) for m in matches):
            print(json.dumps({"type": "match", "match": match}, separators=(",", ":")), file=out)
END
cat >"$folder/all.pattern" <<'END'
Send := ["", "send", ""]; Recv := ["", "recv", ""]; Work := ["", "work", ""];
Absent := ["", "nothing", ""];
Send $s; Recv $r; Recv *every; Work ~w;
Before := Send --> Recv;
Concurrent := Send || Send;
Message := Send => Recv;
SameTag := ($s => $r) & $s.tag = $r.tag;
First := *every !--> $s;
Hidden := Work --> ~w;
Nothing := Absent --> Send;
END
set=$folder/set.jsonl
all=$folder/all.pattern
predicates='Before Concurrent Message SameTag First Hidden Nothing'

# check_all OPTION... - searches every predicate with these options.
check_all()
{
    local name status
    for name in $predicates; do
        status=0
        [ -s "$folder/$name.jsonl" ] || status=1
        expect $status "$eventspace" search -p "$all" "$set" "$name" --sort --format json "$@"
        cmp -s "$folder/out" "$folder/$name.jsonl" ||
            fault "$name $*: $(diff "$folder/out" "$folder/$name.jsonl" | head -5)"
    done
}

while read -r how; do
    # shellcheck disable=SC2086 # several words
    check_all $how
done <<'END'

--engine indexed
--engine rewrite
--engine closure
--threads 0
--threads 3
--tune prune=no
--tune failed-first=no
--tune reorder=none
--tune reorder=brute
--tune reorder=success,seed=7
--tune reorder=cluster
--tune prune=no,reorder=none --tune failed-first=no
--tune closure-method=existing
--tune closure-method=step
--tune closure-method=binary
--tune closure-method=jump
--tune closure-method=existing,combining=no
--store dense
--store cluster
END

# Predicates with very many operands of `|`: the result is that of the few operands that
# have events in the set.
"$python" - "$folder/many" <<'END'
import sys
for count in 257, 1000, 5000:
    absent = [f'["", "absent{i}", ""]' for i in range(count - 1)]
    half = count // 2
    join = lambda sides, real: " | ".join(sides[:half] + [real] + sides[half:])
    relations = [f"(Send --> {side})" for side in absent]
    limited = [f"({side} -(Send)-> Recv)" for side in absent]
    hidden = [f"({side} --> ~w)" for side in absent[:1]]
    with open(f"{sys.argv[1]}{count}.pattern", "w") as out:
        print(f"""Send := ["", "send", ""]; Recv := ["", "recv", ""]; Work := ["", "work", ""];
Send $s; Recv *every; Work ~w;
Before := {join(relations, "(Send --> Recv)")};
Message := Send => ({join(absent, "Recv")});
First := {join(limited, "(*every !--> $s)")};
Hidden := {join(absent, "(Work --> ~w)")};
Nothing := {join(relations, hidden[0])};""", file=out)
END
for count in 257 1000 5000; do
    for engine in indexed rewrite closure; do
        for name in Before Message First Hidden Nothing; do
            expect $([ -s "$folder/$name.jsonl" ] && echo 0 || echo 1) "$eventspace" search \
                -p "$folder/many$count.pattern" "$set" $name --sort --format json --engine $engine
            cmp -s "$folder/out" "$folder/$name.jsonl" ||
                fault "$name of $count sides, $engine: $(diff "$folder/out" "$folder/$name.jsonl" | head -5)"
        done
    done
done
# Predicates added by the parser are not listed as if the file contained them.
expect 0 "$eventspace" search -p "$folder/many257.pattern" --list --all
[ "$(sed 's/ .*//' "$folder/out" | tr '\n' ' ')" = "PATTERN Send Recv Work Before Message First Hidden Nothing " ] ||
    fault "--list has other predicates: $(cat "$folder/out")"
expect 2 "$eventspace" search -p "$folder/many257.pattern" "$set" Nobody
! grep -q '#' "$folder/err" || fault "parts are named: $(cat "$folder/err")"

# The set or the patterns may come from standard input.
expect 0 "$eventspace" search -p "$all" - Message --sort --format json <"$set"
cmp -s "$folder/out" "$folder/Message.jsonl" || fault "a set from standard input is another"
expect 0 "$eventspace" search -p - "$set" Message --sort --format json <"$all"
cmp -s "$folder/out" "$folder/Message.jsonl" || fault "patterns from standard input are others"

# --- Output ---------------------------------------------------------------------------

cat >"$folder/x.jsonl" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["P", "Q", "R"]}
{"trace": 0, "index": 1, "kind": "send", "type": "A"}
{"trace": 0, "index": 2, "type": "B"}
{"trace": 1, "index": 1, "kind": "receive", "type": "B", "partners": [[0, 1]]}
{"trace": 1, "index": 2, "type": "C"}
{"trace": 2, "index": 1, "type": "C"}
END
cat >"$folder/x.pattern" <<'END'
A := ["", "A", ""]; B := ["", "B", ""]; C := ["", "C", ""]; D := ["", "D", ""];
AB := A --> B;
Two := C || C;
  Late := AB & C;
A ~a; B ~b;
Holds := ~a --> ~b;
None := D --> A;
END
x=$folder/x.jsonl
patterns=$folder/x.pattern

# is_text TEXT... - the lines of the output.
is_text()
{
    printf '%s\n' "$@" | cmp -s - "$folder/out" || fault "out is not $*: $(cat "$folder/out")"
}

expect 0 "$eventspace" search -p "$patterns" "$x" AB --sort
is_text 'P:1 A, P:2 B' 'P:1 A, Q:1 B'
expect 0 "$eventspace" search -p "$patterns" "$x" AB --sort --format json
is_text '{"type":"match","match":[[0,1],[0,2]]}' '{"type":"match","match":[[0,1],[1,1]]}'
expect 0 "$eventspace" search -p "$patterns" "$x" Two Holds --sort
is_text 'Two: Q:2 C, R:1 C' 'Holds: the pattern holds'
expect 0 "$eventspace" search -p "$patterns" "$x" Two Holds --sort --format json
is_text '{"type":"match","pattern":"Two","match":[[1,2],[2,1]]}' '{"type":"match","pattern":"Holds","match":[]}'
expect 0 "$eventspace" search -p "$patterns" "$x" Holds --format json
is_text '{"type":"match","match":[]}'
# Without names, the predicates that no other predicate uses are searched.
expect 0 "$eventspace" search -p "$patterns" "$x" --count
is_text 'Two: 1' 'Late: 4' 'Holds: 1' 'None: 0'
is_empty err
expect 0 "$eventspace" search -p "$patterns" "$x" Two --count
is_text 1
expect 0 "$eventspace" search -p "$patterns" "$x" Two --count --format json
is_text '{"type":"count","pattern":"Two","matches":1,"complete":true}'
expect 0 "$eventspace" search -p - "$x" --count <<<'B := ["", "B", ""];'
is_text 2
# A class on either side of a partner dot counts as used, too.
expect 0 "$eventspace" search -p - "$x" --count <<'END'
A := ["", "A", ""]; B := ["", "B", ""]; C := ["", "C", ""]; D := ["", "D", ""];
AB := A.B; AC := AB --> C;
Other := ["Q", "", ""];
END
is_text 'D: 0' 'AC: 1' 'Other: 2'
expect 0 "$eventspace" search -p "$patterns" "$x" C --sort
is_text 'Q:2 C' 'R:1 C'

# Events of runs have more attributes.
cat >"$folder/run.jsonl" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["0.0", "1.0"]}
{"trace": 0, "index": 1, "kind": "send", "type": "MPI_Isend", "attributes": {"operation": "MPI_Isend", "class": "send", "rank": "0", "host": "a", "communicator": "MPI_COMM_WORLD", "peer": "1", "tag": "7", "bytes": "8", "start": "1500000", "stop": "1500750"}}
{"trace": 0, "index": 2, "type": "MPI_Waitall", "attributes": {"operation": "MPI_Waitall", "class": "completion", "rank": "0", "host": "a", "peer": "1", "bytes": "3", "start": "1600000", "stop": "4600000"}}
{"trace": 0, "index": 3, "type": "MPI_Barrier enter", "attributes": {"operation": "MPI_Barrier", "class": "collective", "rank": "0", "host": "a", "communicator": "gr\u00fcn\u0007", "bytes": "0", "instance": "12", "start": "12345678901", "state": "open"}}
{"trace": 1, "index": 1, "kind": "receive", "type": "MPI_Recv", "partners": [[0, 1]], "attributes": {"operation": "MPI_Recv", "class": "receive", "rank": "1", "host": "b", "communicator": "MPI_COMM_WORLD", "peer": "0", "source": "any", "tag": "7", "bytes": "8", "start": "1400000", "stop": "2650000"}}
{"trace": 1, "index": 2, "type": "note", "attributes": {"tag": "5"}}
END
cat >"$folder/run.pattern" <<'END'
S := [class = "send"]; R := [class = "receive"]; W := [class = "completion"]; N := ["", "note", ""];
B := [class = "collective"]; W $w; B $b;
Message := S => R; After := ($w --> $b) & N; Note := N;
END
expect 0 "$eventspace" search -p "$folder/run.pattern" "$folder/run.jsonl" Message
is_text '0.0:1 MPI_Isend, 1.0:1 MPI_Recv' \
    '    0.0:1  MPI_Isend  rank 0 on a  to 1             tag 7  MPI_COMM_WORLD  8 B  at 0.000100 s  for 750 ns' \
    '    1.0:1  MPI_Recv   rank 1 on b  from 0 (of any)  tag 7  MPI_COMM_WORLD  8 B  at 0.000000 s  for 1.25 ms'
expect 0 "$eventspace" search -p "$folder/run.pattern" "$folder/run.jsonl" Note
is_text '1.0:2 note'
expect 0 env LC_ALL=C.UTF-8 "$eventspace" search -p "$folder/run.pattern" "$folder/run.jsonl" \
    After Note
is_text 'After: 0.0:2 MPI_Waitall, 0.0:3 MPI_Barrier enter, 1.0:2 note' \
    '    0.0:2  MPI_Waitall        rank 0  from 1                      3 requests   at 0.000200 s  for 3.00 ms' \
    '    0.0:3  MPI_Barrier enter  rank 0          grün?  instance 12              at 12.344279 s  open' \
    '    1.0:2  note' 'Note: 1.0:2 note'
expect 0 "$eventspace" search -p "$folder/run.pattern" "$folder/run.jsonl" After Message --brief
is_text 'After: 0.0:2 MPI_Waitall, 0.0:3 MPI_Barrier enter, 1.0:2 note' \
    'Message: 0.0:1 MPI_Isend, 1.0:1 MPI_Recv'
expect 0 "$eventspace" search -p "$folder/run.pattern" "$folder/run.jsonl" After --format json
is_text '{"type":"match","match":[[0,2],[0,3],[1,2]],"events":[{"trace":"0.0","type":"MPI_Waitall","class":"completion","rank":0,"host":"a","peer":1,"bytes":3,"start_unix_ns":1600000,"stop_unix_ns":4600000},{"trace":"0.0","type":"MPI_Barrier enter","class":"collective","rank":0,"host":"a","communicator":"grün\u0007","bytes":0,"instance":12,"start_unix_ns":12345678901,"state":"open"},{"trace":"1.0","type":"note"}]}'
expect 0 "$eventspace" search -p "$folder/run.pattern" "$folder/run.jsonl" After Note --brief \
    --format json
is_text '{"type":"match","pattern":"After","match":[[0,2],[0,3],[1,2]]}' '{"type":"match","pattern":"Note","match":[[1,2]]}'

# Sums of matches: by rank, by pair of ranks or single rank, by communicator.
cat >"$folder/sums.pattern" <<'END'
S := [class = "send"]; R := [class = "receive"]; Any := [rank = "*"]; N := ["", "note", ""];
Message := S => R; Each := Any; Two := Any --> Any; Note := N;
END
by()
{
    local what=$1
    shift
    expect 0 "$eventspace" search -p "$folder/sums.pattern" "$folder/run.jsonl" --by "$what" "$@"
}
by rank Each Message
is_text 'PATTERN  RANK  MATCHES' 'Each        0        3' 'Each        1        1' \
    'Message     0        1' 'Message     1        1'
by pair Message Two Note
is_text 'PATTERN  RANK  AND  MATCHES' 'Message     0    1        1' 'Two         0    -        3' \
    'Two         0    1        1' 'Note        -    -        1'
by communicator Each --format json
is_text '{"type":"sum","pattern":"Each","communicator":"MPI_COMM_WORLD","matches":2}' \
    '{"type":"sum","pattern":"Each","communicator":null,"matches":1}' \
    '{"type":"sum","pattern":"Each","communicator":"grün\u0007","matches":1}'
by pair Two --format json --limit 2
json_lines_hold 'o["type"] == "sum" and o["rank"] == 0 and o["other_rank"] in (None, 1)'
expect 1 "$eventspace" search -p "$patterns" "$x" None --by rank
is_empty out
contains err "eventspace search: no match of None in 5 events"

expect 1 "$eventspace" search -p "$patterns" "$x" None
is_empty out
contains err "eventspace search: no match of None in 5 events"
expect 1 "$eventspace" search -p "$patterns" "$x" None --count
is_text 0
expect 0 "$eventspace" search -p "$patterns" "$x" None AB --count # AB has matches
is_text 'None: 0' 'AB: 2'

for engine in indexed rewrite closure; do
    expect 0 "$eventspace" search -p "$patterns" "$x" Late --stats --count --engine $engine
    contains out "engine                $engine"
    contains out "assignments           4"
    grep -qE '^memory of the search  [0-9.]{1,4} ([KM]i)?B$' "$folder/out" ||
        fault "no size with a unit: $(cat "$folder/out")"
    contains out "5 on 3 traces"
    expect 0 "$eventspace" search -p "$patterns" "$x" Two AB --stats --format json \
        --engine $engine
    grep statistics "$folder/out" >"$folder/only"
    cp "$folder/only" "$folder/out"
    json_lines_hold "(o['engine'] == '$engine' and o['complete'] and o['events'] == 5
        and o['assignments'] == 2 and o['matches'] == {'AB': 2, 'Two': 1}[o['pattern']]
        and o['elapsed_ns'] > 0 and o['bytes'] > 0 and not o['lower_bound'])"
    [ "$(wc -l <"$folder/out")" -eq 2 ] || fault "not one record of statistics for each"
    expect 0 "$eventspace" search -p "$patterns" "$x" Late --explain --engine $engine
    contains out "Late :="
    lacks out "P:1"
done

# --- Limits ---------------------------------------------------------------------------

expect 0 "$eventspace" search -p "$all" "$set" Before --first
[ "$(wc -l <"$folder/out")" -eq 1 ] || fault "--first is not one match"
is_empty err
expect 0 "$eventspace" search -p "$all" "$set" Before --limit 3 --format json
[ "$(sort -u "$folder/out" | wc -l)" -eq 3 ] || fault "--limit 3 is not three matches"
[ "$(sort "$folder/out" "$folder/Before.jsonl" | uniq -d | wc -l)" -eq 3 ] ||
    fault "--limit finds something else"
expect 0 "$eventspace" search -p "$all" "$set" Before Concurrent --limit 3 --count
is_text 'Before: 3' 'Concurrent: 3'
expect 0 "$eventspace" search -p "$all" "$set" Before --first --stats --format json
tail -1 "$folder/out" >"$folder/last"
cp "$folder/last" "$folder/out"
json_lines_hold 'not o["complete"] and o["matches"] == 1'
expect 1 "$eventspace" search -p "$all" "$set" Nothing --first

# A search that takes longer than the test.
"$python" - >"$folder/long.jsonl" <<'END'
import json
print(json.dumps({"format": "eventspace-events", "version": 1, "traces": ["long"]}))
for i in range(1, 3001):
    print(json.dumps({"trace": 0, "index": i, "type": "E"}))
END
cat >"$folder/long.pattern" <<'END'
E := ["", "E", ""]; E $a, $b, $c, $d;
Chain := ($a --> $b) & ($b --> $c) & ($c --> $d);
END
for engine in indexed rewrite closure; do
    expect 0 "$eventspace" search -p "$folder/long.pattern" "$folder/long.jsonl" --count \
        --engine $engine --time-limit 300ms --format json
    contains err "the search for Chain was ended by --time-limit: there may be more matches"
    json_lines_hold 'not o["complete"] and o["matches"] > 10'

    rm "$folder/out" # later output is from this search
    "$eventspace" search -p "$folder/long.pattern" "$folder/long.jsonl" --engine $engine \
        --format json >"$folder/out" 2>"$folder/err" &
    search=$!
    await 20 [ -s "$folder/out" ]
    kill -TERM $search
    wait $search || fault "$engine: an interrupted search ended with $?"
    contains err "the search for Chain was ended by an interrupt: there may be more matches"
    head -1000 "$folder/out" >"$folder/only"
    tail -1000 "$folder/out" >>"$folder/only"
    mv "$folder/only" "$folder/out"
    json_lines_hold 'len(o["match"]) == 4' # lines are complete
done

# --- Files of patterns ----------------------------------------------------------------

expect 0 "$eventspace" search --list --all -p "$patterns"
grep -q "^AB  *$patterns:2:1  *no  *-\$" "$folder/out" || fault "AB is not listed"
grep -q "^Late  *$patterns:4:3  *yes  *-\$" "$folder/out" || fault "Late is not listed"
[ "$(wc -l <"$folder/out")" -eq 10 ] || fault "--list shows something else"
expect 0 "$eventspace" search --list --all -p "$patterns" --format json
json_lines_hold '(o["type"] == "predicate" and o["line"] > 0 and o["column"] > 0
    and o["searched"] == (o["pattern"] in ("Two", "Late", "Holds", "None")))'
[ "$(wc -l <"$folder/out")" -eq 9 ] || fault "--list shows something else"
expect 0 "$eventspace" search --list -p "$patterns"
[ "$(sed 's/ .*//' "$folder/out" | tr '\n' ' ')" = "PATTERN Two Late Holds None " ] ||
    fault "--list has parts of others: $(cat "$folder/out")"

# The meaning is the comment directly above a predicate.
cat >"$folder/said.pattern" <<'END'
# Not said: a blank line follows.

A := ["", "A", ""];
# Not of this paragraph.
#
# One of A, e.g.A and
  // so on.  More is not shown.
  One := A --> A;
A $a; # not alone on its line
Two := $a --> A; Three := A || A;
# An end
Four := A <-> A;
END
expect 0 "$eventspace" search --list -p "$folder/said.pattern"
is_text 'PATTERN  MEANING' 'One      One of A, e.g.A and so on' 'Two      -' 'Three    -' 'Four     An end'
expect 0 "$eventspace" search --list -p "$folder/said.pattern" --format json
contains out '"searched":true,"meaning":"One of A, e.g.A and so on"}'
contains out '"searched":true,"meaning":null}'
expect 2 "$eventspace" search -p "$patterns" "$x" --all
contains err "--all needs --list"
expect 0 "$eventspace" search --check -p "$patterns"
is_empty out
is_empty err
mkdir "$folder/shipped"
cp "$patterns" "$folder/shipped/mine.pattern"
for name in mine mine.pattern; do
    expect 0 env EVENTSPACE_PATTERNS="$folder/shipped" "$eventspace" search -p $name "$x" Two
done
expect 2 env EVENTSPACE_PATTERNS="$folder/shipped" "$eventspace" search -p ./mine "$x" Two
expect 2 "$eventspace" search -p no-such-patterns "$x"
contains err "eventspace search: cannot read the patterns: no-such-patterns: no such file here, nor"

printf 'A := ["", "A", ""];\nQ := A --> ;\n' >"$folder/bad.pattern"
for how in --check --list "$x"; do
    expect 2 "$eventspace" search -p "$folder/bad.pattern" "$how"
    contains err "eventspace search: cannot read the patterns: $folder/bad.pattern:2:12: "
    contains err '    Q := A --> ;'
    contains err '               ^'
    is_empty out
done
expect 2 "$eventspace" search -p - "$x" </dev/null
contains err "standard input"
expect 2 "$eventspace" search -p / "$x"
contains err "/: Is a directory"
{
    echo 'A := ["", "A", ""];'
    echo "P := A$(printf ' & A%.0s' {1..70});"
} >"$folder/large.pattern"
expect 2 "$eventspace" search --check -p "$folder/large.pattern"
contains err "64"
head -c 100000 /dev/zero | tr '\0' '(' >"$folder/deep.pattern"
expect 2 "$eventspace" search --check -p "$folder/deep.pattern"
head -c 5000 /dev/urandom >"$folder/noise.pattern"
expect 2 "$eventspace" search --check -p "$folder/noise.pattern"

# --- Errors ---------------------------------------------------------------------------

expect 2 "$eventspace" search
contains err "no patterns given: -p FILE"
expect 2 "$eventspace" search "$x"
contains err "no patterns given: -p FILE"
expect 2 "$eventspace" search -p "$patterns"
contains err "no events given: SET, DIR or RUN"
expect 2 "$eventspace" search -p "$patterns" "$x" Neither
contains err "no predicate 'Neither' in $patterns: it has A, B, C, D, AB, Two, Late, Holds and others"
expect 2 "$eventspace" search -p - - <"$x"
contains err "standard input cannot be both the set and the patterns"
while IFS='|' read -r options message; do
    # shellcheck disable=SC2086
    expect 2 "$eventspace" search -p "$patterns" "$x" $options
    contains err "eventspace search: $message"
    is_empty out
done <<'END'
-p again|unexpected argument 'again': give one pattern file
--engine steam|cannot search with these options: no engine is named 'steam'; expected indexed, rewrite or closure
--engine indexed --tune closure-method=step|closure-method needs --engine closure
--engine closure --tune prune=no|prune needs --engine rewrite
--engine rewrite --threads 2|--threads needs --engine indexed
--threads 2 --tune reorder=none|--threads needs --engine indexed
--tune reorder=best|reorder: 'best' is not one of
--tune closure-method=best|closure-method: 'best' is not one of
--tune prune|--tune: 'prune' has no value: expected KEY=VALUE,...
--tune steam=1|--tune: there is no key 'steam'
--tune seed=1,prune=perhaps|prune: 'perhaps' is not one of no, yes
--limit 0|--limit: '0' is not a whole number from 1
--threads -1|--threads: '-1' is not a whole number from 0 to 1024
--time-limit soon|--time-limit: 'soon' is not a time
--time-limit 0s|--time-limit: '0s' is too short
--time-limit 3parsecs|--time-limit: '3parsecs' is not a time
--time-limit nan|--time-limit: 'nan' is not a time
--count --sort|--count prints no matches that --sort could sort
--explain --format json|--explain has no JSON format
--explain --count|--explain does not search: --count has no effect
--by host|--by: 'host' is not one of rank, pair, communicator
--by rank --count|--by prints sums, no matches: leave out --count
--by rank --sort|--by prints sums, no matches: leave out --sort
--by rank --brief|--by prints sums, no matches: leave out --brief
--by rank --explain|--explain does not search: --by has no effect
--count --brief|--count prints no matches that --brief could cut short
--explain --brief|--explain does not search: --brief has no effect
--explain --sort|--explain does not search: --sort has no effect
--explain --stats|--explain does not search: --stats has no effect
--explain --first|--explain does not search: --limit has no effect
--explain --time-limit 1s|--explain does not search: --time-limit has no effect
--list|--list reads the pattern file only
--check --follow|--check does not read events as they arrive
--store vector|the order cannot be kept with these options: no store of the order is named 'vector'
--format xml|--format: 'xml' is neither
--local|--local is for runs, and
--follow|--follow is for runs, and
END
expect 2 "$eventspace" search -p "$patterns" --list --check
contains err "--list or --check, not both"
expect 2 "$eventspace" search -p "$patterns" --list --stats
contains err "--list does not search"
expect 2 "$eventspace" search -p "$patterns" no-such-set.jsonl
contains err "no-such-set.jsonl: no such file, archive or run"
expect 2 "$eventspace" search -p "$patterns" "$folder"
contains err "not an archive"
echo '{"trace": 0, "index": 9999}' >>"$x"
expect 2 "$eventspace" search -p "$patterns" "$x"
contains err "eventspace search: cannot read the events: $x:7"
is_empty out
"$eventspace" search -p "$all" "$set" Before >/dev/full 2>"$folder/err" &&
    fault "a full disk went unnoticed"
contains err "cannot write the output"
finish
