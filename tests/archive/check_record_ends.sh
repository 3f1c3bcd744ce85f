#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_record_ends.sh - recordings that cannot go on or begin too late: disks that are
# full or read-only, directories that are removed, two recordings at once, a run that
# has ended, very many elements. Each leaves an archive that can be read.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
dump=$top_builddir/tests/archive/dump_archive
load=$top_builddir/bench/load
run=$prefix-ends
disk=

clear_all()
{
    local pid
    for pid in $(jobs -p); do
        kill "$pid" 2>/dev/null
    done
    [ -z "$disk" ] || umount "$disk"
    clear_up
}
trap clear_all EXIT

tuples()
{
    "$dump" "$1" | grep -c '^[0-9]'
}

# begin OPTION... - starts a run that is written to until end().
begin()
{
    "$load" --run "$run" --here --seconds 0 "$@" >"$folder/load" 2>&1 &
    writer=$!
    await 30 grep -q '^ready' "$folder/load"
}

end()
{
    kill -TERM "$writer"
    wait "$writer"
}

# stops_with TEXT [ARCHIVE] - the recording ended with one line that contains the text;
# the archive can be read, and the program goes on.
stops_with()
{
    contains err "$1"
    [ "$(wc -l <"$folder/err")" = 1 ] || fault "not one line: $(cat "$folder/err")"
    kill -0 "$writer" || fault "the program ended with the recording"
    [ -z "${2:-}" ] || "$dump" "$2" >"$folder/dump" || fault "$2 cannot be read"
}

# --- Errors of the file system -------------------------------------------------------

begin --ranks 2 --elements 4 --rate 5000
: >"$folder/file"
expect 2 "$eventspace" record -o "$folder/file" "$run"
stops_with "$folder/file"
mkdir "$folder/empty"
expect 0 "$eventspace" record --for 100ms -o "$folder/empty" "$run"

if [ "$(id -u)" = 0 ] && mkdir "$folder/disk" &&
    mount -t tmpfs -o size=1m tmpfs "$folder/disk" 2>/dev/null; then
    disk=$folder/disk
    expect 2 "$eventspace" record -o "$disk/full" "$run"
    stops_with "No space left on device" "$disk/full"
    [ "$(tuples "$disk/full")" -gt 1000 ] || fault "too little is on the full disk"
    grep -q '"error":"No space left' "$disk/full/.eventspace/archive.jsonl" ||
        echo "there was no room to say why in the archive"
    # There is no space for a new directory either.
    dd if=/dev/zero of="$disk/rest" bs=4096 2>/dev/null
    expect 2 "$eventspace" record -o "$disk/none" "$run"
    stops_with "No space left on device"
    mount -o remount,ro "$disk"
    expect 2 "$eventspace" record -o "$disk/read-only" "$run"
    stops_with "Read-only file system"
else
    echo "no file system can be mounted here: neither a full nor a read-only one is tried"
fi
if [ "$(id -u)" != 0 ]; then
    mkdir -m 555 "$folder/others"
    expect 2 "$eventspace" record -o "$folder/others/a" "$run"
    stops_with "Permission denied"
fi

# The directory of the archive is removed during the recording.
"$eventspace" record -o "$folder/gone" "$run" >"$folder/out" 2>"$folder/err" &
recorder=$!
await 20 test -s "$folder/gone/.eventspace/archive.jsonl"
rm -rf "$folder/gone"
await 20 sh -c "! kill -0 $recorder" && wait $recorder
[ $? = 2 ] || fault "the recording without a directory ended otherwise"
stops_with "No such file or directory"
end

# --- Two at once ---------------------------------------------------------------------

begin --ranks 2 --elements 3 --rate 3000
"$eventspace" record --format json --for 1500ms -o "$folder/first" "$run" >"$folder/one" &
first=$!
"$eventspace" record --format json --for 1500ms -o "$folder/second" "$run" >"$folder/two" &
second=$!
wait $first || fault "the first recording of two failed"
wait $second || fault "the second recording of two failed"
for one in one two; do
    cp "$folder/$one" "$folder/out"
    json_lines_hold "o['elements'] == 6 and o['tuples'] > 1000 and o['lag_most_ns'] >= 0"
done
[ "$(tuples "$folder/first")" -gt 1000 ] || fault "nothing in the first of two"
[ "$(tuples "$folder/second")" -gt 1000 ] || fault "nothing in the second of two"

# A recording is killed; another one is started with another directory.
"$eventspace" record -o "$folder/killed" "$run" &
recorder=$!
has_some()
{
    [ "$(tuples "$folder/killed")" -gt 100 ]
}
await 20 has_some
kill -KILL $recorder
wait $recorder 2>/dev/null
expect 2 "$eventspace" record --for 100ms -o "$folder/killed" "$run"
contains err "not empty"
expect 0 "$eventspace" record --for 300ms -o "$folder/again" "$run"
"$dump" "$folder/again" | grep -q ' ended$' || fault "the recording begun again has no end"
end

# --- A run that has ended ------------------------------------------------------------

if [ -n "${MPIEXEC:-}" ] && [ -z "${ES_SANITIZERS:-}" ]; then
    expect 0 "$eventspace" run --name "$prefix-kept" --keep -n 2 -- \
        "$top_builddir/apps/ring" --rounds 100
    expect 0 "$eventspace" record -o "$folder/kept" "$prefix-kept"
    contains out "events of 2 ranks on 1 host"
    "$dump" "$folder/kept" | grep -q "MPI_Finalize 1 " || fault "a kept run's end is missing"
    "$eventspace" clean "$prefix-kept" >"$folder/out" || fault "it cannot be removed"
    expect 2 "$eventspace" record -o "$folder/removed" "$prefix-kept"
    [ ! -e "$folder/removed" ] || fault "a directory was made for no run"
fi

# --- Many elements -------------------------------------------------------------------

# The recorder has fewer file descriptors than there are streams.
begin --ranks 4 --threads 20 --elements 28 --total 1948 --rate 4 --threshold 63
(
    ulimit -n 256
    expect 0 "$eventspace" record --format json --for 2s -o "$folder/many" "$run"
    json_lines_hold "o['elements'] == 1948 and o['processes'] == 4 and o['tuples'] > 1948"
    exit $((faults > 0))
) || fault "1,948 elements"
end
found=$("$dump" "$folder/many" | grep -c '^[0-9]')
[ "$found" -gt 1948 ] || fault "$found tuples of 1,948 elements"
if command -v babeltrace2 >/dev/null; then
    theirs=$(babeltrace2 "$folder/many" 2>/dev/null | wc -l)
    [ "$theirs" = "$found" ] || fault "babeltrace2 finds $theirs of $found"
fi

finish
