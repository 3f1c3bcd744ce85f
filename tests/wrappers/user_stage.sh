#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# user_stage.sh - tests stages from shared objects: the documented example is built against
# the installation and run, and unsuitable objects are refused with an error message.

set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
eventspace=$top_builddir/cli/eventspace

fail() {
    echo "$*"
    exit 1
}

# map TYPE PROPERTIES - prints a map whose scope has a stage of this type, in the fifth
# line.
map() {
    cat <<END
{
  "version": 1,
  "application": {"ranks": 2},
  "scopes": [{"name": "mine", "tree": {"type": "gather", "children": [
    {"type": "$1", "properties": {$2}}]}}]
}
END
}

# refused WORDS PATHS - checks that the command exits with 2 and says why.
refused() {
    local status=0

    EVENTSPACE_STAGES=$2 "$eventspace" check "$work/plain.json" >"$work/out" 2>&1 || status=$?
    [ $status = 2 ] || fail "$2: exit status $status, expected 2"
    grep -qF -- "$1" "$work/out" || fail "$2: expected \"$1\": $(cat "$work/out")"
}

# module NAME - compiles the source on standard input into NAME.so.
module() {
    $CC -std=gnu17 -shared -fPIC -I"$top_srcdir/include" -o "$work/$1.so" -x c -
}

map gather '' >"$work/plain.json"
"$eventspace" check "$work/plain.json" >"$work/out" 2>&1 ||
    fail "without modules: $(cat "$work/out")"

# --- Unsuitable objects ---------------------------------------------------------------

refused "cannot load" "$work/nothing.so"
refused "not an absolute path" "stages.so"

echo 'int answer = 42;' | module symbolless
refused "no symbol eventspace_stage_module" "$work/symbolless.so"

module old <<'END'
#include <eventspace/stage_module.h>
static const struct es_stage_ops *const types[] = {NULL};
__attribute__((visibility("default")))
const struct es_stage_module eventspace_stage_module = {
    .abi = ES_STAGE_ABI + 1, .name = "old", .types = types};
END
refused "built against another interface" "$work/old.so"

module empty <<'END'
#include <eventspace/stage_module.h>
static const struct es_stage_ops *const types[] = {NULL};
ES_STAGE_MODULE("empty", types);
END
refused "has no stage types" "$work/empty.so"

module twice <<'END'
#include <eventspace/stage_module.h>
static const struct es_stage_ops fresh = {.name = "fresh", .help = "new"};
static const struct es_stage_ops known = {.name = "gather", .help = "not new"};
static const struct es_stage_ops *const types[] = {&fresh, &known, NULL};
ES_STAGE_MODULE("twice", types);
END
refused "stage type 'gather' already exists" "$work/twice.so"

# Commands that start programs ignore the modules. (A sanitized collector cannot be
# preloaded.)
[ -n "$ES_SANITIZERS" ] || EVENTSPACE_STAGES=$work/nothing.so "$eventspace" exec true ||
    fail "exec does not start a program"

# --- The example ----------------------------------------------------------------------

if [ -n "$ES_SANITIZERS" ]; then
    echo "skipped: programs built without sanitizers cannot load this library"
    exit 77
fi
make -s -C "$top_builddir" --no-print-directory install DESTDIR="$work/root" \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
pc=$(find "$work/root" -name eventspace.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$work/root
libdir=$work/root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir eventspace)
export LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

cp "$top_srcdir"/docs/example-stage/{Makefile,slow.c} "$work"
make -s -C "$work" --no-print-directory CFLAGS="-O2 -Wall -Wextra -Werror" slow.so
# shellcheck disable=SC2046 # lists of options
$CC -std=gnu17 -Wall -Werror $(pkg-config --cflags eventspace) -o "$work/consumer" \
    "$top_srcdir/tests/wrappers/user_stage.c" $(pkg-config --libs eventspace)
timeout 20 "$work/consumer" "$work/slow.so"

installed=$(find "$work/root" -path '*/bin/eventspace')
map slow '"times": 4' >"$work/slow.json"
for command in "$eventspace" "$installed"; do
    EVENTSPACE_STAGES=$work/slow.so:$work/slow.so "$command" check "$work/slow.json"
done
map slow '"tiems": 4' >"$work/wrong.json"
status=0
EVENTSPACE_STAGES=$work/slow.so "$eventspace" check "$work/wrong.json" 2>"$work/out" || status=$?
[ $status = 2 ] || fail "a wrong property: exit status $status, expected 2"
grep -q "wrong.json:5:.*'tiems'.*did you mean 'times'" "$work/out" || fail "$(cat "$work/out")"
status=0
"$eventspace" check "$work/slow.json" 2>"$work/out" || status=$?
[ $status = 2 ] || fail "a type that is not there: exit status $status, expected 2"
grep -q "slow.json:5:.*no stage type 'slow'" "$work/out" || fail "$(cat "$work/out")"
