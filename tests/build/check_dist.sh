#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_dist.sh - each file that git knows is in the distribution.

set -eu

if ! files=$(git -C "$top_srcdir" ls-files 2>/dev/null) || [ -z "$files" ]; then
    echo "skipped: not a git checkout"
    exit 77
fi
if [ "$(git -C "$top_srcdir" rev-parse --show-toplevel)" != "$(cd "$top_srcdir" && pwd -P)" ]; then
    echo "skipped: the sources lie inside another project's checkout"
    exit 77
fi

# automake needs a name that is relative to the top of the build.
cd "$top_builddir"
dist=check-dist-$$
trap 'chmod -R u+w $dist; rm -rf $dist $dist.log' EXIT
make -s --no-print-directory distdir distdir=$dist >$dist.log 2>&1 || {
    cat $dist.log
    exit 1
}

missing=0
while read -r file; do
    case $file in .gitignore | */.gitignore | .git*) continue ;; esac
    # Ignore a file that is deleted but not yet committed.
    [ -e "$top_srcdir/$file" ] || continue
    if [ ! -e "$dist/$file" ]; then
        echo "$file is not distributed: add it to a Makefile.am"
        missing=$((missing + 1))
    fi
done <<<"$files"
echo "$missing of $(wc -l <<<"$files") files are missing"
[ $missing -eq 0 ]
