#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_commands.sh - `eventspace map` and `eventspace check` as commands.
. "${top_srcdir:?}/tests/cli/functions.sh"
data=$top_srcdir/tests/data/pathmap

# A map of this host, to standard output and to a file.
expect 0 "$eventspace" map -n 3
contains out "\"name\": \"$(uname -n)\""
contains out '"ranks": 3'
expect 0 "$eventspace" map -n 3 -o "$folder/map.json"
[ -s "$folder/map.json" ] || fault "-o wrote nothing"
[ -s "$folder/out" ] && fault "-o also wrote to standard output"
expect 0 "$eventspace" check "$folder/map.json"
contains out "3 ranks with 3 threads on 1 host, 4 collectors, 2 scopes"

# Expanded: every path is written and counted.
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
contains err "$folder/hosts:1:4: found 'x'"

# Invalid maps: position, member, the value found and what was expected.
expect 2 "$eventspace" check "$data/error_host_cores_negative/input"
contains err 'input:8:30: cluster.hosts[2].cores: found -1, expected an integer from 1'
expect 2 "$eventspace" check --format json "$data/error_unknown_member/input"
contains out '"valid":false'
contains out '"line":4'
contains err "did you mean 'collectors'?"
expect 2 "$eventspace" check "$folder/none.json"
contains err "none.json: cannot be read: No such file or directory"

# A map may be read from a pipe.
expect 0 bash -c "'$eventspace' map -n 2 | '$eventspace' check /dev/stdin"

# Usage.
expect 2 "$eventspace" check
expect 2 "$eventspace" map -n 0
expect 2 "$eventspace" map surplus
expect 0 "$eventspace" map --help
expect 0 "$eventspace" check --help

finish
