#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_versions.sh - archives of all versions are read with the same results as when
# they were recorded; a newer version is refused.
#
# data/archives has for each version N an archive N.tar.xz and a file N.facts: the
# results of `order --stats` and of an export when the archive was new.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
archives=$top_srcdir/tests/data/archives
current=$(sed -n 's/^#define ESI_ARCHIVE_VERSION //p' \
    "$top_srcdir/monitors/archive/archive_tables.c")

# facts ARCHIVE - prints counts of the order, and of each operation in an export.
facts()
{
    expect 0 "$eventspace" order --stats "$1"
    grep -E '^(ranks|events|messages matched|collectives complete|tuples) ' "$folder/out"
    expect 0 "$eventspace" export --to csv "$1"
    "${PYTHON:-python3}" - "$folder/out" <<'PYTHON'
import collections, csv, sys
calls, sent = collections.Counter(), collections.Counter()
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
    key = f"{row['operation']} {row['kind']}"
    calls[key] += 1
    sent[key] += int(row["bytes"] or 0)
for key in sorted(calls):
    print(key, calls[key], sent[key])
PYTHON
}

[ -f "$archives/$current.tar.xz" ] || fault "no archive of version $current in $archives"
for archive in "$archives"/*.tar.xz; do
    version=$(basename "$archive" .tar.xz)
    mkdir "$folder/$version"
    tar -xf "$archive" -C "$folder/$version"
    facts "$folder/$version"/* >"$folder/facts"
    diff "$archives/$version.facts" "$folder/facts" ||
        fault "an archive of version $version is read otherwise than when it was recorded"
    expect 0 "$eventspace" profile "$folder/$version"/*
done

newer=$folder/newer
cp -r "$folder/$current"/* "$newer"
sed -i "1s/\"version\":$current,/\"version\":$((current + 1)),/" "$newer/.eventspace/archive.jsonl"
expect 2 "$eventspace" order --stats "$newer"
contains err "archive.jsonl:1:1: the archive has version $((current + 1)), of a newer EventSpace"
finish
