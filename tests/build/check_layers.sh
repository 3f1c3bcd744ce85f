#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_layers.sh - includes go only downward; the checker finds planted faults.

set -eu

"$PYTHON" "$top_srcdir/tools/check-layers" "$top_srcdir"

# Plant one fault of each kind, to see that the checker finds it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plant() { # FOLDER INCLUDE-LINE
    rm -rf "${work:?}"/*
    mkdir -p "$work/$1" "$work/scopes" "$work/base"
    touch "$work/scopes/scope.c" "$work/base/buffer_private.h"
    echo "$2" >"$work/$1/planted.c"
    if "$PYTHON" "$top_srcdir/tools/check-layers" "$work"; then
        echo "not found: $2 in $1/"
        exit 1
    fi
}
plant base '#include "tuplespace/reader.h"'
plant tuplespace '#include "eventspace/scope.h"'
plant tuplespace '#include "base/buffer_private.h"'
plant monitors '#include <jansson.h>'
plant scopes '#include <hwloc/bitmap.h>'
plant cli '#  include <mpi.h>'
plant apps '#include "base/error.h"'
plant wrappers/mpi '#include "pathmap/pathmap.h"'

# A README that omits a file, or is wrong about the layers below its folder.
plant_readme() { # FOLDER TEXT
    rm -rf "${work:?}"/*
    mkdir -p "$work/$1"
    echo '#include "config.h"' >"$work/$1/planted.c"
    printf '%s\n' "$2" >"$work/$1/README.md"
    if "$PYTHON" "$top_srcdir/tools/check-layers" "$work"; then
        echo "not found: README of $1/: $2"
        exit 1
    fi
}
plant_readme base $'May include: nothing but itself.\n'
plant_readme base $'May include: pathmap.\n\n`planted`'
plant_readme tuplespace/plan $'`planted`'
