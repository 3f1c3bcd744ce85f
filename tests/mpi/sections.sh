#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# sections.sh - several programs in one world, separated by ':' as for the launcher: all are
# collected; ranks that are not seen are named, and it is said why nothing is recorded.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"
use_commands
run=sections-$$

ring="$apps/ring --rounds 2"
# shellcheck disable=SC2086 # words
try "$eventspace" run -n 2 --quiet --record "$work/archive" --keep --name $run -- \
    $ring : -n 1 -wdir / $ring : -n 1 $ring
expect 0 "three sections run"
said 'over 4 ranks correct'
expect 0 "they are one world"
! said 'recorded in' >/dev/null
expect 0 "--quiet: a recording that went well is not summed up"
try "$eventspace" list $run
said "run $run: 4 processes"
expect 0 "each section is recorded"
! said 'ranks are seen' >/dev/null
expect 0 "no rank is missed"

# Nor those of which `exec` knows the start only: they have left MPI_Init with the others.
absent='only 1 of 3 ranks are seen here: rank 1 and 1 other have not called MPI under EventSpace'
for unseen in EVENTSPACE_DISABLE=1 --unset=LD_PRELOAD; do
    # shellcheck disable=SC2086 # words
    try "$eventspace" run -n 1 --keep --name $run-part -- $ring : -n 2 env $unseen $ring
    said "$absent"
    expect 0 "run, $unseen: ranks that are not seen are named"
    for command in list why; do
        try "$eventspace" $command $run-part
        said "$absent" && ! said 'first MPI call' >/dev/null
        expect 0 "$command, $unseen: ranks that are not seen are named"
    done
    "$eventspace" clean $run-part >/dev/null
done

# shellcheck disable=SC2086 # words
EVENTSPACE_RUN=$run-exec try "$MPIEXEC" -n 1 "$eventspace" exec -- $ring : \
    -n 1 "$eventspace" exec -- $ring
expect 0 "sections of the launcher alone"
try "$eventspace" list $run-exec
said "run $run-exec: 2 processes"
expect 0 "each is recorded by its own exec"

# shellcheck disable=SC2086 # words
try "$eventspace" run -n 1 --name $run-unknown -- $ring : -no-such-option $ring
said "not collecting the program after ':': option '-no-such-option' is not known"
expect 0 "an unknown option of a section is named"

# says TEXT COMMAND... - starts a program for longer and longer until the run's processes
# have been looked at meanwhile; it must end well, without a trace.
says() {
    local seconds
    for seconds in 0 1 2 4 8 16; do
        ES_SECONDS=$seconds try "$eventspace" run -n 1 --name $run-none "${@:2}" || return
        said "nothing was recorded: $1" >/dev/null && break
    done
    said "nothing was recorded: $1" && [ ! -e "$EVENTSPACE_DIR/$run-none" ]
}
late=("$bin/late_host" "$bin/late_module.so" handle)
# shellcheck disable=SC2016 # of the program
seconds='"$@" "$ES_SECONDS"'

says 'late_host loaded MPI, but no call was seen: it made none, or takes MPI'"'"'s routines by dlsym()' \
    sh -c "$seconds" sh "${late[@]}"
expect 0 "routines from a handle"
says 'late_host used MPI without the library that records: its environment was cleared' \
    sh -c "env -i \"PATH=\$PATH\" $seconds" sh "${late[@]}"
expect 0 "a cleared environment"
says "late_host used MPI without the library that records: LD_PRELOAD is '$shim' and does not" \
    sh -c "export LD_PRELOAD=$shim; $seconds; exit \$?" sh "${late[@]}"
expect 0 "LD_PRELOAD set anew for a child of a script"
says 'late_host used MPI without the library that records: LD_PRELOAD does not name it' \
    env -u LD_PRELOAD sh -c "$seconds" sh "${late[@]}"
expect 0 "LD_PRELOAD unset"
EVENTSPACE_DISABLE=1 says 'late_host used MPI without the library that records: EVENTSPACE_DISABLE' \
    sh -c "$seconds" sh "${late[@]}"
expect 0 "collecting switched off"
# shellcheck disable=SC2086 # words
try "$eventspace" run -n 1 --name $run-seen -- $ring
! said 'nothing was recorded' >/dev/null
expect 0 "nothing of that for a program that is recorded"

# For other launchers it is an argument.
try "$eventspace" run -n 1 --name $run-other --launcher \
    "$top_srcdir/tests/cli/local_launcher.sh" -- sh -c 'echo "$@"' - one : -n 1 two
said 'one : -n 1 two'
expect 0 "the argument ':' of a program"
finish
