#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_doctor.sh - eventspace doctor, of this machine and of several kinds of programs.

. "${0%/*}/functions.sh"

doctor()
{
    timeout -k 5 60 "$eventspace" doctor "$@" >"$folder/out" 2>"$folder/err"
    status=$?
}

doctor
for subject in version "preload library" MPI "shared memory" clock membarrier processes \
    "run directories"; do
    contains out "$subject: "
done
grep -q '^problem' "$folder/out"
[ $? = $((1 - status)) ] || fault "status $status does not agree with: $(cat "$folder/out")"
case $status in
0) contains out "No problem found: 'eventspace run -n 2 -- PROGRAM' is the next step." ;;
*) contains out "Fix this first: " ;;
esac
[ "$(tail -1 "$folder/out" | grep -c '^\(No\|Fix\)')" = 1 ] || fault "no last sentence"
lacks out ppb
doctor --format json
json_lines_hold "o['type'] == 'finding' and o['kind'] in ('good', 'note', 'problem') and o['subject'] and o['text']"

expect 1 env EVENTSPACE_DISABLE=1 "$eventspace" doctor
contains out "EVENTSPACE_DISABLE=1: nothing is collected"
contains out "Fix this first: "
expect 1 env EVENTSPACE_PRELOAD=/no/such/library "$eventspace" doctor
contains out "preload library: EVENTSPACE_PRELOAD: /no/such/library"
echo nonsense >"$folder/nonsense.so"
expect 1 env EVENTSPACE_PRELOAD="$folder/nonsense.so" "$eventspace" doctor
contains out "cannot be loaded"

# The job: its launcher, and processes that do not know each other.
step="SLURM_JOB_ID=7 SLURM_STEP_ID=1 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2"
# shellcheck disable=SC2086 # several variables
expect 1 env $step "$eventspace" doctor
contains out "job: batch job 7, step 7.1"
contains out "job: rank 0 of 4 on 2 nodes (SLURM_PROCID)"
contains out "problem  job: srun has started 4 processes without PMI"
contains out "use srun --mpi="
# shellcheck disable=SC2086
env $step PMI_RANK=0 PMI_SIZE=4 "$eventspace" doctor >"$folder/out"
lacks out "without PMI"
doctor
lacks out "job: "
for i in 1 2; do
    "$helpers/make_segments" "$prefix-alone" 1 1 live >"$folder/maker$i" &
    await 10 grep -q ready "$folder/maker$i"
    doctor
    [ $i = 2 ] || lacks out "believes that it is alone"
done
alone="run $prefix-alone: 2 processes, and each believes that it is alone (rank 0 of 1)"
contains out "problem  job: $alone"
expect 0 env COLUMNS=400 "$eventspace" list
contains out "$alone"
contains out "srun --mpi=pmi2 (MPICH)"
expect 0 env COLUMNS=400 "$eventspace" list "$prefix-alone"
contains out "$alone"
expect 0 "$eventspace" list --format json
json_lines_hold "o['alone'] == 2"
kill %1 %2
wait
expect 0 "$eventspace" clean "$prefix-alone"

# Programs.
expect 2 "$eventspace" doctor /no/such/program
contains err "/no/such/program"
expect 2 "$eventspace" doctor "$prefix-no-such-program"
contains err "no such program in PATH"
expect 2 "$eventspace" doctor "$folder"
printf '#!/usr/bin/env python3\n' >"$folder/script"
doctor "$folder/script"
contains out "is a script for /usr/bin/env python3"
cat >"$folder/script" <<'END'
#!/bin/sh
# LD_PRELOAD=libx.so
LD_PRELOAD=libx.so ./program
LD_PRELOAD=libx.so:$LD_PRELOAD ./program
exec env -i ./program
END
doctor "$folder/script"
contains out "note     program: $folder/script:3 sets LD_PRELOAD anew, and what starts then does not"
contains out "$folder/script:5 clears the environment: "
[ "$(grep -c "^note  *program: $folder/script:" "$folder/out")" = 2 ] || fault "other lines: $(cat "$folder/out")"
printf '#!/usr/bin/env python3\nimport ctypes\nmpi = ctypes.CDLL("libmpi.so"); mpi.MPI_Init(None, None)' >"$folder/script"
doctor "$folder/script"
contains out "$folder/script:3 opens a library by ctypes, and calls of MPI through its handle"
echo text >"$folder/text"
doctor "$folder/text"
[ $status = 1 ] || fault "a text was taken for a program"
contains out "neither an ELF program nor a script"

grep -q '^#define HAVE_LIBELF 1' "$top_builddir/config.h" || {
    doctor sh
    contains err "built without libelf"
    finish
}
doctor sh
contains out "is linked with no MPI"
contains out "calls are not seen if it takes MPI's routines by dlsym() from the handle of dlopen()"
grep -q '^note  *program: 0 MPI routines called, 0 recorded' "$folder/out" ||
    fault "no MPI is called good: $(cat "$folder/out")"
tail -1 "$folder/out" | grep -q "this first: " || fault "it is not said what to do first"
printf '\177ELF nonsense' >"$folder/broken"
doctor "$folder/broken"
[ $status = 2 ] || fault "a broken file gave $status"

# A program as the compiler makes it: it only needs MPI's names.
cat >"$folder/program.c" <<'END'
int MPI_Send(void), PMPI_Barrier(void), MPI_Comm_rank(void), mpi_waitall_(void);
int MPI_Made_up(void), MPIX_Query(void), MPI_T_init_thread(void), MPI_SIZE(void);
int main(void)
{
    return MPI_Send() + PMPI_Barrier() + MPI_Comm_rank() + mpi_waitall_() + MPI_Made_up() +
           MPIX_Query() + MPI_T_init_thread() + MPI_SIZE();
}
END
sed 's/(void), /(void){return 0;}\nint /g; s/(void);/(void){return 0;}/; /^int main/,$d' \
    "$folder/program.c" >"$folder/libmpi.c"
if $CC -shared -fPIC -Wl,-soname,libmpi.so.77 -o "$folder/libmpi.so.77" "$folder/libmpi.c" &&
    $CC -o "$folder/program" "$folder/program.c" "$folder/libmpi.so.77"; then
    doctor "$folder/program"
    contains out "needs libmpi.so.77"
    grep -q '^note  *MPI_Comm_rank: not recorded: ' "$folder/out" ||
        fault "what is not recorded is no note: $(cat "$folder/out")"
    contains out "MPI_Made_up: not recorded: not in the table"
    contains out "MPIX_Query: not recorded: an extension"
    contains out "MPI_T_init_thread: not recorded: tool interface"
    contains out "7 MPI routines called, 3 recorded"
    for other in libmpi.so.40 libmpich.so.12 libmpi_abi.so.0; do
        $CC -shared -fPIC -Wl,-soname,$other -o "$folder/$other" "$folder/libmpi.c" &&
            $CC -o "$folder/other" "$folder/program.c" "$folder/$other"
        doctor "$folder/other"
        cat "$folder/out" >>"$folder/others"
    done
    count=$(grep -c "^good .*is linked with .*'eventspace run' starts it with" "$folder/others")
    [ "$count" = $(((${#ES_MPI} > 0) + (${#OPENMPI_MPICC} > 0))) ] ||
        fault "$count MPIs can be collected: $(cat "$folder/others")"
    grep -q '^problem .*the ABI of MPI 5' "$folder/others" ||
        fault "libmpi_abi is not told of: $(cat "$folder/others")"
    # Two MPIs: both linked with the program, or one of them with a library of it.
    $CC -shared -fPIC -o "$folder/libuser.so" "$folder/program.c" "$folder/libmpich.so.12"
    for second in libmpich.so.12 libuser.so; do
        $CC -o "$folder/both" "$folder/program.c" -Wl,--no-as-needed \
            -Wl,-rpath,"$folder" "$folder/libmpi.so.40" "$folder/$second"
        expect 1 "$eventspace" doctor "$folder/both"
        contains out "is linked with two MPIs, Open MPI and MPICH or a compatible MPI"
    done
    chmod u+s "$folder/program"
    doctor "$folder/program"
    [ $status = 1 ] || fault "set-user-ID gave $status"
    contains out "changes the user, group or capabilities"
    chmod u-s "$folder/program"
    if "$PYTHON" -c 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x2000001, 1 << 10, 0, 0, 0))' \
        "$folder/program" 2>/dev/null; then
        expect 1 "$eventspace" doctor "$folder/program"
        contains out "changes the user, group or capabilities"
    fi
else
    fault "cannot compile a test program"
fi
printf 'int MPI_Init(void){return 0;}\nint main(void){return MPI_Init();}\n' >"$folder/own.c"
if $CC -o "$folder/own" "$folder/own.c"; then
    doctor "$folder/own"
    contains out "has MPI linked in statically"
fi
if $CC -static -o "$folder/static" "$folder/own.c" 2>/dev/null; then
    doctor "$folder/static"
    [ $status = 1 ] || fault "a static program gave $status"
    contains out "is linked statically"
fi
finish
