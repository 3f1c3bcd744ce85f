#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# slurm.sh - jobs of a real Slurm: slurmctld on front, a slurmd on a0 and one on a1.
#
# On machines with cgroups of version 1 Slurm uses them to kill the processes that a step
# leaves, as on clusters; elsewhere it follows the process tree, and daemons escape.

. "${top_srcdir:?not set}/tests/checks.sh"
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun sbatch scancel squeue sinfo; do
    command -v $program >/dev/null || skip "Slurm is not installed: there is no $program"
done
[ "$(id -u)" = 0 ] || skip 'only root can run slurmd'
. "$top_srcdir/tests/hosts/functions.sh"

slurm=$work/slurm
cluster=t$RANDOM$RANDOM # cgroups are shared with the machine and named after the nodes
freezer=/sys/fs/cgroup/freezer
tracking=linuxproc
[ ! -w $freezer/cgroup.procs ] || tracking=cgroup
mkdir -p $slurm/state $slurm/spool.$cluster-a0 $slurm/spool.$cluster-a1
cat >$slurm/slurm.conf <<END
ClusterName=$cluster
SlurmctldHost=front
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/$tracking
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
KillWait=10
Epilog=$slurm/epilog
MpiDefault=none
NodeName=$cluster-a0 NodeHostname=a0 NodeAddr=a0 CPUs=2
NodeName=$cluster-a1 NodeHostname=a1 NodeAddr=a1 CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
END
printf 'CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n' >$slurm/cgroup.conf
sed "s,^eventspace=.*,eventspace=$eventspace," "$top_srcdir/docs/examples/epilog.slurm" \
    >$slurm/epilog
chmod 755 $slurm/epilog
export SLURM_CONF=$slurm/slurm.conf

# Cgroups belong to the machine and do not disappear with the world.
cgroups_are_gone() {
    find $freezer -depth -path "*/slurm_$cluster-*" -type d -exec rmdir {} +
    ! ls -d $freezer/slurm_$cluster-*
}
end_slurm() {
    local host
    for host in a0 a1; do
        hosts kill $host
    done
    await 5 cgroups_are_gone
} >/dev/null 2>&1
trap end_slurm EXIT

is_up() {
    [ "$(on front 5 sinfo -h -o '%t %D')" = 'idle 2' ]
}

hosts up
begin slurmctld front slurmctld -D
for host in a0 a1; do begin slurmd.$host $host slurmd -D -N $cluster-$host; done
await 20 is_up || { tail $slurm/*.log; fault 'Slurm does not start'; finish; }
echo "ok: Slurm is up, and tracks processes by $tracking"

# step N COMMAND... - runs N tasks on both nodes, for MPICH.
step() {
    local tasks=$1
    shift
    on front 60 srun --mpi=pmi2 -N 2 -n "$tasks" --export=ALL,LD_PRELOAD="$shims" "$@"
}

# submit COMMAND... - submits a batch job on both nodes; sets `job`, and `out` to its
# output.
submit() {
    { echo '#!/bin/sh'; printf "'%s' " "$@"; } >$work/script
    job=$(on front 10 sbatch --parsable -N 2 -n 2 -o $work/job.%j $work/script)
    out=$work/job.$job
}

has_ended() {
    [ -z "$(on front 5 squeue -h)" ]
}

# run_of_job - sets `run` to the run of the job, as listed on the node of the batch script.
run_of_job() {
    run=$(on a0 10 "$eventspace" list --format json |
        sed -n "s/.*\"run\":\"\($job\.[^\"]*\)\".*/\1/p")
    [ -n "$run" ]
}

# preloaded HOST - lists programs on the host that have loaded the collector.
preloaded() {
    # shellcheck disable=SC2016 # for the inner shell
    hosts exec "$1" sh -c 'for maps in $(grep -ls libeventspace-mpi /proc/[0-9]*/maps); do
        readlink "${maps%maps}exe"; done' | sort -u
}

# hangs - `why` on the node of the batch script reports both ranks.
hangs() {
    run_of_job && on a0 20 "$eventspace" why "$run" >$work/why 2>&1
    grep -q 'rank 0' $work/why && grep -q 'rank 1' $work/why
}

srun=(srun --mpi=pmi2 "--export=ALL,LD_PRELOAD=$shims")

# A step without `eventspace run`: nothing stays behind.
step 2 "$eventspace" exec -- "$apps/ring" >$work/out 2>&1
expect 0 'srun eventspace exec'
check 'its ranks are one program' grep -q 'over 2 ranks correct' $work/out
check_nothing_left

# Two hangs: one without `eventspace run`, one under it, in a run with the default name.
submit "${srun[@]}" "$eventspace" exec -- "$apps/hang" receive-cycle
step_job=$job step_out=$out
submit "$eventspace" run --launcher "${srun[*]}" -- "$apps/hang" receive-cycle
await 20 hangs || cat $work/why $out
expect 0 'why names the hang of both nodes'
on a0 10 "$eventspace" heartbeat --once "$run" >$work/out 2>&1
grep -q a0 $work/out && grep -q a1 $work/out
expect 0 'heartbeat shows both nodes'
on a1 10 "$eventspace" metrics "$run" >$work/out 2>&1
grep -q "run_info{.*,job=\"$job\",launcher=\"srun\"} 1" $work/out
expect 0 'metrics name the job and srun'
await 20 grep -q 'now receive-cycle' $step_out
on a1 10 "$eventspace" list "$step_job.0" >$work/out
expect 0 "a step of srun eventspace exec is the run $step_job.0"
for host in a0 a1; do
    check "on $host only the programs have the collector" \
        test "$(preloaded $host)" = "$apps/hang"
done

# The epilog removes what the first job leaves, the servers' own tasks what the second
# leaves.
on front 10 scancel "$step_job" "$job"
await 10 has_ended
check_nothing_left
case $run in
"$job".hang-*) echo "ok: the run is $run" ;;
*) fault "the run of job $job is $run" ;;
esac

# A recording is complete, because the servers outlive the step of the ranks.
submit "$eventspace" run --launcher "${srun[*]}" --record $work/archive --on-full=block -- \
    "$apps/ring"
await 20 grep -q 'recorded in' $out
on a0 20 "$eventspace" export $work/archive --to csv -o $work/events.csv
for rank in 0 1; do
    check "all sends of rank $rank are recorded" \
        test "$(grep -c "^$rank,.*,MPI_Send,.*,send," $work/events.csv)" -ge 1000
done
cat $out
rm -rf $work/archive
check_nothing_left

# Without PMI each process is a program of one rank.
submit sh -c "srun --mpi=none -n 4 --overcommit \"$eventspace\" exec --keep -- \"$apps/ring\" &&
    COLUMNS=400 \"$eventspace\" list; srun --mpi=none \"$eventspace\" doctor"
await 20 grep -q 'processes without PMI' $out
expect 0 'doctor sees processes that will be alone'
check 'list recognises those that are' grep -q 'believes that it is alone' $out
check_nothing_left
finish
