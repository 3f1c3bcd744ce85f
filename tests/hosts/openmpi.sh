#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# openmpi.sh - Open MPI's launcher, mpiexec, over two hosts; other drivers use Hydra. A run,
# a hang, a killed rank, a recording, and ranks without `eventspace run`.

. "${top_srcdir:?not set}/tests/checks.sh"
[ -n "${OPENMPI_MPIEXEC:-}" ] || skip 'configure has found no Open MPI'
. "$top_srcdir/tests/hosts/functions.sh"

for program in hang ring; do
    OMPI_CC=$CC "$OPENMPI_MPICC" -g -D_GNU_SOURCE -I"$top_srcdir" -I"$top_srcdir/apps" \
        -o $work/$program "$top_srcdir/apps/$program.c" "$top_srcdir/apps/options.c" -lm ||
        skip "$OPENMPI_MPICC cannot compile $program"
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Open MPI 5 has another launcher, with names of its own.
export OMPI_MCA_plm_rsh_agent=$here/launch.sh PRTE_MCA_plm_ssh_agent=$here/launch.sh
export OMPI_MCA_mpi_yield_when_idle=1
launcher=$OPENMPI_MPIEXEC

# sees PATTERN COMMAND [ARGUMENT...] - runs the command on the launcher's host and searches
# its output.
sees() {
    local pattern=$1
    shift
    on front 20 "$eventspace" "$@" >$work/seen 2>&1
    grep -q "$pattern" $work/seen
}

hosts up
place a0:2 a1
sed -i 's/:/ slots=/' $work/machines # as Open MPI's launcher reads it

# Without --launcher the one of the program's MPI library is used.
on front 60 "$eventspace" run --name ring --hostfile $work/machines -- $work/ring >$work/out
expect 0 'a run over two hosts'
check 'its ranks are one program' grep -q 'over 3 ranks correct' $work/out
check_nothing_left

start_run hang --keep -- $work/hang receive-cycle
await 20 sees '^DEADLOCK (certain)' why hang || cat $work/seen
for rank in 0 1 2; do
    grep -q "rank $rank waits in MPI_Recv .* hang.c:" $work/seen
    expect 0 "why names rank $rank and its line"
done
sees ' a0 .*MPI_Recv' heartbeat --once hang && grep -q ' a1 .*MPI_Recv' $work/seen
expect 0 'heartbeat shows both hosts'
hosts exec a1 pkill -9 -x hang
ended job
expect 137 'a rank that is killed ends the run'
sees ' 2\.0 .*a1 .*killed by signal 9' heartbeat --once hang
expect 0 'heartbeat says how it ended'
on front 20 "$eventspace" clean hang
check_nothing_left

collected 60 recorded --record $work/archive --on-full=block -- $work/ring >$work/out
expect 0 'a recorded run'
on front 20 "$eventspace" export $work/archive --to csv -o $work/events.csv
for rank in 0 1 2; do
    check "all sends of rank $rank are recorded" \
        test "$(grep -c "^$rank,.*,MPI_Send,.*,send," $work/events.csv)" -ge 1000
done
check_nothing_left

# The ranks of both hosts derive the same run name; each host has a part of the run.
plain 60 "$eventspace" exec --keep -- $work/ring >$work/out
expect 0 'ranks without eventspace run'
for host in a0 a1; do
    on $host 20 "$eventspace" list --format json >$work/list.$host
    on $host 20 "$eventspace" clean --all
done
check 'they are one run' diff <(grep -o '"run":"[^"]*"' $work/list.a0) \
    <(grep -o '"run":"job-[^"]*"' $work/list.a1)
check_nothing_left
finish
