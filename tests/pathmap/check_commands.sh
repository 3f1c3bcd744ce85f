#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_commands.sh - `eventspace map` and `eventspace check` from end to end.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

eventspace=$top_builddir/cli/eventspace
data=$top_srcdir/tests/data/pathmap
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
faults=0

fault()
{
    echo "fault: $*"
    faults=$((faults + 1))
}

# expect STATUS COMMAND... : runs it, output in $folder/out and $folder/err.
expect()
{
    local wanted=$1 status
    shift
    "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    [ "$status" -eq "$wanted" ] || fault "$* ended with $status, not $wanted: $(cat "$folder/err")"
}

contains()
{
    grep -qF -- "$2" "$folder/$1" || fault "no \"$2\" in: $(cat "$folder/$1")"
}

# A map of this host, to standard output and to a file.
expect 0 "$eventspace" map -n 3
contains out "\"name\": \"$(uname -n)\""
contains out '"ranks": 3'
expect 0 "$eventspace" map -n 3 -o "$folder/map.json"
[ -s "$folder/map.json" ] || fault "-o wrote nothing"
[ -s "$folder/out" ] && fault "-o also wrote to standard output"
expect 0 "$eventspace" check "$folder/map.json"
contains out "3 ranks with 3 threads on 1 host, 4 collectors, 2 scopes"

# Expanded: every path spelled out, and counted.
expect 0 "$eventspace" map -n 3 --threads 2 --threshold 200 --expand -o "$folder/map.json"
expect 0 "$eventspace" check "$folder/map.json"
contains out "24 paths"
expect 0 "$eventspace" check --format json "$folder/map.json"
contains out '"valid":true'
contains out '"paths":24'
contains out '"ring_bytes":221184'

# A hostfile.
printf 'n1:2\nn2 slots=2\n' >"$folder/hosts"
expect 0 "$eventspace" map --hostfile "$folder/hosts"
contains out '{"ranks": "2-3", "host": "n2"}'
printf 'n1:x\n' >"$folder/hosts"
expect 2 "$eventspace" map --hostfile "$folder/hosts"
contains err "$folder/hosts:1:4: found \"x\""

# Wrong maps: place, way, what was found and what was expected.
expect 2 "$eventspace" check "$data/error_host_cores_negative/input"
contains err 'input:8:30: cluster.hosts[2].cores: found -1, expected an integer from 1'
expect 2 "$eventspace" check --format json "$data/error_unknown_member/input"
contains out '"valid":false'
contains out '"line":4'
contains err 'did you mean "collectors"?'
expect 2 "$eventspace" check "$folder/none.json"
contains err "none.json: cannot be read: No such file or directory"

# A pipe is as good as a file.
expect 0 bash -c "'$eventspace' map -n 2 | '$eventspace' check /dev/stdin"

# Usage.
expect 2 "$eventspace" check
expect 2 "$eventspace" map -n 0
expect 2 "$eventspace" map surplus
expect 0 "$eventspace" map --help
expect 0 "$eventspace" check --help

[ "$faults" -eq 0 ]
