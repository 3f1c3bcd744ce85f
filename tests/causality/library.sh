#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# library.sh - docs/examples/causes.c uses libeventspace-order: for a recorded run it
# gives the same answers as the commands, and it reports inputs that it cannot read.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi
trap clear_up EXIT

example=$top_builddir/tests/causality/causes
archive=$folder/archive
patterns=$folder/patterns
cat >"$patterns" <<'END'
S := [class = "send"]; R := [class = "receive"];
Message := S => R;
Large := [bytes > 1KiB];
END

expect 0 "$eventspace" run -n 2 --name "$prefix-library" --record "$archive" -- \
    "$top_builddir/apps/ring" --rounds 20

expect 0 "$eventspace" export "$archive" --to event-set -o "$folder/set"

# says A B PREDICATE : the example and the commands agree.
says()
{
    {
        echo "$1 $(echo "$1 $2" | "$eventspace" order "$archive" --query -) $2"
        "$eventspace" search -p "$patterns" "$archive" "$3" --format json |
            "$PYTHON" -c 'import json, sys
names = json.loads(open(sys.argv[1]).readline())["traces"]
for line in sys.stdin:
    print(*(f"{names[trace]}:{index}" for trace, index in json.loads(line)["match"]))
' "$folder/set"
    } | LC_ALL=C sort >"$folder/expected"
    expect 0 "$example" "$archive" "$1" "$2" "$patterns" "$3"
    is_empty err
    LC_ALL=C sort "$folder/out" | diff -u "$folder/expected" - || fault "differs: $*"
}
says 0.0:3 1.0:3 Message
[ "$(wc -l <"$folder/expected")" -gt 20 ] || fault "the run has no messages"
says 1.0:5 0.0:2 Message
says 0.0:4 0.0:4 Large

# refuses TEXT ARGUMENT... : the example fails with this error.
refuses()
{
    local text=$1
    shift
    expect 1 "$example" "$@"
    contains err "$text"
}
refuses "no such file or archive" none 0.0:1 0.0:1 "$patterns" Message
refuses "a directory that is not an archive" "$folder" 0.0:1 0.0:1 "$patterns" Message
refuses "has no such predicate" "$archive" 0.0:1 0.0:1 "$patterns" Other
refuses "no such event" "$archive" 9.0:1 0.0:1 "$patterns" Message
refuses "'Nothing' is not defined" "$archive" 0.0:1 0.0:1 \
    <(echo 'A := Nothing --> Nothing;') A
finish
