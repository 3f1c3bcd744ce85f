#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_callers.sh - each function that other files can call is called; a planted
# function without a caller is found.

set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/base"
echo 'int esi_planted(void); int esi_planted(void) { return 0; }' >"$work/base/planted.c"
$CC -c -o "$work/base/planted.o" "$work/base/planted.c"
if "$PYTHON" "$top_srcdir/tools/check-callers" "$work" >"$work/output"; then
    echo "a function without a caller is not found"
    exit 1
fi
grep -q '^base/planted.o: esi_planted() has no caller' "$work/output"

# Parts that are not built do not call their functions.
for part in NCURSESW MICROHTTPD; do
    grep -q "^#define HAVE_$part 1" "$top_builddir/config.h" || {
        echo "not looked at: built without HAVE_$part, whose functions have no callers"
        exit 77
    }
done
"$PYTHON" "$top_srcdir/tools/check-callers" "$top_srcdir" "$top_builddir"
