#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_headers.sh - every header stands alone; every installed header is listed, needs
# no other folder and serves C11 programs.

set -u
cd "$top_srcdir" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "$1: $2"
    failed=$((failed + 1))
}

compile() { # LANGUAGE-AND-OPTIONS... HEADER
    local header=${*: -1}
    # Included twice: the guard is tried too.
    printf '#include "%s"\n#include "%s"\nint es_used;\n' "$header" "$header" >"$work/try.c"
    $CC "${@:1:$#-1}" -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
        "$work/try.c"
}

private=$(find base tuplespace pathmap wrappers scopes monitors cli -name '*.h' | sort)
for header in $private; do
    mpi=
    case $header in
    *_calls.h) continue ;; # a template, included several times with other names
    wrappers/mpi/* | wrappers/collective/*)
        [ -n "$MPICC" ] || continue
        mpi=$MPI_CPPFLAGS
        ;;
    esac
    # shellcheck disable=SC2086 # a list of options
    compile -std=gnu17 -include "$top_builddir/config.h" -I"$top_builddir" -I. -Iinclude \
        -I"$top_builddir/wrappers/mpi" $mpi $HEADER_CPPFLAGS "$header" ||
        fail "$header" "does not stand alone"
done

public=$(cd include && find eventspace -name '*.h' | sort)
for header in $public; do
    compile -std=gnu11 -Wpedantic -Iinclude "$header" || fail "$header" "does not serve a C11 program"
    grep -q "$header" include/Makefile.am || fail "$header" "is not in include/Makefile.am"
done

# shellcheck disable=SC2086 # lists of file names
set -- $private $public
echo "$# headers, $failed faults"
[ $# -gt 0 ] && [ $failed -eq 0 ]
