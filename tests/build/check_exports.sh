#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_exports.sh - the libraries export exactly the symbols that they should.
# exports.txt lists those of libeventspace; the test prints all differences.

set -eu

if [ -n "$ES_SANITIZERS" ]; then
    echo "skipped: sanitizers add symbols of their own"
    exit 77
fi

failed=0
exported() {
    # shellcheck disable=SC2086 # libtool's nm comes with an option
    $NM -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort
}

library=$top_builddir/.libs/libeventspace.so
LC_ALL=C exported "$library" >exports.found
grep -v '^#' "$top_srcdir/tests/build/exports.txt" | LC_ALL=C sort | diff -u - exports.found || {
    echo "libeventspace.so (+) differs from tests/build/exports.txt (-)."
    echo "If that is wanted: make -C tests update-exports"
    failed=1
}

# Each is declared in an installed header.
while read -r name; do
    grep -qw "$name" "$top_srcdir"/include/eventspace/*.h || {
        echo "$name is exported, but no installed header tells of it"
        failed=1
    }
done <exports.found
rm -f exports.found

# libeventspace-order exports exactly the functions of its headers, with its first
# version.
MOST=40
order=$top_builddir/monitors/library/.libs/libeventspace-order.so
exported "$order" | sed 's/@@EVENTSPACE_ORDER_1\.0$//' | LC_ALL=C sort >exports.found
(cd "$top_srcdir/include/eventspace" && cat event.h event_set.h order.h pattern.h search.h) |
    sed -n '/^ES_API/s/.*\b\(es_[a-z_]*\)(.*/\1/p' | LC_ALL=C sort |
    diff -u - exports.found || {
    echo "libeventspace-order.so (+) differs from its headers (-)."
    echo "If that is wanted: monitors/library/eventspace-order.map"
    failed=1
}
[ "$(wc -l <exports.found)" -le $MOST ] || {
    echo "libeventspace-order.so exports more than $MOST functions"
    failed=1
}
rm -f exports.found
for name in ssl crypto hwloc; do
    ! readelf -d "$order" | grep -q "NEEDED.*lib$name\." || {
        echo "libeventspace-order.so needs lib$name: an object too many is in it"
        failed=1
    }
done

# Monitors, order and search belong to the commands: the library has none of their code.
monitors=$($NM "$library" | grep -cE ' [tT] esi?_(order|search|causality|collectives|heartbeat)_') || true
[ "$monitors" = 0 ] || {
    echo "libeventspace.so has $monitors functions of monitors/"
    failed=1
}
# With that code it had 1,250,000 bytes.
MOST_BYTES=1000000
bytes=$(size "$library" | awk 'NR == 2 { print $1 }')
[ "$bytes" -le $MOST_BYTES ] || {
    echo "libeventspace.so has $bytes bytes of code and constants, more than $MOST_BYTES"
    failed=1
}

preload=$top_builddir/wrappers/mpi/.libs/libeventspace-mpi.so
if [ -n "$MPICC" ]; then
    names=$(exported "$preload")
    for name in MPI_Init PMPI_Init MPI_Send PMPI_Waitall MPI_Finalize; do
        grep -qx "$name" <<<"$names" || {
            echo "libeventspace-mpi.so does not interpose $name"
            failed=1
        }
    done
    foreign=$(grep -Ev '^(P?MPIX?_|p?mpi_)' <<<"$names" || true)
    [ -z "$foreign" ] || {
        echo "libeventspace-mpi.so shows the program names that are not MPI's:" $foreign
        failed=1
    }
    # The observed program has its own MPI library; ours must not load its other
    # libraries.
    needed=$(readelf -d "$preload" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    for name in $needed; do
        case $name in
        libc.so.* | ld-linux* | libpthread.so.* | librt.so.* | libdl.so.* | libgcc_s.so.*) ;;
        *)
            echo "libeventspace-mpi.so needs $name"
            failed=1
            ;;
        esac
    done
fi

# The lowest layers are parts of libraries that are linked without libm. Unoptimized code
# calls its functions where optimized code has instructions.
object=$(mktemp)
libm=$(ldconfig -p 2>/dev/null | sed -n 's/.*libm\.so\.6.* => //p' | head -n 1)
for source in $(grep -l '<math.h>' "$top_srcdir"/base/*.c "$top_srcdir"/tuplespace/*.c); do
    [ -n "$libm" ] || break
    ${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O0 -DHAVE_CONFIG_H -I"$top_builddir" \
        -I"$top_srcdir" -I"$top_srcdir/include" -c "$source" -o "$object" || failed=1
    called=$(comm -12 <(nm -u "$object" | sed 's/.* U //' | sort -u) \
        <(nm -D --defined-only "$libm" | sed 's/.* . //; s/@.*//' | sort -u))
    [ -z "$called" ] || {
        echo "$source: without optimization it calls functions of libm:" $called
        failed=1
    }
done
rm -f "$object"
exit $failed
