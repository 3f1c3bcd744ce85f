#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_short_threads.sh - a recorder finds the elements of threads that live for a
# shorter time than its search interval: new elements wake it, so nothing is overwritten
# before it finds them.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
need_mpi

# Three phases with one, two and three threads at a time. Each phase starts its threads
# five times, and each thread writes 200 tuples. A ring holds the tuples of one thread;
# the next threads start 30 ms later.
phases=3
lives=5
messages=100
wanted=$((lives * messages * 2 * (1 + 2 + 3)))

# records N - counts every tuple, read or not; sets $missed, those of elements found too late.
records()
{
    expect 0 "$eventspace" run --name "$prefix-short$1" -n 1 --threshold 255 \
        --record "$folder/$1" -- \
        "$top_builddir/tests/mpi/short_threads" $phases $lives $messages
    grep -q 'no threads' "$folder/out" && { echo "this MPI has no threads"; exit 77; }
    missed=$("${PYTHON:-python3}" - "$folder/$1/.eventspace/archive.jsonl" $wanted <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
archive = [row for row in rows if row["type"] == "archive"][0]
others = archive["tuples"] + archive["lost"] + archive["missed"] - int(sys.argv[2])
print(archive["missed"] if 2 <= others <= 10 else archive)
END
)
    case $missed in
    0) lacks err "before their elements were found" ;;
    *[!0-9]*) fault "not $wanted tuples and those of MPI's begin and end: $missed" ;;
    *) contains err "before their elements were found" ;;
    esac
}

# Other load may keep the recorder from the processor for longer than a thread lives: one
# good try will do. Without being woken none is good.
for i in 1 2 3 4 5; do
    records $i
    [ "$missed" = 0 ] && break
done
[ "$missed" = 0 ] || fault "elements are found too late: $missed tuples are missed"
finish
