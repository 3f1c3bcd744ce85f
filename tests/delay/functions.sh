# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - helpers of the drivers in this folder, in addition to
# tests/cli/functions.sh: they record programs and check the analysis.

. "${top_srcdir:?not set}/tests/cli/functions.sh"
need_mpi

here=$top_srcdir/tests/delay

clean_runs()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    "$eventspace" clean --all >/dev/null 2>&1
    clear_up
}
trap clean_runs EXIT

# record NAME RANKS PROGRAM... : records the program; its output is in $folder/NAME, the
# archive in $folder/NAME.rec.
record()
{
    local name=$1 ranks=$2
    shift 2
    rm -rf "$folder/$name.rec"
    timeout -k 5 100 "$eventspace" run -n "$ranks" --name "$prefix-$name" \
        --record "$folder/$name.rec" -- "$@" \
        >"$folder/$name" 2>"$folder/err" </dev/null ||
        fault "$name: $(cat "$folder/$name" "$folder/err")"
}

# truth WHAT NAME ARGUMENT... : runs planted.py on the last analysis.
truth()
{
    local what=$1 name=$2
    shift 2
    echo "$name:"
    "${PYTHON:-python3}" "$here/planted.py" "$what" "$folder/out" "$@" ||
        fault "$name: $(tail -n 20 "$folder/out")"
}

# one_of_three COMMAND... : runs a command that records a program and checks it. Other
# load on the machine delays ranks, too, and then is a cause: one of three recordings
# has to pass.
one_of_three()
{
    local before=$faults times
    for times in 1 2 3; do
        faults=$before
        "$@"
        [ "$faults" -gt "$before" ] || return 0
        echo "recording $times of 3 of $2"
    done
}
