#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_install_deps.sh - tools/install-deps on simulated systems: scripts replace
# dpkg-query, apt-get, apt-cache, id and sudo; nothing is installed.

set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/bin
mkdir "$bin"
for tool in sh cat grep env printf dirname; do
    ln -s "$(command -v $tool)" "$bin/$tool"
done

stand_in() { # NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# Runs install-deps in the simulated system; writes its output to out and calls of
# apt-get to log.
run() { # EXPECTED-STATUS ARGUMENT...
    local expected=$1 status=0
    shift
    : >"$work/log"
    PATH=$bin LOG=$work/log /bin/sh "$top_srcdir/tools/install-deps" "$@" \
        >"$work/out" 2>&1 </dev/null || status=$?
    [ $status -eq "$expected" ] || {
        echo "install-deps $* ended with $status, not $expected:"
        cat "$work/out" "$work/log"
        exit 1
    }
}

says() { # FILE PATTERN
    grep -qE -- "$2" "$work/$1" || {
        echo "'$2' is not in what install-deps wrote to $1:"
        cat "$work/$1"
        exit 1
    }
}

# Without apt-get, the needed packages are printed.
run 2
says out 'libhwloc-dev'

# On a complete Debian nothing is called or printed.
stand_in id 'echo 0'
stand_in ls 'exit 1'
stand_in apt-cache 'exit 0'
stand_in apt-get 'echo "apt-get $*" >>"$LOG"; case "$*" in *-s*) echo "$PLAN" ;; esac'
stand_in dpkg-query 'echo "install ok installed"'
run 0
[ ! -s "$work/log" ]
[ ! -s "$work/out" ]

# hwloc is missing: the package list is updated first, and only hwloc is installed.
stand_in dpkg-query 'case "$*" in *hwloc*) exit 1 ;; esac; echo "install ok installed"'
run 0 --dry-run
[ "$(cat "$work/out")" = libhwloc-dev ]
[ ! -s "$work/log" ]
PLAN='Inst libhwloc-dev (2.9)' run 0
says log 'apt-get .* update$'
says log 'apt-get .* -y .*install --no-install-recommends libhwloc-dev$'
[ "$(sed -n 1p "$work/log" | grep -c update)" = 1 ]

# An installation that would install Open MPI is refused.
PLAN='Inst libopenmpi-dev (4.1)' run 1
says out 'Open MPI'
if grep -E -- '-y .*install ' "$work/log"; then
    echo "it was installed all the same"
    exit 1
fi

# Without root and sudo the command is printed; with sudo it is run.
stand_in id 'echo 1000'
run 1
says out 'apt-get install libhwloc-dev'
[ ! -s "$work/log" ]
stand_in sudo 'echo "sudo $*" >>"$LOG"; shift; exec "$@"'
PLAN='' run 0
says log '^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .*install'
