#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_exec.sh - eventspace exec is the program it runs: same ends, same input, output
# and environment, same answers to signals.

. "${0%/*}/functions.sh"
use_marker

# Ends.
expect 0 "$eventspace" exec true
expect 0 "$eventspace" exec -- true
expect 1 "$eventspace" exec false
expect 42 "$eventspace" exec -- sh -c 'exit 42'
expect 127 "$eventspace" exec -- /no/such/program
contains err "eventspace exec: /no/such/program: cannot be run: No such file"
expect 126 "$eventspace" exec -- /etc/passwd
expect 2 "$eventspace" exec
contains err "no PROGRAM given"
expect 42 "$eventspace" exec --no-wait -- sh -c 'exit 42'

ends_by_signal()
{
    "$PYTHON" - "$@" <<'END'
import os, signal, subprocess, sys
number = int(sys.argv[1])
result = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
sys.exit(0 if result.returncode == -number else "ended with %d" % result.returncode)
END
}
for number in 1 6 9 11 15; do
    ends_by_signal $number "$eventspace" exec -- sh -c "kill -$number \$\$" ||
        fault "signal $number is not passed on as the end"
done
cd "$folder" || exit 1
ulimit -c unlimited 2>/dev/null
{ "$eventspace" exec -- sh -c 'ulimit -c 0; kill -SEGV $$'; } >/dev/null 2>&1
compgen -G 'core*' >/dev/null && fault "a core file was left besides"
cd - >/dev/null || exit 1

# Input, output, arguments.
[ "$(echo hello | "$eventspace" exec cat)" = hello ] || fault "standard input is not passed on"
expect 0 "$eventspace" exec printf '%s|' a 'b c' '' -n --help
[ "$(cat "$folder/out")" = 'a|b c||-n|--help|' ] || fault "arguments change: $(cat "$folder/out")"
[ "$("$eventspace" exec -- sh -c 'echo x >&9' 9>&1 >/dev/null)" = x ] ||
    fault "other descriptors are not passed on"
# A pipe ends when the program closes it, though the program goes on.
for rank in '' PMI_RANK=0 PMI_RANK=1; do
    (env $rank ${rank:+PMI_SIZE=2} "$eventspace" exec -- sh -c 'exec >&- 2>&-; sleep 15' 2>&1 &) |
        timeout 12 cat || fault "the watcher holds the program's output open${rank:+ ($rank)}"
done

# A rank alone that does not call MPI: said where there is a terminal, and only there.
expect 0 "$PYTHON" - "$eventspace" <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: # the terminal is there until its shell ends
    os.execvp("sh", ["sh", "-c", '"$0" exec -- true; read answer', sys.argv[1]])
text = b""
while b"hide calls" not in text:
    text += os.read(terminal, 4096)
print(text.decode())
os.write(terminal, b"\n")
sys.exit(os.waitpid(pid, 0)[1])
END
contains out "eventspace exec: nothing was recorded: no call of MPI was seen ('eventspace doctor true' says what can hide calls)"
expect 0 "$eventspace" exec -- true
is_empty err

# Of several ranks none says so: a copy of its standard error would disturb its launcher.
expect 0 env PMI_RANK=0 PMI_SIZE=2 "$eventspace" exec -- true
is_empty err

# Environment: in the program our library is loaded, in front of others.
expect 0 "$eventspace" exec -- sh -c 'echo "$MARKER_WAS_LOADED"'
contains out yes
other=$(ls /lib/*/libm.so.6 /lib64/libm.so.6 2>/dev/null | head -n 1)
if [ -n "$other" ]; then
    expect 0 env LD_PRELOAD="$other" "$eventspace" exec -- sh -c 'echo "$LD_PRELOAD"'
    contains out "libmarker.so:$other"
fi
expect 0 env EVENTSPACE_RUN=given "$eventspace" exec -- sh -c 'echo "run=$EVENTSPACE_RUN"'
contains out run=given
expect 0 "$eventspace" exec -- sh -c 'echo "run=$EVENTSPACE_RUN"'
contains out run=sh-

# What does not work does not keep the program from running.
expect 0 env EVENTSPACE_DISABLE=1 "$eventspace" exec -- sh -c 'echo "<$MARKER_WAS_LOADED>"'
contains out '<>'
expect 3 env EVENTSPACE_PRELOAD=/no/such/library "$eventspace" exec -- sh -c 'exit 3'
contains err "eventspace exec: not collecting"
contains err /no/such/library
[ "$(wc -l <"$folder/err")" = 1 ] || fault "more than one line of complaint"
expect 0 env EVENTSPACE_RUN='a b' "$eventspace" exec -- sh -c 'echo "<$MARKER_WAS_LOADED>"'
contains out '<>'
contains err "'a b' is not a run's name"
mkdir "$folder/a b" && cp "$EVENTSPACE_PRELOAD" "$folder/a b/"
expect 0 env EVENTSPACE_PRELOAD="$folder/a b/libmarker.so" "$eventspace" exec true
contains err "must not contain ':' or blanks"

# Ranks of one job agree on a name: PMI_RANK makes a rank, scripts in between do not matter.
job_of()
{
    PMI_RANK=$1 "${@:2}" "$eventspace" exec -- sh -c 'echo "$EVENTSPACE_RUN"'
}
first=$(job_of 0) second=$(job_of 1)
third=$(job_of 2 sh -c '"$0" "$@"; :')
[[ $first == job-* && $first == "$second" && $first == "$third" ]] ||
    fault "ranks of one job are in runs $first, $second, $third"
other=$(bash -c "PMI_RANK=0 '$eventspace' exec -- sh -c 'echo \"\$EVENTSPACE_RUN\"'; :")
[ "$first" != "$other" ] || fault "two launchers' jobs have one name"
across=$(SLURM_JOB_ID=7 SLURM_STEP_ID=1 job_of 0)
elsewhere=$(SLURM_JOB_ID=7 SLURM_STEP_ID=1 bash -c \
    "PMI_RANK=1 '$eventspace' exec -- sh -c 'echo \"\$EVENTSPACE_RUN\"'; :")
[[ $across == job-* && $across = "$elsewhere" ]] || fault "one Slurm step has two names"
# The tasks of a step are the run JOBID.STEP.
step=$(SLURM_JOB_ID=7 SLURM_STEP_ID=1 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 PMI_SIZE=2 job_of 0)
[ "$step" = 7.1 ] || fault "the run of step 7.1 is $step"
alone=$(SLURM_JOB_ID=7 "$eventspace" exec -- sh -c 'echo "$EVENTSPACE_RUN"')
[[ $alone == 7.sh-* ]] || fault "a program in the script of job 7 is the run $alone"
finish
