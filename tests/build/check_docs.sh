#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_docs.sh - each command has a manual page with all options that --help shows, and
# the pages have no formatting errors. Files and headings that documents link to, and
# functions, types and files that they name, exist. Calls shown in headers are of
# declared functions, with the right number of arguments.

set -u

failed=0
fail() {
    echo "$*"
    failed=$((failed + 1))
}

eventspace=$top_builddir/cli/eventspace
commands=$("$eventspace" help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p')
[ -n "$commands" ] || fail "eventspace help lists no commands"

for command in $commands; do
    case $command in help | version) continue ;; esac
    page=$top_srcdir/docs/man/eventspace-$command.1
    if [ ! -f "$page" ]; then
        fail "docs/man/eventspace-$command.1 is missing"
        continue
    fi
    # Pages write a minus sign as \-.
    text=$(sed 's/\\-/-/g' "$page")
    for option in $("$eventspace" "$command" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
        case $option in --help | --usage | --version | --quiet) continue ;; esac
        grep -qF -- "$option" <<<"$text" ||
            fail "docs/man/eventspace-$command.1 does not tell of $option"
    done
done
[ -f "$top_srcdir/docs/man/eventspace.1" ] || fail "docs/man/eventspace.1 is missing"

# Each function of libeventspace-order is on a page of section 3, with its header.
for header in event_set order pattern search; do
    page=$top_srcdir/docs/man/es_$header.3
    [ -f "$page" ] || fail "docs/man/es_$header.3 is missing"
    grep -qF "#include <eventspace/$header.h>" "$page" ||
        fail "docs/man/es_$header.3 does not tell of its header"
    for name in $(sed -n '/^ES_API/s/.*\b\(es_[a-z_]*\)(.*/\1/p' \
        "$top_srcdir/include/eventspace/$header.h"); do
        sed -n '/^\.SH NAME/,/^\.SH LIBRARY/p' "$page" | grep -qw "$name" &&
            grep -q "$name(" "$page" ||
            fail "docs/man/es_$header.3 does not tell of $name()"
    done
done

if command -v groff >/dev/null; then
    for page in "$top_srcdir"/docs/man/*.[1-9]; do
        [ -f "$page" ] || continue
        complaint=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$complaint" ] || fail "${page##*/}: $complaint"
    done
fi

build=$(cd "$top_builddir" && pwd)
cd "$top_srcdir" || exit 1
"$PYTHON" tests/build/doc_names.py . "$build" || failed=1
"$PYTHON" tests/build/header_examples.py . || failed=1
[ $failed -eq 0 ]
