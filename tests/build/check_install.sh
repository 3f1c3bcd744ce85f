#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_install.sh - what is installed can be used: a program is built against it with
# pkg-config alone, the command answers, and the MPI profile names the right folder.

set -eu

if [ -n "$ES_SANITIZERS" ]; then
    echo "skipped: programs built without sanitizers cannot load this library"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s -C "$top_builddir" --no-print-directory install DESTDIR="$work" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}
pc=$(find "$work" -name eventspace.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$work
libdir=$work$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir eventspace)

cat >"$work/consumer.c" <<'EOF'
#include <eventspace/clock.h>
#include <eventspace/error.h>
#include <eventspace/tuple.h>
#include <stdio.h>

int main(void)
{
    printf("%zu\n", sizeof(struct es_tuple));
    return sizeof(struct es_tuple) == 36 ? 0 : 1;
}
EOF
# shellcheck disable=SC2046 # lists of options
$CC -std=gnu17 -Wall -Werror $(pkg-config --cflags eventspace) -o "$work/consumer" \
    "$work/consumer.c" $(pkg-config --libs eventspace)
LD_LIBRARY_PATH=$libdir "$work/consumer"

for program in "$work"/*/bin/eventspace "$work"/*/*/bin/eventspace; do
    [ -x "$program" ] || continue
    LD_LIBRARY_PATH=$libdir "$program" --help >/dev/null
    found=yes
done
[ "${found:-no}" = yes ] || {
    echo "the eventspace command is not installed"
    exit 1
}

if [ -n "$MPICC" ]; then
    profile=$(find "$work" -name eventspace.conf)
    grep -q -- "-L${libdir#"$work"} " "$profile"
    ls "$libdir/libeventspace-mpi.so" "$libdir/libeventspace-mpi.a"
fi
