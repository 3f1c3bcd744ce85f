#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# slurm.sh - jobs of a real Slurm: slurmctld on front, a slurmd on a0 and one on a1.
#
# Where the machine has cgroups of version 1, Slurm kills by these what a step leaves, as
# on clusters; else it follows the processes, and daemons escape.

. "${top_srcdir:?not set}/tests/checks.sh"
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun sbatch scancel squeue sinfo; do
    command -v $program >/dev/null || skip "Slurm is not installed: there is no $program"
done
[ "$(id -u)" = 0 ] || skip 'only root can run slurmd'
. "$top_srcdir/tests/hosts/functions.sh"

slurm=$work/slurm
cluster=t$RANDOM$RANDOM # nodes have cgroups by their names, which are the machine's
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
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
KillWait=10
MpiDefault=none
NodeName=$cluster-a0 NodeHostname=a0 NodeAddr=a0 CPUs=2
NodeName=$cluster-a1 NodeHostname=a1 NodeAddr=a1 CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
END
printf 'CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n' >$slurm/cgroup.conf
export SLURM_CONF=$slurm/slurm.conf

# Cgroups are the machine's, so that they do not go with the world.
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

# step N COMMAND... - N tasks on both nodes, for MPICH.
step() {
    local tasks=$1
    shift
    on front 60 srun --mpi=pmi2 -N 2 -n "$tasks" --export=ALL,LD_PRELOAD="$shims" "$@"
}

# submit COMMAND... - as a batch job on both nodes, its output in $work/job.out; sets `job`.
submit() {
    { echo '#!/bin/sh'; printf "'%s' " "$@"; } >$work/script
    job=$(on front 10 sbatch --parsable -N 2 -n 2 -o $work/job.out $work/script)
}

has_ended() {
    [ -z "$(on front 5 squeue -h)" ]
}

# run_of_job - sets `run` to the run of the job, as the node of its script has it.
run_of_job() {
    run=$(on a0 10 "$eventspace" list --format json |
        sed -n "s/.*\"run\":\"\($job\.[^\"]*\)\".*/\1/p")
    [ -n "$run" ]
}

# preloaded HOST - programs there that have the collector.
preloaded() {
    # shellcheck disable=SC2016 # for the shell in there
    hosts exec "$1" sh -c 'for maps in $(grep -ls libeventspace-mpi /proc/[0-9]*/maps); do
        readlink "${maps%maps}exe"; done' | sort -u
}

# hangs - both ranks wait, as seen from the node where the script is.
hangs() {
    run_of_job && on a0 20 "$eventspace" why "$run" >$work/why 2>&1
    grep -q 'rank 0' $work/why && grep -q 'rank 1' $work/why
}

srun=(srun --mpi=pmi2 "--export=ALL,LD_PRELOAD=$shims")

# A step of its own, without `eventspace run`: nothing stays.
step 2 "$eventspace" exec -- "$apps/ring" >$work/out 2>&1
expect 0 'srun eventspace exec'
check 'its ranks are one program' grep -q 'over 2 ranks correct' $work/out
check_nothing_left

# A hang in a batch job, under the run's default name.
submit "$eventspace" run --launcher "${srun[*]}" -- "$apps/hang" receive-cycle
await 20 hangs || cat $work/why $work/job.out
expect 0 'why names the hang of both nodes'
on a0 10 "$eventspace" heartbeat "$run" >$work/out 2>&1
grep -q a0 $work/out && grep -q a1 $work/out
expect 0 'heartbeat shows both nodes'
for host in a0 a1; do
    check "on $host only the program has the collector" \
        test "$(preloaded $host)" = "$apps/hang"
done
on front 10 scancel "$job"
await 10 has_ended
check_nothing_left
case $run in
"$job".hang-*) echo "ok: the run is $run" ;;
*) fault "the run of job $job is $run" ;;
esac

# A recording is complete: the servers outlive the ranks' step.
submit "$eventspace" run --launcher "${srun[*]}" --record $work/archive --on-full=block -- \
    "$apps/ring"
await 20 has_ended
on a0 20 "$eventspace" export $work/archive --to csv -o $work/events.csv
for rank in 0 1; do
    check "all sends of rank $rank are recorded" \
        test "$(grep -c "^$rank,.*,MPI_Send,.*,send," $work/events.csv)" -ge 1000
done
cat $work/job.out
rm -rf $work/archive
check_nothing_left

# Without a PMI each process is alone.
on front 20 srun --mpi=none -N 2 -n 4 "$eventspace" exec --keep -- "$apps/ring" >$work/out
expect 0 'srun --mpi=none'
on a0 10 env COLUMNS=400 "$eventspace" list >$work/out
check 'list recognises processes that are alone' grep -q 'believes that it is alone' $work/out
on front 20 srun --mpi=none -N 2 -n 2 "$eventspace" doctor >$work/out 2>&1
check 'doctor does so before' grep -q 'gives them no PMI' $work/out
for host in a0 a1; do on $host 10 "$eventspace" clean --all >/dev/null; done
check_nothing_left
finish
