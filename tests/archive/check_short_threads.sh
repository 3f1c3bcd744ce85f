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
expect 0 "$eventspace" run --name "$prefix-short" -n 1 --threshold 255 \
    --record "$folder/a" -- \
    "$top_builddir/tests/mpi/short_threads" $phases $lives $messages
grep -q 'no threads' "$folder/out" && { echo "this MPI has no threads"; exit 77; }
lacks err "before their elements were found"

# Missing tuples were lost because the recorder was slow; each is counted.
wanted=$((lives * messages * 2 * (1 + 2 + 3)))
"${PYTHON:-python3}" - "$folder/a/.eventspace/archive.jsonl" $wanted <<'END' ||
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
archive = [row for row in rows if row["type"] == "archive"][0]
print(archive)
others = archive["tuples"] + archive["lost"] - int(sys.argv[2])
sys.exit(archive["missed"] != 0 or not 2 <= others <= 10)
END
    fault "not $wanted tuples and those of MPI's begin and end, none of them missed"
finish
