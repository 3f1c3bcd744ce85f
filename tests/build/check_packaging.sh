#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_packaging.sh - the files for packagers agree with the project: the versions are
# the same, each installed file is in one Debian package, the module file sets only
# paths of EventSpace, the Spack recipe agrees with configure, and the package build
# runs no MPI programs.

set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0

fault() {
    echo "fault: $*"
    faults=$((faults + 1))
}

version=$(sed -n 's/^AC_INIT(\[eventspace\], \[\(.*\)\])/\1/p' "$top_srcdir/configure.ac")
grep -q "^eventspace ($version-" "$top_srcdir/debian/changelog" ||
    fault "debian/changelog is not of version $version"
grep -q "version(\"$version\"" "$top_srcdir/packaging/spack/package.py" ||
    fault "packaging/spack/package.py is not of version $version"
grep -q "^## $version" "$top_srcdir/CHANGELOG.md" || fault "CHANGELOG.md is not of version $version"

# The recipe and configure have the same switches, libraries and tools.
"$top_srcdir/configure" --help |
    "$PYTHON" "${0%/*}/spack_recipe.py" "$top_srcdir/packaging/spack/package.py" \
        "$top_srcdir/configure.ac" || fault "package.py and configure.ac differ"

# The Debian build runs the unit tests only. Debhelper creates a folder even if it only
# prints commands.
if command -v dh_auto_build >/dev/null; then
    mkdir -p "$work/package/tests"
    cp -r "$top_srcdir/debian" "$work/package"
    touch "$work/package/tests/Makefile"
    env -u MAKEFLAGS -u MFLAGS DH_NO_ACT=1 DH_VERBOSE=1 make -s -C "$work/package" \
        -f debian/rules override_dh_auto_test >"$work/said" 2>&1
    grep -q ' check-units$' "$work/said" && ! grep -q ' check ' "$work/said" ||
        fault "debian/rules tests with: $(cat "$work/said")"
fi

# Both module systems, if they are installed.
load_module() { # COMMAND... - loads it, prints settings as Python assignments
    mkdir -p "$work/modules/eventspace"
    cp "$top_srcdir/packaging/modules/eventspace" "$work/modules/eventspace/$version"
    MODULEPATH=$work/modules "$@" python load "eventspace/$version"
}
for system in /usr/lib/*/modulecmd.tcl /usr/share/modules/libexec/modulecmd.tcl \
    /usr/share/lmod/lmod/libexec/lmod; do
    [ -e "$system" ] || continue
    tool=
    [ "${system##*.}" != tcl ] || tool=tclsh
    load_module $tool "$system" >"$work/set" 2>&1
    grep -q '/opt/eventspace/bin' "$work/set" || fault "$system: $(cat "$work/set")"
    ! grep -q LD_PRELOAD "$work/set" || fault "the module file sets LD_PRELOAD"
    echo "loaded by $system"
done
[ $faults -eq 0 ] && echo "all as expected"
exit $((faults > 0))
