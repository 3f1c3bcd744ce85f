#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_widths.sh - what commands print fits the terminal: texts are cut, the least
# important columns are left out and named, sentences go on in the next line.

. "${0%/*}/functions.sh"
run=$prefix-widths
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES
terminal=("${PYTHON:-python3}" "$top_srcdir/tests/cli/terminal.py")

end_all()
{
    # shellcheck disable=SC2046 # a list of pids
    kill $(jobs -p) 2>/dev/null
    clear_up
}
trap end_all EXIT

# lines_fit COLUMNS COMMAND... : the lines of out; colours take no place.
lines_fit()
{
    "${PYTHON:-python3}" - "$1" "$folder/out" >"$folder/wide" <<'END'
import re, sys
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
wide = [l for l in lines if len(re.sub(r"\033\[[0-9;]*m", "", l)) > int(sys.argv[1])]
print("\n".join(wide), end="")
END
    [ ! -s "$folder/wide" ] ||
        fault "${*:2} has lines of more than $1 columns: $(cat "$folder/wide")"
}

# fits STATUS "TITLE..." COMMAND... : on terminals, and in files by COLUMNS; these columns
# are always there.
fits()
{
    local wanted=$1 titles=$2 columns title
    shift 2
    for columns in 60 80 120; do
        expect "$wanted" "${terminal[@]}" "$columns" "$eventspace" "$@"
        lines_fit "$columns" "$@"
        for title in $titles; do
            contains out "$title"
        done
        COLUMNS=$columns expect "$wanted" "$eventspace" "$@"
        lines_fit "$columns" "$@"
        [ ! -s "$folder/err" ] || fault "$* says more into a file: $(cat "$folder/err")"
    done
}

"$helpers/make_segments" "$run" 3 50 live >"$folder/maker" &
await 60 grep -q ready "$folder/maker"
"$top_builddir/cli/eventspaced" --run "$run" --foreground >"$folder/server" 2>&1 &
await 60 "$eventspace" scope list "$run"
"$eventspace" heartbeat --interval 0.1 "$run" >"$folder/heartbeat" 2>&1 &
is_there()
{
    "$eventspace" scope list "$run" | grep -q heartbeat
}
await 60 is_there || fault "no scope: $(cat "$folder/server")"

fits 0 "RUN STATE" list
fits 0 "THREAD LASTED OPERATION MPI_" events "$run"
fits 0 "RANK STATE ELEMENT" list --elements "$run"
fits 0 "THREAD VERDICT DOING" heartbeat --once "$run"
fits 0 "SCOPE PULLS/S LOST" scope list "$run"
fits 0 "set: default: shape=" scope show --all heartbeat "$run"

# What patterns mean is told in full.
fits 0 "PATTERN MEANING" search --list -p "$top_srcdir/share/patterns/mpi.pattern"
expect 0 "${terminal[@]}" 60 "$eventspace" search --list -p "$top_srcdir/share/patterns/mpi.pattern"
lacks out "~"

# What is left out is named on a terminal; all of it can be had.
expect 0 "${terminal[@]}" 60 "$eventspace" list --elements "$run"
contains out " left out"
expect 0 "${terminal[@]}" 60 "$eventspace" list --elements --wide "$run"
contains out "THRESHOLD"
! grep -q "left out" "$folder/out" || fault "columns are left out in spite of --wide"
expect 0 "$eventspace" list --elements "$run"
contains out "THRESHOLD"

[ -n "${MPIEXEC:-}" ] && [ -z "${ES_SANITIZERS:-}" ] || finish
need_mpi
timeout -k 5 60 "$eventspace" run -n 4 --name "$prefix-reduce" --keep -- \
    "$top_builddir/apps/imbalance" --operation reduce --ranks-late 2 --iterations 20 \
    >"$folder/program" 2>&1 </dev/null || fault "imbalance: $(cat "$folder/program")"
fits 0 "OPERATION SPREAD TREE LOST" collectives --once "$prefix-reduce"
expect 0 "${terminal[@]}" 80 "$eventspace" collectives --once "$prefix-reduce"
contains out "P95, MAX"
COLUMNS=60 expect 0 "$eventspace" collectives --once --wide "$prefix-reduce"
contains out "P95"
contains out "LOST %"

finish
