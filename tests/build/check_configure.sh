#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_configure.sh - configure reports all missing libraries at once, with the
# packages that install-deps installs; it refuses a mixture of two MPIs.

set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/build" "$work/bin" "$work/empty"
cd "$work/build"
# configure refuses to build outside a configured source folder, so copy the files that
# it reads.
mkdir "$work/source"
(cd "$top_srcdir" && tar -cf - configure build-aux config.h.in include/eventspace/tuple.h) |
    tar -xf - -C "$work/source"

refuse() { # PATTERN... : configure must fail and print each
    if PATH=$path "$work/source/configure" "${options[@]}" >out 2>&1; then
        echo "configure accepted ${options[*]}"
        exit 1
    fi
    local pattern
    for pattern; do
        grep -qF -- "$pattern" out || {
            echo "configure ${options[*]} does not say '$pattern':"
            tail -n 15 out
            exit 1
        }
    done
}

unset MPICC MPIFC MPIEXEC PKG_CONFIG_PATH
path=$PATH
options=(PKG_CONFIG_LIBDIR="$work/empty" --with-mpi="$work/empty")
packages='libhwloc-dev libjansson-dev libssl-dev libpcre2-dev zlib1g-dev mpich libmpich-dev'
refuse 'hwloc >=' 'jansson >=' 'openssl >=' 'zlib >=' 'no mpicc' "apt-get install $packages"

listed=$("$top_srcdir/tools/install-deps" --list)
for package in $packages; do
    grep -qx "$package" <<<"$listed" || {
        echo "tools/install-deps does not install $package"
        exit 1
    }
done
if grep -i openmpi <<<"$listed"; then
    echo "tools/install-deps must leave Open MPI alone"
    exit 1
fi

# Debian's plain mpicc may be that of either MPI.
if mpicc=$(command -v mpicc.mpich || command -v mpicc) && ! "$mpicc" --showme >/dev/null 2>&1; then
    # The package of another MPI has replaced mpiexec, but not mpicc.
    ln -s "$(readlink -f "$mpicc")" "$work/bin/mpicc"
    printf '#!/bin/sh\necho "mpiexec (OpenRTE) 4.1.4"\n' >"$work/bin/mpiexec"
    chmod +x "$work/bin/mpiexec"
    path=$work/bin:$PATH
    options=(MPIFC= --with-mpi="$work/bin")
    refuse 'belong together... no' "$work/bin/mpicc is of" "$work/bin/mpiexec is of openmpi"
fi
