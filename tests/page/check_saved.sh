#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_saved.sh - `eventspace export --to html` writes a page that needs no server. A real
# browser shows it like the page of the server of the same archive.

. "${0%/*}/../cli/functions.sh"
here=$(cd "${0%/*}" && pwd)
need_mpi

# record NAME N PROGRAM... - makes an archive of a program.
record()
{
    local name=$1 ranks=$2
    shift 2
    timeout -k 5 60 "$eventspace" run -n "$ranks" --name "$prefix-$name" \
        --on-full=block --record "$folder/$name" -- "$@" >"$folder/program" 2>"$folder/err" </dev/null ||
        fault "$name: $(cat "$folder/program" "$folder/err")"
}

record ring 3 "$top_builddir/apps/ring" --rounds 20
record large 1 "$top_builddir/apps/threads" --rounds 2000 --window 32

# refuses WORDS ARGUMENT... - one line says what is wrong, and no file is created.
refuses()
{
    local words=$1
    shift
    expect 2 "$eventspace" export "$@" -o "$folder/none.html"
    contains err "$words"
    [ ! -e "$folder/none.html" ] || fault "a file for: $*"
}
refuses "choose a smaller part with --rank" "$folder/large" --to html
refuses "--axis is for --to svg only" "$folder/ring" --to html --axis level
refuses "--cone is for --to svg only" "$folder/ring" --to html --cone 1.0:9
refuses "--begin is for --to svg and html only" "$folder/ring" --to csv --begin 1s
refuses "pictures and pages take" "$folder/ring" --to html --limit 5
refuses "select nothing" "$folder/ring" --to html --begin 1h
refuses "no event to show" "$folder/ring" --to html --rank 7
expect 0 "$eventspace" export "$folder/ring" --to event-set
cp "$folder/out" "$folder/ring.jsonl"
refuses "is an event set" "$folder/ring.jsonl" --to html

# A part of an archive that is too large as a whole, written to standard output; and the
# part that the refusal names.
expect 0 "$eventspace" export "$folder/large" --to html --since 1ms
expect 2 "$eventspace" export "$folder/large" --to html -o "$folder/none.html"
part=$(grep -oE -- '--since [0-9]+[a-z]+ would fit' "$folder/err" | cut -d' ' -f2)
expect 0 "$eventspace" export "$folder/large" --to html --since "${part:-none}"
contains out 'id="eventspace-data"'

# A name that looks like markup.
ln -s ring "$folder/<!--<script>"
expect 0 "$eventspace" export "$folder/<!--<script>" --to html -o "$folder/ring.html"
is_empty out
# The part begins with the fifth last event of rank 1 or 2, however long ago that was.
since=$("${PYTHON:-python3}" -c 'import json, sys
stops = {}
for line in list(open(sys.argv[1]))[1:]:
    of = json.loads(line)["attributes"]
    if "rank" in of and "stop" in of:
        stops.setdefault(of["rank"], set()).add(int(of["stop"]))
last = max(max(times) for times in stops.values())
print((last - min(sorted(stops[rank])[-5] for rank in "12")) // 1000 + 1)' "$folder/ring.jsonl")
expect 0 "$eventspace" export "$folder/ring" --to html --rank 1-2 --since "${since}us" \
    -o "$folder/part.html"

# skip_browser REASON - skips the checks in a browser if those so far have passed.
skip_browser()
{
    [ "$faults" -eq 0 ] || finish
    echo "the pages are written, but not looked at in a browser: $1"
    exit 77
}
command -v chromium-headless-shell >/dev/null ||
    skip_browser "no chromium-headless-shell here (tools/install-deps --dev)"
grep -q '^#define HAVE_MICROHTTPD 1' "$top_builddir/config.h" ||
    skip_browser "built without libmicrohttpd, so there is nothing to compare with"
"${PYTHON:-python3}" "$here/compare_saved.py" "$folder/ring" "$folder/ring.html" \
    "$folder/part.html" || fault "the page is not as it should be"
finish
