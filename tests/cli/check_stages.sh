#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_stages.sh - `eventspace check` judges the stages of a map's scopes, at their place.

set -u

eventspace=$top_builddir/cli/eventspace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# judge LINE:COLUMN WORDS STAGE: the map with this stage in its fourth line; good when
# there are no words.
judge() {
    local status=0 expected=0

    printf '%s\n' '{"version": 1, "application": {"ranks": 2},' \
        '"scopes": [{"name": "mine",' '"tree":' "$3" '}]}' >"$work/map.json"
    "$eventspace" check "$work/map.json" >"$work/out" 2>&1 || status=$?
    [ -z "$2" ] || expected=2
    if [ $status != $expected ]; then
        echo "$3: exit status $status, expected $expected: $(cat "$work/out")"
        failed=1
    elif [ -n "$2" ] && ! { grep -qF "map.json:$1: " "$work/out" && grep -qF -- "$2" "$work/out"; }; then
        echo "$3: expected \"$2\" at $1: $(cat "$work/out")"
        failed=1
    fi
}

judge '' '' '{"type": "gather", "properties": {"mode": "sequential"}}'
judge '' '' '{"type": "reduce", "properties": {"to": "histogram", "of": "duration", "by": "rank"}}'
judge '' '' '{"type": "filter", "properties": {"where": "bytes > 1KiB"}}'
judge '' '' '{"type": "sample", "properties": {"every": 10}}'
judge '' '' '{"type": "sort", "children": [{"type": "element"}, {"type": "element"}]}'
judge 4:1 "did you mean 'gather'" '{"type": "gater"}'
judge 4:33 "did you mean 'buffer'" '{"type": "sort", "properties": {"bufer": 100}}'
judge 4:49 'expected one of native little big' '{"type": "convert", "properties": {"order":     "middle"}}'
judge 4:44 'from 1 to' '{"type": "sample", "properties": {"every": 0}}'
judge 4:52 'expected' '{"type": "filter", "properties": {"where": "bytes > "}}'
judge 4:1 "needs the property 'where'" '{"type": "filter"}'
judge 4:1 'belongs to the writing side' '{"type": "collector", "properties": {"name": "x"}}'
judge 4:1 'at most 1 children' '{"type": "buffer", "children": [{"type": "element"}, {"type": "element"}]}'
judge 4:33 "no stage type 'nothing-like-it'" '{"type": "gather", "children": [{"type": "nothing-like-it"}]}'
exit $failed
