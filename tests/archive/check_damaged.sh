#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_damaged.sh - commands that read an archive end with an error or a result, whatever
# its files contain.  For longer: damage.py, with a sanitized build.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"

tar -xf "$top_srcdir/tests/data/archives/1.tar.xz" -C "$folder"
mkdir "$folder/work"
"${PYTHON:-python3}" "${0%/*}/damage.py" "$eventspace" "$folder/stencil2d" "$folder/work" \
    "${ES_TEST_SEED:-1}" 25 || fault "a damaged archive"

# patch STREAM OFFSET BYTES - a stream of a copy in $folder/one with other bytes.
patch()
{
    rm -rf "$folder/one"
    cp -r "$folder/stencil2d" "$folder/one"
    printf '%b' "$3" | dd of="$folder/one/node0/$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# The last record of a stream with a time of the far future: its eight bytes end with the
# file, less the record's other fields.
stream=0.0-other.0
size=$(stat -c %s "$folder/stencil2d/node0/$stream")
patch "$stream" $((size - 29)) '\0377'
for format in svg html csv; do
    expect 2 "$eventspace" export "$folder/one" --to $format -o "$folder/far"
    contains err "it has a time that cannot be"
done
[ "$faults" -eq 0 ]
