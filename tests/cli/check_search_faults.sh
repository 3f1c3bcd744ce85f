#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_search_faults.sh - eventspace search where something is wrong: names, files, the
# output, and time that is over.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/functions.sh"
export EVENTSPACE_PATTERNS=$folder/shipped

mkdir "$folder/shipped" "$folder/shipped/folder.pattern"
cat >"$folder/set.jsonl" <<'END_OF_SET'
{"format": "eventspace-events", "version": 1, "traces": ["P", "Q"]}
{"trace": 0, "index": 1, "kind": "send", "type": "A"}
{"trace": 0, "index": 2, "type": "B"}
{"trace": 1, "index": 1, "kind": "receive", "type": "B", "partners": [[0, 1]]}
END_OF_SET
cat >"$folder/shipped/mine.pattern" <<'END_OF_PATTERNS'
A := ["", "A", ""]; B := ["", "B", ""];
First := A --> B;
Second := B || B;
Third := B <-> B;
END_OF_PATTERNS
set=$folder/set.jsonl

# refuses TEXT ARGUMENT... : status 2, one line that begins so, and nothing else.
refuses()
{
    local text=$1
    shift
    expect 2 "$eventspace" search "$@"
    contains err "eventspace search: $text"
    is_empty out
}

# --- Names ----------------------------------------------------------------------------

refuses "cannot read the patterns: none: no such file here, nor among the patterns in $folder/shipped" \
    -p none "$set"
refuses "cannot read the patterns: ./mine: No such file" -p ./mine "$set"
refuses "cannot read the patterns: .: Is a directory" -p . "$set"
refuses "cannot read the patterns: folder: no such file" -p folder "$set"
refuses "no patterns given: -p FILE" -p "" "$set"
refuses "no events given: SET, DIR or RUN" -p mine ""
refuses "no predicate '' in" -p mine "$set" ""
refuses "no predicate 'first' in" -p mine "$set" first
refuses "no predicate '\$x' in" -p mine "$set" "\$x"
refuses "cannot search with these options: no engine is named 'steam'" --check -p mine --engine steam

# What is named twice is searched once.
expect 0 "$eventspace" search -p mine "$set" First First --count
[ "$(cat "$folder/out")" = 2 ] || fault "twice is not once: $(cat "$folder/out")"

# --- Files ----------------------------------------------------------------------------

: >"$folder/empty"
head -c 3000 /dev/urandom >"$folder/noise"
printf 'A := ["", "\0", ""];\n' >"$folder/nul"
printf 'A := ["", "A", ""];\nP := A --> (A;\n' >"$folder/open"
refuses "no predicate in $folder/empty: there is nothing to search" -p "$folder/empty" "$set"
refuses "cannot read the patterns: $folder/nul:1:12: byte 0x00 is a NUL" -p "$folder/nul" "$set"
refuses "cannot read the patterns: $folder/open:2:14: " -p "$folder/open" "$set"
contains err '    P := A --> (A;'
contains err '                 ^'
refuses "cannot read the patterns: $folder/noise" -p "$folder/noise" "$set"
refuses "cannot read the events: $folder/empty:1: an empty file" -p mine "$folder/empty"
refuses "cannot read the events: $folder/noise:" -p mine "$folder/noise"
refuses "cannot read the events: $folder: a directory that is not an archive" -p mine "$folder"
refuses "no-such-set: no such file, archive or run" -p mine no-such-set
refuses "no-such-run: no such file, archive or run" -p mine no-such-run --follow
refuses "$prefix-none: no such file, archive or run on this host, which has " -p mine "$prefix-none"
contains err "see 'eventspace list"
head -c 100 "$set" >"$folder/torn.jsonl"
refuses "cannot read the events: $folder/torn.jsonl:" -p mine "$folder/torn.jsonl"

# --- Words of the patterns ------------------------------------------------------------

# Without a set those of MPI programs, but types that may be of another set; with one
# those of the set.
file=$folder/words.pattern
while IFS='|' read -r column text words; do
    echo "$text" >"$file"
    refuses "cannot search with the patterns: $file:1:$column: $words" --check -p "$file"
    contains err "    $text"
done <<'END_OF_CASES'
7|A := [clas = "send"];|there is no attribute 'clas', did you mean 'class'?
15|A := [class = "sned"];|there is no class 'sned', did you mean 'send'?
15|A := [kind != "sned"];|there is no kind 'sned', did you mean 'send'?
15|A := [state = "begun"];|there is no state 'begun', expected one of open
19|A := [operation = "Sned"];|there is no operation 'Sned', did you mean 'MPI_Send'?
11|A := ["", "MPI_Barrier entr", ""];|there is no type 'MPI_Barrier entr', did you mean 'MPI_Barrier enter'?
43|S := [class = "send"]; S $a; P := $a & $a.tga = 7;|there is no attribute 'tga', did you mean 'tag'?
END_OF_CASES
echo 'A := ["", "A", ""]; B := [class = "s*", synchronizing = "assumed", duration > 1s];' >"$file"
expect 0 "$eventspace" search --check -p "$file"
refuses "cannot search with the patterns: $file:1:27: there is no attribute 'class'" \
    --check -p "$file" "$set"
refuses "cannot search with the patterns: $file:1:27: there is no attribute 'class'" \
    -p "$file" "$set"
refuses "cannot search with the patterns: $file:1:27: there is no attribute 'class'" \
    -p "$file" - <"$set"
expect 0 "$eventspace" search -p "$file" "$set" A --count # the other is not searched
expect 0 "$eventspace" search --check -p mine "$set"

# An attribute of another set is right where an event has it.
{
    cat "$set"
    echo '{"trace": 1, "index": 2, "type": "C", "attributes": {"priority": "high"}}'
} >"$folder/other.jsonl"
echo 'A := [priority = "low"];' >"$file"
expect 1 "$eventspace" search -p "$file" "$folder/other.jsonl"
expect 0 "$eventspace" search --check -p "$file" "$folder/other.jsonl"
refuses "cannot search with the patterns: $file:1:7: there is no attribute 'priority'" --check -p "$file"
echo 'A := [priorty = "low"];' >"$file"
refuses "cannot search with the patterns: $file:1:7: there is no attribute 'priorty', did you mean 'priority'?" \
    -p "$file" "$folder/other.jsonl"

# --- The output -----------------------------------------------------------------------

for how in "" --count --sort --stats --explain --format=json; do
    # shellcheck disable=SC2086
    "$eventspace" search -p mine "$set" $how >/dev/full 2>"$folder/err"
    [ $? -eq 2 ] || fault "$how: a full disk went unnoticed"
    contains err "eventspace search: cannot write the output: No space left on device"
    # shellcheck disable=SC2086
    "$eventspace" search -p mine "$set" $how >&- 2>"$folder/err"
    [ $? -eq 2 ] || fault "$how: a closed output went unnoticed"
done

# --- Time -----------------------------------------------------------------------------

# What was not reached is told, and nothing said of it.
for engine in indexed rewrite; do
    expect 1 "$eventspace" search -p mine "$set" --time-limit 1ns --count --engine $engine
    contains err "eventspace search: the search for First was ended by --time-limit"
    contains err "eventspace search: Second and 1 more were not searched"
    [ "$(cat "$folder/out")" = "First: 0" ] || fault "$engine: $(cat "$folder/out")"
done
"$eventspace" search -p mine "$set" First Third --time-limit 1ns --engine closure \
    >"$folder/out" 2>"$folder/err"
contains err "eventspace search: Third was not searched"
lacks out "Third"

# It is over in the middle of what one value takes, too: nothing passes here.
"${PYTHON:-python3}" - >"$folder/pairs.jsonl" <<'END_OF_PROGRAM'
import json
print(json.dumps({"format": "eventspace-events", "version": 1, "traces": ["S", "R"]}))
for i in range(1, 15001):
    print(json.dumps({"trace": 0, "index": i, "kind": "send"}))
    print(json.dumps({"trace": 1, "index": i, "kind": "receive", "partners": [[0, i]]}))
END_OF_PROGRAM
cat >"$folder/pairs.pattern" <<'END_OF_PATTERNS'
Send := [kind = "send"]; Receive := [kind = "receive"];
Send $sent; Receive $received;
Differ := $sent.text != $received.text;
END_OF_PATTERNS
for engine in indexed rewrite closure; do
    expect 1 "$eventspace" search -p "$folder/pairs.pattern" "$folder/pairs.jsonl" \
        --time-limit 50ms --engine $engine
    contains err "the search for Differ was ended by --time-limit"
done
finish
