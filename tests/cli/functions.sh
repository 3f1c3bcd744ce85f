# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - what the drivers of tests/cli share; to be sourced.
# shellcheck shell=bash disable=SC2034

set -u
: "${top_srcdir:?}" "${top_builddir:?}"
. "$top_srcdir/tests/await.sh"

eventspace=$top_builddir/cli/eventspace
helpers=$top_builddir/tests/cli
folder=$(mktemp -d) || exit 1
faults=0
# Segments have the host's one folder: names must be nobody else's.
prefix=cli-$$

# Nothing of ours may meet the user's own runs.
EVENTSPACE_DIR=$folder/runs
export EVENTSPACE_DIR
unset EVENTSPACE_RUN EVENTSPACE_RUN_DIR EVENTSPACE_PLAN EVENTSPACE_RANK EVENTSPACE_DISABLE
unset EVENTSPACE_PRELOAD EVENTSPACE_LAUNCHER EVENTSPACE_TREES COLUMNS

# make_run_folder FOLDER/RUN : as a user may do it by hand.
make_run_folder()
{
    (umask 077 && mkdir -p "$1" && echo "eventspace-run 1 ${1##*/}" >"$1/eventspace-run")
}

clear_up()
{
    local run
    for run in /dev/shm/eventspace."$prefix"*; do
        [ -e "$run" ] && rm -f "$run"
    done
    rm -rf "$folder"
}
trap clear_up EXIT

fault()
{
    echo "fault: $*"
    faults=$((faults + 1))
}

# expect STATUS COMMAND... : runs it for at most 60 s, output in $folder/out and err.
expect()
{
    local wanted=$1 status
    shift
    timeout -k 5 60 "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    [ "$status" -eq "$wanted" ] ||
        fault "$* ended with $status, not $wanted: $(cat "$folder/out" "$folder/err")"
}

# contains out|err TEXT
contains()
{
    grep -qF -- "$2" "$folder/$1" || fault "no \"$2\" in $1: $(cat "$folder/$1")"
}

lacks()
{
    ! grep -qF -- "$2" "$folder/$1" || fault "\"$2\" in $1: $(cat "$folder/$1")"
}

is_empty()
{
    [ ! -s "$folder/$1" ] || fault "$1 should be empty: $(cat "$folder/$1")"
}

# Each line of out is a JSON object for which the Python expression in $1 (of `o`) holds.
json_lines_hold()
{
    "${PYTHON:-python3}" - "$1" "$folder/out" <<'END' || fault "JSON Lines: not $1: $(cat "$folder/out")"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
sys.exit(not (lines and all(eval(sys.argv[1], {"o": o}) for o in lines)))
END
}

finish()
{
    [ "$faults" -eq 0 ] && echo "all as expected"
    exit $((faults > 0))
}

# Sanitized libraries cannot be preloaded into programs that are not: a library that
# only leaves a mark takes the collector's place where no MPI is involved.
use_marker()
{
    EVENTSPACE_PRELOAD=$helpers/.libs/libmarker.so
    export EVENTSPACE_PRELOAD
    [ -r "$EVENTSPACE_PRELOAD" ] || { echo "there is no $EVENTSPACE_PRELOAD"; exit 1; }
}

# The collector itself, in real MPI programs.
need_mpi()
{
    [ -n "${MPIEXEC:-}" ] && [ -r "$top_builddir/wrappers/mpi/.libs/libeventspace-mpi.so" ] || {
        echo "built without an MPI"
        exit 77
    }
    [ -z "${ES_SANITIZERS:-}" ] || {
        echo "a sanitized collector cannot be preloaded into the example programs"
        exit 77
    }
    # Ranks poll while they wait: ours give way, and take naps. What has to start as a
    # user starts it unsets the variable.
    launcher=$MPIEXEC
    ! "$MPIEXEC" --version 2>/dev/null | grep -qi hydra ||
        launcher="$MPIEXEC -genv LD_PRELOAD $top_builddir/tests/apps/.libs/yield_shim.so"
    export EVENTSPACE_LAUNCHER="$launcher" ES_YIELD_NAP=1
}
