#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# endings.sh - programs that end badly or are started in unusual ways are collected to their
# end. If collecting is impossible, the program runs with one line on stderr.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"

# has PATTERN WHAT... - a line of the tuples (fields separated by tabs) matches.
has() {
    local pattern=$1
    shift
    grep -qP "$pattern" "$work/tuples"
    expect 0 "$*"
}

# lacks PATTERN WHAT... - no line matches.
lacks() {
    local pattern=$1
    shift
    grep -qP "$pattern" "$work/tuples"
    expect 1 "$*"
}

count() {
    grep -cP "$1" "$work/tuples"
}

# After a bad end, the last events of both ranks and their open operations can be read.
ends_badly() {
    local how=$1 open=$2
    observe 2 "$bin/endings" "$how" >"$work/out" 2>&1
    tuples >"$work/tuples"
    [ "$(count '^tuple\t[01]\t0\t.*\tMPI_Send\t')" -eq 20 ]
    expect 0 "$how: all sends are there"
    [ "$(count '^tuple\t[01]\t0\t.*\tMPI_Barrier\t')" -eq 2 ]
    expect 0 "$how: the last collective is there"
    has '^open\t1\t0\t.*\tMPI_Recv\t[0-9a-f]{32}\t0\t4711\t' "$how: rank 1 waits for rank 0"
    [ -z "$open" ] || has "^$aborting\t0\t0\t.*\t$open\t" "$how: rank 0 is in $open"
    lacks '^process\t.*\tfinalized\t' "$how: nobody has finalized"
}

# Whose MPI a program calls is found out once, not for each routine that it calls: that
# opens every library.
LD_DEBUG=symbols LD_DEBUG_OUTPUT=$work/looked_up observe 1 "$bin/endings" session >"$work/out"
grep -h 'symbol=ompi_mpi_comm_world;.*/libmpi[^/]*$' "$work"/looked_up.* |
    awk '{ n[$1 $NF]++ } END { for (one in n) if (n[one] > most) most = n[one]; print most + 0 }' \
        >"$work/most"
rm -f "$work"/looked_up.*
[ "$(cat "$work/most")" -gt 0 ] && [ "$(cat "$work/most")" -le 4 ]
expect 0 "the MPI is searched for once: $(cat "$work/most") look-ups"

# MPI_Abort of MPICH 4.2 returns, and the launcher kills the rank a moment later.
aborting=open
! "$MPIEXEC" --version | grep -Eq '^ *Version: +(4\.[2-9]|[5-9])' || aborting='(open|tuple)'
ends_badly abort MPI_Abort
has '^process\t0\t2\t\d+\taborted\t' 'abort: the state says so'
ends_badly exit ''
ends_badly segv ''
ends_badly kill ''

# The reader reports how the process ended.
observe 2 "$bin/endings" finalize >"$work/out"
tuples >"$work/tuples"
[ "$(count '^process\t[01]\t2\t\d+\tfinalized\t')" -eq 2 ]
expect 0 'both ranks have finalized'
has '^tuple\t1\t0\t.*\tMPI_Finalize\t' 'MPI_Finalize is the last event'

# Children inherit LD_PRELOAD without the collector, and their calls are not recorded.
after=:$(realpath -m "$work")/nonexistent.so
observe 2 "$bin/endings" fork >"$work/out" 2>/dev/null
after=
[ "$(grep -c "^preload=$runtime$shim:.*/nonexistent.so\$" "$work/out")" -eq 2 ]
expect 0 'children inherit LD_PRELOAD without us and as it was otherwise'
[ "$(grep -c '^child 0$' "$work/out")" -eq 2 ]
expect 0 'a forked child calls MPI without harm'
tuples >"$work/tuples"
[ "$(count '^process\t')" -eq 2 ]
expect 0 'children have no segments'
[ "$(count '^element\t.*\t[1-9]\d*\t\d+\t\w+$')" -eq 0 ]
expect 0 "the child's poll is not counted as its parent's"

# Without a launcher.
"$bin/tuples" --remove "$EVENTSPACE_RUN"
env LD_PRELOAD="$runtime$library" timeout 30 "$bin/endings" finalize >"$work/out" </dev/null
expect 0 'it runs without mpiexec'
tuples >"$work/tuples"
has '^process\t0\t1\t\d+\tfinalized\t' 'a singleton is rank 0 of 1'
[ "$(count '^tuple\t0\t0\t.*\tMPI_Send\t')" -eq 10 ]
expect 0 'its events are there'

# Preloaded by hand, without a name for the run: nothing is left after a good end. unnamed
# HOW - runs the program; sets $left to its segment if that is left.
unnamed() {
    local status
    # shellcheck disable=SC2016 # for the inner shell
    env -u EVENTSPACE_RUN sh -c 'echo $$ >"$1" && exec env LD_PRELOAD="$2" "$3" "$4"' \
        sh "$work/pid" "$runtime$library" "$bin/endings" "$1" >"$work/out" 2>&1 </dev/null
    status=$?
    left=$(compgen -G "/dev/shm/eventspace.job-*.0.$(cat "$work/pid")")
    return $status
}
unnamed finalize
expect 0 'it runs preloaded by hand'
[ -z "$left" ]
expect 0 "and leaves nothing: $left"
unnamed exit
expect 6 'one that exits before MPI_Finalize ends as it does'
[ -n "$left" ]
expect 0 'and leaves what it did'
rm -f "$left"

# A program that uses sessions only.
observe 2 "$bin/endings" session >"$work/out" 2>"$work/err"
if [ "$?" -eq 0 ]; then
    tuples >"$work/tuples"
    [ "$(count '^process\t[01]\t2\t\d+\tfinalized\t')" -eq 2 ]
    expect 0 'a program with sessions only is collected to its end'
    [ "$(grep -P '^tuple\t[01]\t0\t.*\tMPI_Barrier\t' "$work/tuples" | cut -f6 | sort -u |
        wc -l)" -eq 1 ]
    expect 0 'its communicator has one key'
else
    echo 'not checked: sessions do not work in this MPI'
fi

# MPI is loaded late and privately. Without the shim, which needs a visible UCX after it.
shim=
observe 2 "$bin/late_host" "$bin/late_module.so" >"$work/out"
expect 0 'MPI may be loaded late and privately'
tuples >"$work/tuples"
[ "$(count '^tuple\t[01]\t0\t.*\tMPI_Allreduce\t')" -eq 20 ]
expect 0 'its events are there'

# A receive of a thread that has ended is decided by another thread, and still recorded.
observe 1 "$bin/left_behind" >"$work/out"
if [ "$?" -ne 77 ]; then
    tuples >"$work/tuples"
    has '^tuple\t0\t0\t.*\tMPI_Irecv\t\w+\t0\t1\t0\t' "the main thread's receive is the first"
    has '^tuple\t0\t1\t.*\tMPI_Irecv\t\w+\t0\t1\t1\t' \
        'a receive is recorded although its thread has ended'
else
    echo 'not checked: this MPI has no MPI_THREAD_MULTIPLE'
fi

# --- Collecting is impossible --------------------------------------------------------------

# uncollected WHAT LINES - the last program ran to its end and printed LINES of our lines.
uncollected() {
    [ "$(grep -o over "$work/out" | wc -l)" -eq 2 ]
    expect 0 "$1: the program runs on"
    [ "$(grep -c '^eventspace: ' "$work/err")" -eq "$2" ]
    expect 0 "$1: there are $2 lines about it"
}

echo 'eventspace-plan 1
collector all clases=send
end' >"$work/plan"
EVENTSPACE_PLAN=$work/plan observe 2 "$bin/endings" finalize >"$work/out" 2>"$work/err"
uncollected 'a bad plan' 2
grep -q "plan:2:" "$work/err"
expect 0 'the line says where'
EVENTSPACE_PLAN=$work/none observe 2 "$bin/endings" finalize >"$work/out" 2>"$work/err"
uncollected 'no plan where it should be' 2
EVENTSPACE_RUN=bad/name observe 2 "$bin/endings" finalize >"$work/out" 2>"$work/err"
uncollected 'a bad name' 2
EVENTSPACE_DISABLE=1 observe 2 "$bin/endings" finalize >"$work/out" 2>"$work/err"
uncollected 'EVENTSPACE_DISABLE' 0
"$bin/tuples" "$EVENTSPACE_RUN" 2>/dev/null
expect 1 'then there is nothing'

# A file with the predicted name of the segment neither prevents collecting nor is changed.
# The program has the pid of the shell that creates the file.
trap_name() {
    printf '/dev/shm/eventspace.%s.%s.0.' "$EVENTSPACE_RUN" "$(uname -n)"
}
"$bin/tuples" --remove "$EVENTSPACE_RUN"
echo kept >"$work/target"
# shellcheck disable=SC2016 # for the inner shell
env -u PMI_RANK UCX_TLS=self sh -c 'ln -s "$3" "$1$$" && echo $$ >"$4" &&
    exec env LD_PRELOAD="$2" "$5" finalize' \
    sh "$(trap_name)" "$runtime$library" "$work/target" "$work/pid" "$bin/endings" \
    >"$work/out" 2>"$work/err" </dev/null
expect 0 'a link has the name of the segment: the program runs'
tuples >"$work/tuples"
has '^process\t0\t1\t\d+\tfinalized\t' 'and is collected'
grep -q "^eventspace: rank 0: the name of its segment .* is taken by user $(id -u)" "$work/err"
expect 0 'one line names the owner'
[ -L "$(trap_name)$(cat "$work/pid")" ] && [ "$(cat "$work/target")" = kept ]
expect 0 'link and target are as they were'
rm -f "$(trap_name)$(cat "$work/pid")"

# with_memory SIZE - runs the program in a mount namespace whose /dev/shm has this size.
with_memory() {
    unshare -rm sh -c "mount -t tmpfs -o size=$1 none /dev/shm && \
        env LD_PRELOAD=$runtime$library UCX_TLS=self timeout 30 $bin/endings finalize" \
        >"$work/out" 2>"$work/err" </dev/null
    expect 0 "shared memory of $1: the program runs on"
    [ "$(grep -c '^eventspace: ' "$work/err")" -eq 1 ]
    expect 0 "shared memory of $1: there is one line about it"
}

# ranks_with_memory SIZE [WORD...] - the same for four ranks, which exchange messages without
# UCX's own shared memory; WORDS change the environment. Returns the status.
ranks_with_memory() {
    local size=$1
    shift
    unshare -rm sh -c 'mount -t tmpfs -o "size=$0" none /dev/shm && exec "$@"' "$size" \
        timeout -k 5 60 "$MPIEXEC" -n 4 env UCX_TLS=sysv,self "$@" "$bin/endings" finalize \
        >"$work/out" 2>"$work/err" </dev/null
}

if unshare -rm mount -t tmpfs -o size=4k none /dev/shm 2>/dev/null; then
    with_memory 4k
    with_memory 380k
    grep -q 'not collecting: 380 KiB free in /dev/shm, of which 1024 KiB stay free' "$work/err"
    expect 0 'little shared memory is left to the program'
    with_memory 1200k
    grep -q 'too little space in /dev/shm: .* keeps [0-9]* tuples instead of' "$work/err"
    expect 0 'too little shared memory: elements keep less'
    for size in 100k 380k 1m 2m; do
        ranks_with_memory "$size"
        plain=$?
        ranks_with_memory "$size" LD_PRELOAD="$runtime$library:$shim"
        expect "$plain" "4 ranks and shared memory of $size end as without collection"
    done
else
    echo 'not checked: no mount namespace to be had, so no full /dev/shm'
fi
finish
