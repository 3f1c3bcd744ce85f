#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# sanitized.sh - a program that is built with a sanitizer runs under `run` and `exec` as it
# does alone: the sanitizer's runtime comes before our library. So does one that the user
# preloads. What does not build or run alone is left out.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"
use_commands

grep -q '^#define HAVE_LIBELF 1' "$top_builddir/config.h" || skip 'built without libelf'
unset ASAN_OPTIONS
# MPI keeps some memory until the end, and UCX's hooks crash under the thread sanitizer.
export ASAN_OPTIONS=detect_leaks=0 UCX_MEM_EVENTS=n TSAN_OPTIONS=report_bugs=0
launch=("$MPIEXEC" -n 2)

cat >"$work/program.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        const char *preload = getenv("LD_PRELOAD");
        printf("sum %d, for children <%s>\n", sum, preload ? preload : "");
    }
    MPI_Finalize();
    return 3;
}
END

# ended COMMAND... - its output in $work/out, its messages in $work/err; prints the status.
ended() {
    timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    echo $?
}

# same_as_alone WORDS COMMAND... - the command ends, and prints, as the program did alone.
same_as_alone() {
    local status
    status=$(ended "${@:2}")
    [ "$status" = 3 ] && cmp -s "$work/out" "$work/alone" || { cat "$work/out" "$work/err"; false; }
    expect 0 "$1: status 3 ($status), and the same output"
}

# is_recorded WORDS - the run that is left has both ranks' operation.
is_recorded() {
    local run
    run=$("$eventspace" list --format json | sed -n 's/.*"run": *"\([^"]*\)".*/\1/p' | head -n 1)
    [ "$("$eventspace" events "$run" | grep -c MPI_Allreduce)" = 2 ]
    expect 0 "$1: both ranks are recorded"
    "$eventspace" clean --all >/dev/null
}

# compare WORDS COMPILER FLAGS... - for a program that is built so.
compare() {
    local words=$1 compiler=$2
    MPICH_CC=$compiler OMPI_CC=$compiler $MPICC -g "${@:3}" -o "$work/program" \
        "$work/program.c" 2>"$work/err" || { echo "left out: $words does not build"; return; }
    if [ "$(ended "${launch[@]}" "$work/program")" != 3 ]; then
        echo "left out: $words does not run alone"
        return
    fi
    mv "$work/out" "$work/alone"
    same_as_alone "$words, run" "$eventspace" run --keep -n 2 -- "$work/program"
    is_recorded "$words, run"
    same_as_alone "$words, exec" "${launch[@]}" "$eventspace" exec --keep -- "$work/program"
    is_recorded "$words, exec"
    "$eventspace" doctor "$work/program" >"$work/out"
    if readelf -d "$work/program" | grep -q 'NEEDED.*\(asan\|tsan\)'; then
        grep -q 'the runtime of a sanitizer' "$work/out"
        expect 0 "$words: doctor tells of the runtime"
    fi
    compared=$((compared + 1))
}

compared=0
for kind in address thread undefined; do
    compare "gcc, $kind" gcc -fsanitize=$kind
done
compare 'clang, address' clang -fsanitize=address
shared=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null)
compare 'clang, address, shared' clang -fsanitize=address -shared-libsan \
    "-Wl,-rpath,$(dirname "$shared")"
[ $compared -gt 0 ] || skip 'no sanitized program runs alone'

# Ours comes behind a runtime that the user preloads.
runtime=$(basename "$(readlink -f "$(gcc -print-file-name=libasan.so)")")
$MPICC -o "$work/program" "$work/program.c"
if [ "$(LD_PRELOAD=$runtime ended "${launch[@]}" "$work/program")" = 3 ] &&
    [ ! -s "$work/err" ]; then
    mv "$work/out" "$work/alone"
    export LD_PRELOAD=$runtime
    same_as_alone 'preloaded by the user, exec' "${launch[@]}" "$eventspace" exec --keep -- \
        "$work/program"
    unset LD_PRELOAD
    is_recorded 'preloaded by the user, exec'
fi
finish
