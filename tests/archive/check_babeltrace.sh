#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_babeltrace.sh - babeltrace2 and our reader find the same events in archives of
# real runs.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
need_mpi
command -v babeltrace2 >/dev/null || {
    echo "there is no babeltrace2"
    exit 77
}
dump=$top_builddir/tests/archive/dump_archive
apps=$top_builddir/apps

# compare ARCHIVE - compares times, names, ranks and starts of all events.
compare()
{
    babeltrace2 --clock-seconds "$1" >"$folder/bt" 2>"$folder/err" ||
        fault "babeltrace2: $(cat "$folder/err")"
    [ ! -s "$folder/err" ] || fault "babeltrace2 says: $(head -3 "$folder/err")"
    "${PYTHON:-python3}" - "$folder/bt" >"$folder/theirs" <<'END'
import re, sys
line_of = re.compile(r"\[(\d+)\.(\d+)\] \(\S+\) \S+ (.+?): \{.*rank = (-?\d+).*start = (\d+)")
for line in open(sys.argv[1], encoding="utf-8"):
    found = line_of.search(line)
    seconds, rest, name, rank, start = found.groups()
    print(int(seconds) * 10**9 + int(rest), name, rank, start)
END
    "$dump" "$1" | grep '^[0-9]' >"$folder/ours"
    [ -s "$folder/ours" ] || fault "$1: nothing was recorded"
    sort "$folder/ours" >"$folder/ours.sorted"
    sort "$folder/theirs" >"$folder/theirs.sorted"
    cmp "$folder/ours.sorted" "$folder/theirs.sorted" ||
        fault "$1: $(diff "$folder/ours.sorted" "$folder/theirs.sorted" | head -5)"
}

expect 0 "$eventspace" run --name "$prefix-tunnel" -n 2 --record "$folder/tunnel" -- \
    "$apps/windtunnel" --rows 40 --iterations 60
compare "$folder/tunnel"
expect 0 "$dump" "$folder/tunnel"
lacks out "lost"
contains out "1 hosts, 2 processes, ended"
grep -q '"paths"' "$folder/tunnel/.eventspace/map.json" || fault "no pathmap"
grep -q MPI_COMM_WORLD "$folder/tunnel/.eventspace/archive.jsonl" || fault "no communicators"

# ordered ARCHIVE - the order of the archive can be computed.
ordered()
{
    expect 0 "$eventspace" order --stats "$1"
}

# All kinds of calls: wildcard receives, which are published late, threads, windows,
# many communicators, file handles. Elements discard when they are full, and some
# programs have large bursts: the elements hold all events of a run.
for app in imbalance life masterworker mergesort onesided ring stencil2d threads \
    fortran_f08 fortran_mpi fortran_mpif; do
    [ -x "$apps/$app" ] || {
        echo "there is no $app"
        continue
    }
    arguments=()
    [ $app != ring ] || arguments=(--rounds 50)
    expect 0 "$eventspace" run --name "$prefix-app" -n 2 --threshold 65535 --record "$folder/$app" -- \
        "$apps/$app" "${arguments[@]}"
    contains err "eventspace run: recorded in $folder/$app: "
    [ "$(wc -l <"$folder/err")" -eq 1 ] || fault "$app: more is said: $(cat "$folder/err")"
    compare "$folder/$app"
    ordered "$folder/$app"
done

# This program is built with the tests of the collector.
if [ -x "$top_builddir/tests/mpi/communicators" ]; then
    expect 0 "$eventspace" run --name "$prefix-communicators" -n 4 --threshold 65535 \
        --record "$folder/communicators" -- "$top_builddir/tests/mpi/communicators"
    compare "$folder/communicators"
    ordered "$folder/communicators"
fi

# Elements split by peer, and collective operations through trees, whose own tuples are
# in the archive.
cat >"$folder/split.json" <<'END'
{"version": 1, "application": {"ranks": 3}, "collectors": [
    {"name": "messages", "classes": ["send", "receive", "completion"], "split": "both"},
    {"name": "rest", "classes": ["collective", "communicator", "one-sided", "io", "other"]}
]}
END
expect 0 "$eventspace" run --name "$prefix-split" --map "$folder/split.json" --threshold 65535 \
    --record "$folder/split" -- "$apps/stencil2d"
compare "$folder/split"
grep -q '"name":"0.0/messages\[comm=[^"]*\[peer=' "$folder/split/.eventspace/archive.jsonl" ||
    fault "no element of one peer"
expect 0 "$eventspace" run --name "$prefix-trees" -n 3 --trees=kary:2 --threshold 65535 \
    --record "$folder/trees" -- "$apps/windtunnel" --rows 24 --iterations 20
compare "$folder/trees"
grep -q '"collector":"contribute"' "$folder/trees/.eventspace/archive.jsonl" ||
    fault "no trees in the archive"

# The exit status of the run is that of the program. A program that cannot be recorded
# is not started.
expect 3 "$eventspace" run --name "$prefix-status" -n 1 --record "$folder/status" -- \
    sh -c 'exit 3'
expect 2 "$eventspace" run --name "$prefix-full" -n 1 --record "$folder/tunnel" -- true
contains err "not empty"
"$eventspace" clean "$prefix-status" >/dev/null 2>&1

# Losses are CTF's discarded events.
load=$top_builddir/bench/load
"$load" --run "$prefix-lossy" --here --ranks 1 --elements 1 --threshold 7 --rate 50000 \
    --seconds 60 >"$folder/load" &
pid=$!
await 20 grep -q '^ready' "$folder/load"
expect 0 "$eventspace" record --set max=8 --for 500ms -o "$folder/lossy" "$prefix-lossy"
contains out "were lost"
kill -TERM $pid
wait $pid
babeltrace2 "$folder/lossy" >"$folder/bt" 2>"$folder/err"
contains err "discarded"
"$dump" "$folder/lossy" | grep -q '^lost' || fault "our reader shows no losses"

finish
