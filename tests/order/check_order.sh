#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_order.sh - eventspace order: every store and strategy gives the same answers; and
# its statistics, questions and errors.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
python=${PYTHON:-python3}

tools=$top_srcdir/tests/order
seed=${ES_TEST_SEED:-$RANDOM}

# Random messages between traces on three hosts, questions, and their answers by closure.
"$python" - "$folder" "$seed" <<'END' || exit 1
import json, random, sys
folder, seed = sys.argv[1], int(sys.argv[2])
print("seed", seed)
chance = random.Random(seed)
traces, count = 12, 300
names = ["0.0", "a b", "comm:W"] + [f"T{i}" for i in range(3, traces)]
events, before, counts, sends = [], {}, [0] * traces, []
while len(events) < count:
    trace = chance.randrange(traces)
    counts[trace] += 1
    here = (trace, counts[trace])
    known = {here}
    if counts[trace] > 1:
        known |= before[trace, counts[trace] - 1]
    event = {"trace": trace, "index": counts[trace], "attributes": {"host": f"n{trace % 3}"}}
    draw = chance.random()
    if draw < 0.4 and sends:
        event["kind"] = "receive"
        partners = chance.sample(sends, min(len(sends), chance.choice([1, 1, 1, 3])))
        partners = [p for p in partners if p != here]
        event["partners"] = partners
        for p in partners:
            known |= before[tuple(p)]
    elif draw < 0.9:
        event["kind"] = "send"
    before[here] = known
    if event.get("kind") == "send":
        sends.append(list(here))
    events.append(event)
with open(folder + "/set.jsonl", "w") as out:
    print(json.dumps({"format": "eventspace-events", "version": 1, "traces": names}), file=out)
    for event in events:
        print(json.dumps(event), file=out)
with open(folder + "/text", "w") as text, open(folder + "/json", "w") as lines, \
        open(folder + "/answers", "w") as answers, open(folder + "/objects", "w") as objects:
    ids = list(before)
    for _ in range(500):
        a, b = chance.choice(ids), chance.choice(ids)
        relation = ("equal" if a == b else "before" if a in before[b]
                    else "after" if b in before[a] else "concurrent")
        show = lambda id: f"{chance.choice([names[id[0]], id[0]]) if id[0] else names[0]}:{id[1]}"
        print(show(a), show(b), file=text)
        print(json.dumps({"a": a, "b": b}), file=lines)
        print(relation, file=answers)
        print(json.dumps({"type": "relation", "a": a, "b": b, "relation": relation}, separators=(",", ":")),
              file=objects)
END

set=$folder/set.jsonl
"$python" "$tools/ask_closure.py" "$set" "$seed" >"$folder/traces" 2>"$folder/lists" ||
    fault "$(tail -3 "$folder/lists")"
for how in "" "--store dense" "--store epoch" "--store cluster" "--strategy fixed" \
    "--strategy merge-first --max-size 3" "--strategy merge-nth --threshold 0.5" \
    "--strategy static --max-size 4" "--strategy static --max-size 3,6" \
    "--strategy collect --tune prefix=100 --max-size 4" "--strategy migrate --max-size 4" \
    "--levels 2 --max-size 3" "--tune seed-hosts=yes --max-size 5" "--tune fixed-vector=300 --max-size 2" \
    "--memory 1KiB --spill $folder"; do
    # shellcheck disable=SC2086 # several words
    expect 0 "$eventspace" order "$set" $how --query "$folder/text"
    cmp -s "$folder/out" "$folder/answers" || fault "order $how gives other answers"
    # shellcheck disable=SC2086
    expect 0 "$eventspace" order "$set" $how --query "$folder/traces"
    cmp -s "$folder/out" "$folder/lists" ||
        fault "order $how: $(diff "$folder/out" "$folder/lists" | head -5)"
    # shellcheck disable=SC2086
    expect 0 "$eventspace" order "$set" $how --format json --query "$folder/json"
    cmp -s "$folder/out" "$folder/objects" || fault "order $how gives other answers in JSON"
    # shellcheck disable=SC2086
    expect 0 "$eventspace" order "$set" $how --format json
    json_lines_hold '(o["type"] == "statistics" and o["events"] == 300 and o["traces"] == 12
        and o["all"]["events"] == 300 and 0 < o["communication"]["events"] < 300
        and not o["lower_bound"])'
done

# The set or the questions may come from standard input.
expect 0 "$eventspace" order - --query "$folder/text" <"$set"
cmp -s "$folder/out" "$folder/answers" || fault "a set from standard input is another"
for how in "--strategy static" "--tune seed-hosts=yes"; do # these read the set twice
    # shellcheck disable=SC2086
    expect 0 "$eventspace" order - $how --query "$folder/text" <"$set"
    cmp -s "$folder/out" "$folder/answers" || fault "a set from standard input is another, $how"
done
expect 0 "$eventspace" order "$set" --query - <"$folder/text"
cmp -s "$folder/out" "$folder/answers" || fault "questions from standard input are others"

expect 0 "$eventspace" order "$set" 
grep -qx 'traces  *12' "$folder/out" || fault "not 12 traces: $(cat "$folder/out")"
contains out "events  "
lacks out "Fidge"
# Computed from the file: matched pairs, and sends and receives without a partner.
read -r matched sends receives < <("$python" - "$set" <<'END'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
events = [e for e in events if e["trace"] != 2]  # comm:W
named = [tuple(p) for e in events if e.get("kind") == "receive" for p in e["partners"] if p[0] != 2]
print(len(named),
      sum(e.get("kind") == "send" and (e["trace"], e["index"]) not in named for e in events),
      sum(e.get("kind") == "receive" and not e["partners"] for e in events))
END
)
grep -qx "messages matched  *$matched" "$folder/out" || fault "not $matched: $(cat "$folder/out")"
[ "$sends" = 0 ] || grep -q "^receive not seen  *$sends message" "$folder/out" ||
    fault "not $sends sends: $(cat "$folder/out")"
[ "$receives" = 0 ] || grep -q "^send not seen  *$receives message" "$folder/out" ||
    fault "not $receives receives: $(cat "$folder/out")"
expect 0 "$eventspace" order "$set" --format json
json_lines_hold "o['messages'] == $matched and o['unmatched_sends'] == $sends and o['unmatched_receives'] == $receives"
expect 0 "$eventspace" order - <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["0.0", "1.0"]}
{"trace": 0, "index": 1, "kind": "send"}
{"trace": 0, "index": 2, "kind": "send"}
{"trace": 1, "index": 1, "kind": "receive", "partners": [[0, 1]]}
END
contains out "receive not seen      1 message, event 0.0:2"
lacks out "send not seen"
expect 0 "$eventspace" order "$set" --store cluster --max-size 4 --stats
contains out "level 1"
contains out "cluster receives"
contains out "% of Fidge/Mattern"
grep -qE '^stored  *[0-9.]{1,4} ([KM]i)?B, [0-9.]{1,4} B an event, [0-9.]{1,6} % of' "$folder/out" ||
    fault "no quantities with units: $(cat "$folder/out")"
grep -qE '^held by the writer  *[0-9.]{1,4} ([KM]i)?B$' "$folder/out" || fault "no unit: $(cat "$folder/out")"
expect 0 "$eventspace" order "$set" --store dense --format json
json_lines_hold 'o["all"]["actual_ratio"] == 1 and o["vector_elements"] == 12'

# Questions that are invalid.
printf '0.0:1 T3:1\n\n0.0:1 T99:1\n' >"$folder/wrong"
expect 2 "$eventspace" order "$set" --query "$folder/wrong"
contains err "eventspace order: the question cannot be answered: $folder/wrong:3:7: there is no trace 'T99'"
[ "$(wc -l <"$folder/out")" -eq 1 ] || fault "what came before a wrong question is not answered"
for question in '0.0:1' '0.0:0 T3:1' '0.0:1 T3:100000' '{"a": [0, 1]}' '{"a": [0, 1], "b": [12, 1]}' \
    '{"a": [0, 1], "b": [1, -1]}' '{"a": [0, 1], "b": [1, "1"]}' '{' '0.0:1 T3:99999999999'; do
    expect 2 "$eventspace" order "$set" --query - <<<"$question"
    contains err "eventspace order: the question cannot be answered: standard input:1:"
    is_empty out
done
while IFS='|' read -r question column message; do
    expect 2 "$eventspace" order "$set" --query - <<<"$question"
    contains err "eventspace order: the question cannot be answered: standard input:1:$column: $message"
    is_empty out
done <<'END'
0.0:1|6|an event TRACE:INDEX is missing
  0.0:1 T99:1|9|there is no trace 'T99'
0.0:1 T3|7|'T3' is not an event TRACE:INDEX
0.0:1 T3:1 T4:1|12|found 'T4:1' after the question
0.0:1 T3:100000|7|trace 'T3' has no event 100000; it has
concurrent|11|an event TRACE:INDEX is missing
concurrent T99:1|12|there is no trace 'T99'
least-successors T3:1 T4:1|23|found 'T4:1' after the question
concurent T3:1|1|'concurent' is neither an event TRACE:INDEX nor a question, did you mean 'concurrent'
 {"question": "successors", "event": [0, 1]}|2|'successors' is neither
{"question": "concurrent"}|1|'event' is missing, expected [TRACE, INDEX]
{"question": "concurrent", "event": [0]}|1|'event' is not [TRACE, INDEX]
{"question": "concurrent", "event": [0, 1000]}|1|trace '0.0' has no event 1000
{"question": 3, "event": [0, 1]}|1|'question' is not a text
{"a": [0, 1]}|1|'b' is missing, expected [TRACE, INDEX]
{"a": [0, 1] "b": [0, 1]}|16|not JSON: ',' or '}' expected near
{"a": [0, 1], "b": ["\u0000", 1]}|28|not JSON: the character \u0000 is not allowed near
END

# Questions about one event and each trace, in JSON; names contain blanks and colons.
cat >"$folder/small.jsonl" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["0.0", "comm:W", "a b"]}
{"trace": 0, "index": 1, "kind": "send"}
{"trace": 0, "index": 2}
{"trace": 1, "index": 1}
{"trace": 1, "index": 2, "kind": "receive", "partners": [[0, 1]]}
{"trace": 1, "index": 3}
{"trace": 2, "index": 1}
END
cat >"$folder/small" <<'END'
greatest-predecessors comm:W:2
least-successors 0.0:1
greatest-concurrent 0.0:2
concurrent 0.0:2
concurrent a b:1
least-successors a b:1
0.0:1 a b:1
END
for store in epoch cluster dense; do
    expect 0 "$eventspace" order "$folder/small.jsonl" --store $store --query "$folder/small"
    cmp -s "$folder/out" - <<'END' || fault "$store: $(cat "$folder/out")"
0.0:1 comm:W:1
0.0:2 comm:W:2
comm:W:3 a b:1
comm:W:1-3 a b:1
0.0:1-2 comm:W:1-3
none
concurrent
END
    expect 0 "$eventspace" order "$folder/small.jsonl" --store $store --query "$folder/small" -f json
    cmp -s "$folder/out" - <<'END' || fault "$store: $(cat "$folder/out")"
{"type":"answer","question":"greatest-predecessors","event":[1,2],"forgotten":false,"events":[[0,1],[1,1]]}
{"type":"answer","question":"least-successors","event":[0,1],"forgotten":false,"events":[[0,2],[1,2]]}
{"type":"answer","question":"greatest-concurrent","event":[0,2],"forgotten":false,"events":[[1,3],[2,1]]}
{"type":"answer","question":"concurrent","event":[0,2],"forgotten":false,"intervals":[[1,1,3],[2,1,1]]}
{"type":"answer","question":"concurrent","event":[2,1],"forgotten":false,"intervals":[[0,1,2],[1,1,3]]}
{"type":"answer","question":"least-successors","event":[2,1],"forgotten":false,"events":[]}
{"type":"relation","a":[0,1],"b":[2,1],"relation":"concurrent"}
END
done

# Forgotten events are reported as such, and processing continues; other answers are right.
"$python" - "$folder/long.jsonl" <<'END'
import json, sys
traces, rounds = 3, 400
with open(sys.argv[1], "w") as out:
    print(json.dumps({"format": "eventspace-events", "version": 1,
                      "traces": ["0.0", "1.0", "2.0", "comm:W"]}), file=out)
    for r in range(rounds):
        put = lambda **event: print(json.dumps(event), file=out)
        for t in range(traces):
            put(trace=t, index=3 * r + 1)
        for t in range(traces):
            put(trace=t, index=3 * r + 2, kind="send")
        put(trace=3, index=2 * r + 1, kind="receive",
            partners=[[t, 3 * r + 2] for t in range(traces)])
        put(trace=3, index=2 * r + 2, kind="send")
        for t in range(traces):
            put(trace=t, index=3 * r + 3, kind="receive", partners=[[3, 2 * r + 2]])
    for t in range(traces):  # after the last cut
        put(trace=t, index=3 * rounds + 1)
        put(trace=t, index=3 * rounds + 2)
END
"$python" "$tools/ask_closure.py" "$folder/long.jsonl" "$seed" >"$folder/traces" 2>"$folder/lists" ||
    fault "$(tail -3 "$folder/lists")"
printf 'concurrent 0.0:1\n0.0:1 1.0:1\n0.0:1201 1.0:1202\n' >>"$folder/traces"
printf '1.0:1-2 2.0:1-2\nconcurrent\nconcurrent\n' >>"$folder/lists"
for memory in 1 16KiB 64KiB 128KiB 1GiB; do
    expect 0 "$eventspace" order "$folder/long.jsonl" --memory $memory --query "$folder/traces"
    mv "$folder/out" "$folder/text.$memory"
    expect 0 "$eventspace" order "$folder/long.jsonl" --memory $memory --query "$folder/traces" \
        --format json
    mv "$folder/out" "$folder/json.$memory"
done
"$python" - "$folder" <<'END' || fault "what is forgotten is answered otherwise"
import json, sys
names = ["0.0", "1.0", "2.0", "comm:W"]

def lines(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as stream:
        return [line.rstrip("\n") for line in stream]

def as_text(answer):
    """A JSON answer as the text is."""
    if "relation" in answer:
        return answer["relation"]
    if answer["forgotten"]:
        return "forgotten"
    index = lambda number: "forgotten" if number is None else str(number)
    spans = [(names[trace], dict.fromkeys(map(index, found)))
             for trace, *found in answer.get("events", answer.get("intervals"))]
    return " ".join(f"{name}:{'-'.join(found)}" for name, found in spans) or "none"

def holds(answer, right):
    if answer in (right, "forgotten"):
        return True
    known = dict(part.rsplit(":", 1) for part in right.split(" ") if right != "none")
    for part in answer.split(" "):
        name, what = part.rsplit(":", 1)
        if what.startswith("forgotten-"):  # the last event is known
            if what.split("-")[1] != known[name].split("-")[-1]:
                return False
        elif what not in (known.get(name), "forgotten"):
            return False
    return True

truth, kinds = lines("lists"), set()
for memory in ("1", "16KiB", "64KiB", "128KiB", "1GiB"):
    found = lines("text." + memory)
    assert [as_text(json.loads(line)) for line in lines("json." + memory)] == found, memory
    assert len(found) == len(truth), memory
    wrong = [pair for pair in zip(found, truth) if not holds(*pair)]
    assert not wrong, (memory, wrong[:5])
    kinds |= {"all" if found == truth else "some" if set(found) != {"forgotten"} else "no"}
    kinds |= {"whole" for line in found if line == "forgotten"}
    kinds |= {"part" for line in found if "forgotten-" in line}
    if memory == "1":
        assert found[-3:-1] == ["forgotten"] * 2
assert kinds >= {"all", "some", "whole"}, kinds
print("kinds of answers:", kinds)
END

expect 2 "$eventspace" order "$set" --query "$folder/no-such-file"
contains err "no-such-file: No such file"

# Invalid arguments.
expect 2 "$eventspace" order
contains err "no events given: SET, DIR or RUN"
expect 2 "$eventspace" order "$set" "$set"
expect 2 "$eventspace" order "$folder/no-such-set"
contains err "no-such-set"
expect 2 "$eventspace" order "$folder"
contains err "not an archive"
expect 2 "$eventspace" order "$prefix-no-such-run"
contains err "$prefix-no-such-run"
expect 2 "$eventspace" order "$set" --store vector
contains err "no store of the order is named 'vector'; expected epoch, cluster or dense"
expect 2 "$eventspace" order "$set" --strategy best
contains err "--strategy: no strategy of clusters is named 'best'; expected fixed (contiguous)"
expect 2 "$eventspace" order "$set" --strategy merge-nht
contains err "no strategy of clusters is named 'merge-nht', did you mean 'merge-nth'; expected"
expect 2 "$eventspace" order "$set" --strategy frist
contains err "did you mean 'first'"
for strategy in first:3 static: nth:x nth:-1 nth: collect:0 collect:1.5; do
    expect 2 "$eventspace" order "$set" --strategy $strategy
    contains err "eventspace order: --strategy: "
    contains err "${strategy#*:}'"
    is_empty out
done

# The short names used in the papers stand for the same strategies.
while read -r short long; do
    # shellcheck disable=SC2086 # several words
    expect 0 "$eventspace" order "$set" --max-size 4 --strategy $long --format json
    sed 's/"build_ns":[^,]*,//; s/"events_per_second":[^,]*,//' "$folder/out" >"$folder/long"
    # shellcheck disable=SC2086
    expect 0 "$eventspace" order "$set" --max-size 4 --strategy $short --format json
    sed 's/"build_ns":[^,]*,//; s/"events_per_second":[^,]*,//' "$folder/out" >"$folder/short"
    cmp -s "$folder/short" "$folder/long" || fault "--strategy $short is not --strategy $long"
done <<'END'
first merge-first
contiguous fixed
greedy static
nth merge-nth
nth:0.25 merge-nth --threshold 0.25
merge-nth:2 merge-nth --threshold 2
migrate:1 migrate --threshold 1
collect:100 collect --tune prefix=100
END
expect 2 "$eventspace" order "$set" --store dense --max-size 3
contains err "--store dense has no clusters"
expect 2 "$eventspace" order "$set" --levels 1 --max-size 3,4
contains err "--max-size has 2 sizes, but --levels is 1"
while IFS='|' read -r options message; do
    # shellcheck disable=SC2086
    expect 2 "$eventspace" order "$set" $options
    contains err "eventspace order: $message"
    is_empty out
done <<'END'
--strategy fixed --threshold 3|--threshold needs --strategy merge-nth or migrate
--tune prefix=10|--tune prefix needs --strategy collect
--strategy collect|--strategy collect needs a prefix, such as collect:1000
--strategy static --tune seed-hosts=yes|--tune seed-hosts needs --strategy merge-first, merge-nth or migrate
--store dense --memory 1KiB|--memory needs --store epoch
--spill /tmp|--spill needs --memory
--memory 1KiB --spill /no/such/place|--spill: /no/such/place: No such file or directory
--max-size 6,3|the order cannot be kept with these options: clusters of level 2 are smaller (3)
--levels 9|--levels: '9' is not a whole number from 1 to 8
--threshold nan|--threshold: 'nan' is not a number of communications
--format xml|--format: 'xml' is neither
--query /|cannot read the questions in /: Is a directory
END
expect 2 "$eventspace" order no-such-set.jsonl
contains err "no-such-set.jsonl: no such file, archive or run"
expect 2 "$eventspace" order "$set" --max-size 3,x
expect 2 "$eventspace" order "$set" --memory 3parsecs
contains err "is not a size"
expect 2 "$eventspace" order - --query - <"$set"
contains err "standard input cannot be both the set and the questions"
for option in --follow --local --server=tls:localhost:1; do
    expect 2 "$eventspace" order "$set" $option
    contains err "${option%%=*} is for runs, and $set is not one"
    expect 2 "$eventspace" order - $option <"$set"
    contains err "is for runs, and standard input is not one"
done
echo '{"trace": 0, "index": 9999}' >>"$set"
expect 2 "$eventspace" order "$set"
contains err "set.jsonl:302"
finish
