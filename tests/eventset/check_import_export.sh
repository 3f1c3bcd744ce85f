#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_import_export.sh - eventspace import and export: their formats and messages, and
# that no file is left half-written.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
python=${PYTHON:-python3}
tools=${0%/*}

set_of_two() {
    cat <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["P0", "my trace"]}
{"trace": 1, "index": 1, "kind": "receive", "type": "Recv", "partners": [[0, 1]]}
{"trace": 0, "index": 1, "kind": "send", "type": "Send", "text": "a,b", "attributes": {"bytes": "10"}}
{"trace": 0, "index": 2, "type": "work"}
END
}
set_of_two >"$folder/two.jsonl"

# import puts a set into order; it is unchanged when it is read again.
expect 0 "$eventspace" import "$folder/two.jsonl" -o "$folder/ordered.jsonl"
is_empty out
"$python" - "$folder/ordered.jsonl" <<'END' || fault "import does not put events in order"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
kinds = [(o["trace"], o["index"]) for o in lines[1:]]
sys.exit(kinds != [(0, 1), (1, 1), (0, 2)] or lines[0]["traces"] != ["P0", "my trace"])
END
expect 0 "$eventspace" export "$folder/ordered.jsonl" --to event-set
cmp -s "$folder/out" "$folder/ordered.jsonl" || fault "export --to event-set changes a set"
expect 0 "$eventspace" export - --to event-set <"$folder/two.jsonl"
cmp -s "$folder/out" "$folder/ordered.jsonl" || fault "standard input is read otherwise"

# To ShiViz and back.
expect 0 "$eventspace" export "$folder/two.jsonl" --to shiviz -o "$folder/two.log"
printf 'Send a,b\nP0 {"P0":1}\nRecv\nmy_trace {"my_trace":1,"P0":1}\nwork\nP0 {"P0":2}\n' |
    cmp -s - "$folder/two.log" || fault "export --to shiviz: $(cat "$folder/two.log")"
expect 0 "$eventspace" import "$folder/two.log" -o "$folder/back.jsonl"
contains err "3 events of the log, 0 of them split into two"
expect 0 "$eventspace" export "$folder/back.jsonl" --to shiviz
cmp -s "$folder/out" "$folder/two.log" || fault "a ShiViz log changes on its way back"
{ echo; echo; cat "$folder/two.log"; } >"$folder/upload.log"
expect 0 "$eventspace" import --header "$folder/upload.log" -o "$folder/again.jsonl"
cmp -s "$folder/again.jsonl" "$folder/back.jsonl" || fault "--header reads something else"
expect 0 "$eventspace" import --from shiviz --regex '^(?<host>\S+) (?<clock>{.*}) (?<event>.*)$' \
    --delimiter '^=+ (?<trace>.*)$' -o - - <<<$'= one\na {"a":1} x\n= two\na {"a":1} y'
contains out '"one/a"'
contains out '"two/a"'

# Clocks with escaped quotes, as TLC prints them.
cat >"$folder/tlc.log" <<'END'
State 1: <Init line 31 of module Ring>
/\ inbox = (n1 :> <<>> @@ n2 :> <<>>)

State 2: <Send line 40 of module Ring>
/\ Host = n1
/\ Clock = "{\"n1\":1,\"n2\":0}"

State 3: <Receive line 52 of module Ring>
/\ Host = n2
/\ Clock = "{\"n1\":1,\"n2\":1}"
END
expect 0 "$eventspace" import "$folder/tlc.log" -o "$folder/tlc.jsonl" --regex \
    '<(?<event>\w+) .*>\n/\\ Host = (?<host>.*)\n/\\ Clock = "(?<clock>.*)"'
expect 0 "$eventspace" order "$folder/tlc.jsonl" --query - <<<'n1:1 n2:1'
[ "$(cat "$folder/out")" = before ] || fault "escaped clocks: $(cat "$folder/out")"

# The logs of both hosts are needed, in any order.
printf 'x\nb {"b":1, "a":1}\n' >"$folder/b.log"
printf 'x\na {"a":1}\n' >"$folder/a.log"
expect 2 "$eventspace" import "$folder/b.log" -o "$folder/none"
contains err "b.log:2: the clock names host 'a', which has no events here; put the logs of all hosts into one file (cat HOST1.log HOST2.log"
cat "$folder/b.log" "$folder/a.log" >"$folder/both.log"
expect 0 "$eventspace" import "$folder/both.log" -o "$folder/both.jsonl"

# Files for Perfetto: slices nest on each thread, and pairs and arrows have both ends.
expect 0 "$eventspace" export "$folder/two.jsonl" --to chrome
"$python" - "$folder/out" <<'END' || fault "the trace events are not right: $(cat "$folder/out")"
import json, sys
events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
of = lambda phase: [e for e in events if e["ph"] == phase]
assert len(of("X")) == 3 and len(of("s")) == len(of("f")) == 1
assert of("s")[0]["id"] == of("f")[0]["id"] and of("f")[0]["bp"] == "e"
assert of("s")[0]["ts"] <= of("f")[0]["ts"]
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert sorted(names.values()) == ["P0", "my trace"]
END
is_empty err

# An enter with only a start and an exit with only a stop become one slice. A slice that
# is never left ends with the trace. Messages that run backwards by the clocks are
# counted.
cat >"$folder/halves.jsonl" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["0.0", "1.0"]}
{"trace": 0, "index": 1, "kind": "send", "type": "MPI_Bcast enter", "attributes": {"start": "1000"}}
{"trace": 1, "index": 1, "type": "MPI_Bcast enter", "attributes": {"start": "500"}}
{"trace": 1, "index": 2, "kind": "receive", "type": "MPI_Bcast exit", "partners": [[0, 1]], "attributes": {"stop": "900"}}
{"trace": 0, "index": 2, "type": "MPI_Bcast exit", "attributes": {"stop": "3000"}}
{"trace": 0, "index": 3, "type": "MPI_Wait enter", "attributes": {"start": "3500"}}
{"trace": 0, "index": 4, "type": "work", "attributes": {"start": "3600", "stop": "4000"}}
END
expect 0 "$eventspace" export "$folder/halves.jsonl" --to chrome
contains err "arrive before they are sent, by the clocks of their hosts: 1 of 1"
"$python" "$tools/compare_exports.py" chrome "$folder/out" || fault "halves are not shown right"
"$python" - "$folder/out" <<'END' || fault "halves of operations lose their times: $(cat "$folder/out")"
import json, sys
events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
slices = {(e["name"], e["tid"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"}
assert {("MPI_Bcast", 1, 0.5, 2.0), ("MPI_Bcast", 2, 0.0, 0.4), ("work", 1, 3.1, 0.4)} <= slices
ends = [(e["ph"], e["ts"]) for e in events if e["name"] == "MPI_Wait" and e["ph"] in "be"]
assert ends == [("b", 3.0), ("e", 3.5)], ends
END

# With any times, the file is valid for Perfetto.
for seed in 1 2 3 4 5 6 7 8; do
    "$python" "$tools/made_times.py" $seed >"$folder/times.jsonl"
    expect 0 "$eventspace" export "$folder/times.jsonl" --to chrome
    "$python" "$tools/compare_exports.py" chrome "$folder/out" ||
        fault "trace events of made_times.py $seed are not right"
done

expect 0 "$eventspace" export "$folder/two.jsonl" --to csv
"$python" - "$folder/out" <<'END' || fault "the CSV is not right: $(cat "$folder/out")"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
assert [row["name"] for row in rows] == ["P0", "my trace", "P0"]
assert rows[0]["text"] == "a,b" and rows[0]["bytes"] == "10"
assert rows[1]["partners"] == "0:1"
END
expect 0 "$eventspace" export "$folder/two.jsonl" --to dot
contains out '"0:1" -> "1:1";'
is_empty err

# A part is a complete set, which can be read again; messages across its border lose one
# end.
cat >"$folder/ranks.jsonl" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["0.0", "1.0", "2"]}
{"trace": 0, "index": 1, "kind": "send", "type": "a", "attributes": {"stop": "100"}}
{"trace": 1, "index": 1, "kind": "receive", "type": "b", "partners": [[0, 1]], "attributes": {"stop": "200"}}
{"trace": 1, "index": 2, "kind": "send", "type": "c", "attributes": {"stop": "300"}}
{"trace": 2, "index": 1, "kind": "receive", "type": "d", "partners": [[0, 1], [1, 2]], "attributes": {"stop": "400"}}
{"trace": 2, "index": 2, "kind": "sync", "type": "e", "partners": [[0, 2]], "attributes": {"stop": "500"}}
{"trace": 0, "index": 2, "kind": "sync", "type": "f", "partners": [[2, 2]], "attributes": {"stop": "500"}}
{"trace": 0, "index": 3, "type": "g"}
END
# part WANTED OPTION... : the exported events have these types, places, kinds and
# partners.
part()
{
    local wanted=$1 found to
    shift
    expect 0 "$eventspace" export "$folder/ranks.jsonl" --to event-set "$@"
    cp "$folder/out" "$folder/part.jsonl"
    found=$("$python" - "$folder/part.jsonl" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(*lines[0]["traces"], *(
    f"{o['type']}={o['trace']}:{o['index']}{o.get('kind', 'unary')[:2]}"
    + "".join(f"<{t}:{i}" for t, i in o.get("partners", [])) for o in lines[1:]))
END
    )
    [ "$found" = "$wanted" ] || fault "export $*: $found"
    expect 0 "$eventspace" import "$folder/part.jsonl" -o "$folder/again.jsonl"
    cmp -s "$folder/part.jsonl" "$folder/again.jsonl" || fault "export $*: is read otherwise"
    for to in shiviz perfetto dot csv; do
        expect 0 "$eventspace" export "$folder/ranks.jsonl" --to $to "$@"
        expect 0 "$eventspace" export - --to $to "$@" <"$folder/ranks.jsonl"
    done
}
part "1.0 2 b=0:1re c=0:2se d=1:1re<0:2 e=1:2un" --rank 1-2
part "0.0 2 a=0:1se d=1:1re<0:1 e=1:2sy<0:2 f=0:2sy<1:2 g=0:3un" -r 0,2
part "0.0 1.0 2 e=2:1sy<0:1 f=0:1sy<2:1 g=0:2un" --limit 3
part "0.0 1.0 2 f=0:1un g=0:2un" --last 2
part "0.0 1.0 2 c=1:1se d=2:1re<1:1 e=2:2sy<0:1 f=0:1sy<2:2 g=0:2un" --since 200ns
part "2 e=0:1un" --rank 2 --since 200ns --limit 1
expect 0 "$eventspace" export "$folder/ranks.jsonl" --to chrome --rank 1-2
mv "$folder/out" "$folder/chrome"
expect 0 "$eventspace" export "$folder/ranks.jsonl" --to perfetto --rank 1-2
cmp -s "$folder/out" "$folder/chrome" || fault "perfetto is not chrome"
"$python" "$tools/compare_exports.py" chrome "$folder/out" || fault "a part is not shown right"
expect 2 "$eventspace" export "$folder/ranks.jsonl" --to csv --rank 1,7-9
contains err "--rank: there is no rank 7; the set has ranks 0 to 2"
expect 2 "$eventspace" export "$folder/two.jsonl" --to csv --rank 0
contains err "--rank: the names of the traces are not those of ranks"
expect 2 "$eventspace" export "$folder/two.jsonl" --to csv --since 1s
contains err "--since: the events have no times"
expect 2 "$eventspace" export "$folder/two.jsonl" --to csv --rank one
contains err "--rank: "

# A long import shows its progress on a terminal and removes it at the end. The script
# writes events until it sees the progress.
cat >"$folder/terminal.py" <<'END'
import json, os, pty, sys, threading
terminal, other = pty.openpty()
events, source = os.pipe()
child = os.fork()
if child == 0:
    os.dup2(events, 0)
    os.dup2(other, 2)
    os.closerange(3, 20)
    os.environ["TERM"] = "vt100"
    os.execv(sys.argv[1], sys.argv[1:])
os.close(events)
os.close(other)
seen = threading.Event()
def feed():
    with os.fdopen(source, "w") as out:
        print(json.dumps({"format": "eventspace-events", "version": 1, "traces": ["a"]}), file=out)
        index = 0
        while not seen.is_set():
            index += 1
            print(json.dumps({"trace": 0, "index": index}), file=out)
feeder = threading.Thread(target=feed)
feeder.start()
shown = b""
while True:
    try:
        some = os.read(terminal, 4096)
    except OSError:
        some = b""
    if not some:
        break
    shown += some
    if b" events ..." in shown:
        seen.set()
feeder.join()
status = os.waitpid(child, 0)[1]
sys.exit(status != 0 or not shown.endswith(b" events ...\r\x1b[K"))
END
# The command may be libtool's wrapper, a script.
timeout 60 "$python" "$folder/terminal.py" "$eventspace" import - -o "$folder/long.jsonl" ||
    fault "import does not tell how far it is"

# Errors: one line with position and cause; nothing is written, and an existing file is
# unchanged.
echo kept >"$folder/there"
cp "$folder/there" "$folder/kept"
echo '{"trace": 0, "index": 4}' >>"$folder/two.jsonl"
for to in event-set shiviz chrome dot csv; do
    expect 2 "$eventspace" export "$folder/two.jsonl" --to $to -o "$folder/there"
    contains err "two.jsonl:5"
done
expect 2 "$eventspace" import "$folder/two.jsonl" -o "$folder/there"
contains err "eventspace import: cannot read the events: $folder/two.jsonl:5"
cmp -s "$folder/there" "$folder/kept" || fault "a file was written though its source is wrong"
printf 'x\na {"a":1}\ny\na {"a":3}\n' >"$folder/wrong.log"
expect 2 "$eventspace" import "$folder/wrong.log" -o "$folder/none"
contains err "eventspace import: cannot read the log: $folder/wrong.log:4: "
[ -e "$folder/none" ] && fault "a wrong log left a file"
expect 2 "$eventspace" import --regex '(?<host>x)' "$folder/two.log" -o "$folder/none"
contains err "no group (?<clock>...)"
expect 2 "$eventspace" import "$folder/two.log"
contains err "-o SET is needed"
expect 2 "$eventspace" import --from shiviz "$folder/no-such.log" -o "$folder/none"
contains err "No such file"
expect 2 "$eventspace" import "$folder/no-such.log" -o "$folder/none"
contains err "no-such.log"
expect 2 "$eventspace" import --from csv "$folder/two.log" -o "$folder/none"
contains err "not one of event-set, shiviz, archive or otf2"
expect 2 "$eventspace" import --from archive "$folder/two.log" -o "$folder/none"
contains err "not in the format 'archive'"
expect 2 "$eventspace" import --from event-set "$folder" -o "$folder/none"
contains err "not an archive"
expect 2 "$eventspace" export "$folder/ordered.jsonl"
contains err "--to FORMAT is needed"
expect 2 "$eventspace" export "$folder/ordered.jsonl" --to png
contains err "'png' is not a format of event sets; expected event-set, shiviz, chrome, perfetto, dot or csv"
expect 2 "$eventspace" export "$folder/ordered.jsonl" --to chrom
contains err "'chrom' is not a format of event sets; did you mean 'chrome'?"
for command in "export --to csv" import; do
    # shellcheck disable=SC2086
    expect 2 "$eventspace" $command "$folder/ordered.jsonl" -o ""
    contains err "-o: the name of a file is needed"
done
expect 2 "$eventspace" import no-such-run -o "$folder/none"
contains err "no-such-run: no such file or archive; the events of a run are written by"
expect 2 "$eventspace" import "$top_srcdir/README.md" -o "$folder/none"
contains err "README.md:1: the regular expression finds no event"
contains err "a file that is not an event set is read as a log for ShiViz"
expect 2 "$eventspace" export "$folder/ordered.jsonl" --to csv -o "$folder/no/such/place"
contains err "$folder/no/such/place"
"$eventspace" export "$folder/ordered.jsonl" --to csv >/dev/full 2>"$folder/err" &&
    fault "a full disk went unnoticed"
contains err "No space left"

# Outputs that are not plain files: links are followed and stay, permissions are kept,
# and pipes and devices are written directly.
export_set()
{
    "$eventspace" export "$folder/ordered.jsonl" --to "${2:-event-set}" -o "$1" 2>"$folder/err"
}
echo old >"$folder/target"
chmod 640 "$folder/target"
ln -s target "$folder/link"
ln -s link "$folder/link2"
ln -s missing "$folder/dangling"
mkfifo "$folder/fifo"
for to in event-set csv; do
    export_set "$folder/plain" $to || fault "$(cat "$folder/err")"
    export_set "$folder/link2" $to || fault "$(cat "$folder/err")"
    cmp -s "$folder/target" "$folder/plain" || fault "--to $to does not follow a link"
    [[ -L $folder/link && -L $folder/link2 ]] || fault "--to $to replaced a link"
    [ "$(stat -c %a "$folder/target")" = 640 ] || fault "--to $to changed permissions"
    export_set "$folder/dangling" $to || fault "$(cat "$folder/err")"
    cmp -s "$folder/missing" "$folder/plain" || fault "--to $to does not follow a dangling link"
    [ -L "$folder/dangling" ] || fault "--to $to replaced a dangling link"
    rm "$folder/missing"
    { echo before; export_set /dev/stdout $to; echo behind; } >"$folder/out"
    { echo before; cat "$folder/plain"; echo behind; } | cmp -s - "$folder/out" ||
        fault "--to $to -o /dev/stdout: $(cat "$folder/out" "$folder/err")"
    timeout 20 cat "$folder/fifo" >"$folder/out" &
    reader=$!
    export_set "$folder/fifo" $to || fault "$(cat "$folder/err")"
    wait $reader
    cmp -s "$folder/out" "$folder/plain" || fault "--to $to into a named pipe"
    expect 2 "$eventspace" export "$folder/ordered.jsonl" --to $to -o "$folder"
    contains err "$folder: cannot be written: Is a directory"
    expect 2 "$eventspace" export "$folder/ordered.jsonl" --to $to -o /dev/full
    contains err "/dev/full: cannot be written: No space left on device"
    expect 2 "$eventspace" export "$folder/ordered.jsonl" --to $to -o "$folder/plain/x"
    contains err "Not a directory"
    if [ "$(id -u)" -ne 0 ]; then
        chmod 444 "$folder/target"
        expect 2 "$eventspace" export "$folder/ordered.jsonl" --to $to -o "$folder/link"
        contains err "Permission denied"
        chmod 640 "$folder/target"
    fi
done
# The output may replace the input.
cp "$folder/two.log" "$folder/same"
expect 0 "$eventspace" import "$folder/same" -o "$folder/same"
cmp -s "$folder/same" "$folder/back.jsonl" || fault "a log imported into its own place"
for left in "$folder"/{target,link,link2,dangling,missing,fifo,plain,same}.* "$folder"/there.* "$folder"/none.*; do
    [ -e "$left" ] && fault "left behind: $left"
done
finish
