#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_headers.sh - each header stands alone; each installed header is listed, needs no
# other folder, and can be used in C11 programs.
#
# A header that its own source includes first, after config.h, stands alone if that
# source compiles; guards are checked by check-style. This test compiles the other
# headers.

set -u
cd "$top_srcdir" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/faults"

# Compiles one header and appends its faults to a file. Runs in its own shell for each
# header.
compile() { # HEADER COMPLAINT OPTION...
    local header=$1 complaint=$2 try
    shift 2
    try=$work/$(tr / . <<<"$header").c
    # Include it twice, to test the guard.
    printf '#include "%s"\n#include "%s"\nint es_used;\n' "$header" "$header" >"$try"
    $CC "$@" -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only "$try" ||
        echo "$header: $complaint" >>"$work/faults"
}
export -f compile
export work

# Compiles all headers of a list, in parallel: it would take long on a busy machine.
compile_all() { # COMPLAINT OPTION... <HEADERS
    xargs -r -P "$(nproc)" -I '{}' bash -c 'compile "$@"' compile '{}' "$@"
}

# Prints the headers of a list that no source of the same name includes first.
not_first() {
    local header
    while read -r header; do
        [ -f "${header%.h}.c" ] &&
            [ "$(grep '^#include' "${header%.h}.c" | grep -vm 1 '"config.h"')" = \
                "#include \"$header\"" ] || echo "$header"
    done
}

private=$(find base tuplespace pathmap wrappers scopes monitors cli -name '*.h' |
    grep -v '_calls\.h$' | # templates: included several times, with other names
    grep -v '/openmpi/' | sort) # generated from another mpi.h
to_try=$(not_first <<<"$private")
of_mpi=$(grep -E '^wrappers/(mpi|trees)/' <<<"$to_try")
options=(-std=gnu17 -include "$top_builddir/config.h" -I"$top_builddir" -I. -Iinclude)
# shellcheck disable=SC2086 # a list of options
{
    grep -vE '^wrappers/(mpi|trees)/' <<<"$to_try" |
        compile_all "does not stand alone" "${options[@]}" $HEADER_CPPFLAGS
    [ -z "$MPICC" ] || compile_all "does not stand alone" "${options[@]}" \
        -I"$top_builddir/wrappers/mpi" $MPI_CPPFLAGS $HEADER_CPPFLAGS <<<"$of_mpi"
}

public=$(cd include && find eventspace -name '*.h' | sort)
compile_all "does not serve a C11 program" -std=gnu11 -Wpedantic -Iinclude <<<"$public"
for header in $public; do
    grep -q "$header" include/Makefile.am ||
        echo "$header: is not in include/Makefile.am" >>"$work/faults"
done

# shellcheck disable=SC2086 # lists of file names
set -- $private $public
cat "$work/faults"
echo "$# headers, $(wc -l <<<"$to_try") compiled, $(wc -l <"$work/faults") faults"
[ $# -gt 0 ] && [ ! -s "$work/faults" ]
