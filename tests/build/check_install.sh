#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_install.sh - the installed files are complete and work in another folder than
# the configured one (see installed.sh). Example programs are installed, and the MPI
# profile contains the right folder.

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

# The libraries are in another folder than the configured one.
command=$(find "$work" -path '*/bin/eventspace')
export LD_LIBRARY_PATH=$libdir
"$top_srcdir/tests/build/installed.sh" "$command"

if [ -n "$MPICC" ]; then
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
