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

# The other library alone, by the example that comes with it.
# shellcheck disable=SC2046 # lists of options
$CC -std=gnu17 -Wall -Werror $(pkg-config --cflags eventspace-order) -o "$work/causes" \
    "$(find "$work" -name causes.c)" $(pkg-config --libs eventspace-order)
cat >"$work/set" <<'END'
{"format": "eventspace-events", "version": 1, "traces": ["P", "Q"]}
{"trace": 0, "index": 1, "kind": "send", "type": "A"}
{"trace": 0, "index": 2, "type": "B"}
{"trace": 1, "index": 1, "kind": "receive", "type": "B", "partners": [[0, 1]]}
END
echo 'A := ["", "A", ""]; B := ["", "B", ""]; Later := A --> B;' >"$work/patterns"
LD_LIBRARY_PATH=$libdir "$work/causes" "$work/set" P:2 Q:1 "$work/patterns" Later |
    LC_ALL=C sort |
    diff -u <(printf '%s\n' 'P:1 P:2' 'P:1 Q:1' 'P:2 concurrent Q:1') -

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
    command=$(find "$work" -path '*/bin/eventspace')
    programs=$("$command" demo --programs)
    [ "${programs#"$work"}" != "$programs" ] || {
        echo "the example programs are not those installed, but in $programs"
        exit 1
    }
    ls "$programs/windtunnel" "$programs/hang" "$programs/stencil2d" "$programs/ring"
    sh -n "$(find "$work" -path '*/share/eventspace/demo')"
    profile=$(find "$work" -name eventspace.conf)
    mpidir=$libdir/eventspace/$ES_MPI
    grep -q -- "-L${mpidir#"$work"} " "$profile"
    ls "$mpidir/libeventspace-mpi.so" "$mpidir/libeventspace-mpi.a"
    [ -z "$OPENMPI_MPICC" ] || ls "$libdir/eventspace/openmpi/libeventspace-mpi.so"
fi
