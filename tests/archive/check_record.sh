#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_record.sh - eventspace record and run --record: archives of live runs, how
# recordings end, and errors that end them.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
dump=$top_builddir/tests/archive/dump_archive
load=$top_builddir/bench/load
run=$prefix-record

# tuples ARCHIVE - prints the number of tuples that our reader finds.
tuples()
{
    "$dump" "$1" | grep -c '^[0-9]'
}

# Elements that block lose nothing from the beginning of the recording on. They hold 63
# tuples; far more are written between two readings.
"$load" --run "$run" --here --ranks 2 --elements 3 --block --threshold 63 --count 20000 \
    --rate 30000 --seconds 60 --linger 60 >"$folder/load" 2>&1 &
pid=$!
await 20 grep -q '^ready' "$folder/load"
"$eventspace" record --format json -o "$folder/a" "$run" >"$folder/out" 2>"$folder/err" &
recorder=$!
await 60 grep -q '^written' "$folder/load"
kill -TERM $recorder
wait $recorder || fault "recording ended with $?: $(cat "$folder/err")"
json_lines_hold "o['type'] == 'recorded' and o['elements'] == 6 and o['lost'] == 0"
json_lines_hold "o['tuples'] + o['missed'] == 6 * 20000 and o['tuples'] > 6 * 1000"
found=$(tuples "$folder/a")
json_lines_hold "o['tuples'] == $found"

# A directory that is not empty is not overwritten.
expect 2 "$eventspace" record -o "$folder/a" "$run"
contains err "not empty"
expect 2 "$eventspace" record "$run"
contains err "-o DIR"
expect 2 "$eventspace" record -o "$folder/none/a" "$run"
expect 2 "$eventspace" record -o "$folder/b" "$prefix-none"
kill -TERM $pid
wait $pid

# Recording of some ranks only.
: >"$folder/load" # the await below must not find the output of the last program
"$load" --run "$run" --here --ranks 2 --count 50 --seconds 30 --linger 30 >"$folder/load" &
pid=$!
await 20 grep -q '^written' "$folder/load"
expect 0 "$eventspace" record --rank 1 --for 100ms -o "$folder/view" "$run"
expect 2 "$eventspace" record --rank 1-2,7 -o "$folder/none" "$run"
contains err "--rank: there is no rank 7; the run has ranks 0 to 1"
[ -e "$folder/none" ] && fault "an archive of nobody was made"
expect 0 "$dump" "$folder/view"
contains out " 1 "
lacks out " 0 "
expect 0 "$eventspace" record --for 100ms -o "$folder/all" "$run"
[ "$(tuples "$folder/all")" = $((50 * 28)) ] || fault "$(tuples "$folder/all") of $((50 * 28))"
kill -TERM $pid
wait $pid

# SIGTERM ends the archive properly; after SIGKILL the archive contains what was written
# before.
: >"$folder/load" # the await below must not find the output of the last program
"$load" --run "$run" --here --ranks 1 --elements 2 --rate 2000 --seconds 60 >"$folder/load" &
pid=$!
await 20 grep -q '^ready' "$folder/load"
"$eventspace" record -o "$folder/interrupted" "$run" >"$folder/out" 2>"$folder/err" &
recorder=$!
has_some() # ARCHIVE
{
    [ "$(tuples "$1")" -gt 100 ]
}
await 20 has_some "$folder/interrupted"
kill -TERM $recorder
wait $recorder || fault "the interrupted recording ended with $?"
contains out "events of 1 rank on 1 host"
"$dump" "$folder/interrupted" | grep -q ' ended$' || fault "it has no end"
"$eventspace" record -o "$folder/killed" "$run" >"$folder/out" 2>"$folder/err" &
recorder=$!
await 20 has_some "$folder/killed"
kill -KILL $recorder
wait $recorder
"$dump" "$folder/killed" | grep -q 'not ended' || fault "the killed recording has an end"
has_some "$folder/killed" || fault "the killed recording has nothing"

# A limit of the file size ends the recording with one error; the program goes on.
(
    ulimit -f 400 # the metadata have 160 KiB
    expect 2 "$eventspace" record -o "$folder/full" "$run"
    contains err "recording ended too soon"
    [ "$(wc -l <"$folder/err")" = 1 ] || fault "more than one line: $(cat "$folder/err")"
    exit $((faults > 0))
) || fault "a full disk"
kill -0 $pid || fault "the program ended with the recording"
[ "$(tuples "$folder/full")" -gt 100 ] || fault "nothing is left of the recording"
kill -TERM $pid
wait $pid
# Whoever reads them says until when they were recorded, and why.
for end in "interrupted:(interrupted)" "killed:the recording has no end" \
    "full:(File too large)" "view:(limit of time)"; do
    for command in order time why; do
        "$eventspace" $command "$folder/${end%%:*}" >"$folder/out" 2>"$folder/err" </dev/null
        contains err "${end#*:}"
    done
done

# A torn stream is repaired.
stream=$(find "$folder/killed" -name '*.0' -size +0 | head -1)
printf 'torn' >>"$stream"
expect 0 "$eventspace" record --repair "$folder/killed"
contains out "cut"
expect 0 "$eventspace" record --repair "$folder/killed"
contains out "complete, nothing was cut off"
expect 2 "$eventspace" record --repair "$folder"
contains err "not an archive"

finish
