#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# exit_status.sh - a collected program ends with the status of its launcher alone, and with
# 130 after Ctrl-C.
#
# The statuses of MPICH 4.0.2's launcher alone, in 20 runs of each case on 2 busy cores. It
# combines all statuses by `or`, sometimes including those of ranks that it has killed. Then
# the status of the rank that ended first is expected:
#
#   ending                       2 ranks, rank 0    3 ranks, rank 2
#   _exit(5) after MPI_Init      5 x20              5 x19, 9 x1
#   exit(5)                      5 x20              5 x19, 9 x1
#   exit(3) on all ranks         3 x20              3 x18, 9 x2
#   exit(0) too early            0 x20              0 x16, 9 x4
#   exit(6) before MPI_Init      6 x20              6 x20
#   exit(4) after MPI_Finalize   4 x20              4 x20
#   MPI_Abort(7), one or all     7 x20              7 x20
#   SIGSEGV                      11 x20             11 x20
#   SIGKILL                      9 x20              9 x20
#   SIGTERM                      15 x20             15 x20
#   SIGABRT                      6 x20              6 x19, 15 x1
#
# In 1 of 230 runs with 3 ranks, of which each called exit(3), it told of an "EXIT CODE: 1"
# and ended with 1. That of MPICH 4.2.1 ends with 0 after an _exit() in 1 of 15 runs.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"
use_commands
signalled=0
[ "$mpi" != openmpi ] || signalled=128 # its launcher adds 128

# ended COMMAND... - prints its exit status; its messages go to $work/said.
ended() {
    timeout -k 5 30 "$@" >"$work/out" 2>"$work/said" </dev/null
    echo $?
}

alone() {
    ended "$MPIEXEC" -n 2 "$bin/exit_status" "$1"
}

collected_run() {
    ended "$eventspace" run -n 2 "$bin/exit_status" "$1"
}

collected_run_last() {
    ended "$eventspace" run -n 3 "$bin/exit_status" "$1" 2
}

collected_exec() {
    ended "$MPIEXEC" -n 2 "$eventspace" exec -- "$bin/exit_status" "$1"
}

# is_of_launcher HOW STATUS FORM - the launcher alone ends with this status, too. Some
# launchers have races, with the rarer end in one of 40 runs, so many tries precede a failure.
# Hydra notes a status of 1 for a rank whose socket has closed, until it has waited for the
# rank; where that remains, it tells of a signal that no rank got. `run` must correct it.
is_of_launcher() {
    local i wanted=$2
    [ "$2:$3" != 1:collected_exec ] ||
        ! grep -q 'Hangup (signal 1)' "$work/out" "$work/said" || return 0
    cat "$work/out" "$work/said"
    # `run` says 1 of a rank that a signal killed where the launcher says 0.
    [ "$2:$3" != 1:collected_run ] || ! grep -q 'was killed by signal' "$work/said" || wanted=0
    for ((i = 0; i < 250; i++)); do
        [ "$(alone "$1")" = "$wanted" ] && return
    done
    return 1
}

compare() {
    local how=$1 form status bare
    bare=$(alone "$how")
    for form in collected_run collected_exec; do
        status=$($form "$how")
        ! grep -q 'was killed' "$work/said" || [ "$status" != 0 ]
        expect 0 "$how, $form: a status of 0 is not for a rank that was killed"
        [ "$status" = "$bare" ] || is_of_launcher "$how" "$status" $form
        expect 0 "$how, $form: $status, and the launcher alone ends with $bare"
    done
}

for how in finalize exit-early _exit exit exit-all exit-well abort abort-all SIGSEGV SIGKILL \
    SIGTERM SIGABRT; do
    compare $how
done

# No copy of a rank's pipes delays the launcher: its status is that of the rank each time.
for ((i = 0; i < 20; i++)); do
    status=$(collected_exec exit)
    [ "$status" = 5 ] || is_of_launcher exit "$status" collected_exec
    expect 0 "exit, collected_exec, run $i: 5, not $status"
done

# The exit code of a rank is reported even if the launcher reports its kill of the others.
for how in _exit:5 exit:5 exit-all:3 SIGABRT:$((signalled + 6)); do
    for i in 1 2; do
        status=$(collected_run_last "${how%%:*}")
        [ "$status" = "${how#*:}" ] || { cat "$work/said"; false; }
        expect 0 "${how%%:*} of 3 ranks: the code of the rank that was first, not $status"
    done
done
cat >"$work/saying" <<'END'
#!/bin/bash
"$MPIEXEC" "$@"
exit $said
END
chmod +x "$work/saying"
export MPIEXEC said
for how in 9:_exit:5 9:SIGKILL:9 1:exit-all:3 0:_exit:5 0:SIGKILL:1 0:exit-well:0; do
    IFS=: read -r said way wanted <<<"$how"
    status=$(ended "$eventspace" run -n 2 --launcher "$work/saying" "$bin/exit_status" "$way")
    [ "$status" = "$wanted" ]
    expect 0 "a launcher that ends with $said after $way: $wanted, not $status"
done

# The end of the rank is reported when the command has ended.
for how in SIGSEGV:'rank 0 was killed by signal 11' SIGKILL:'was killed by signal 9' \
    finalize:'rank 0 exited with code 4 after MPI_Finalize' \
    _exit:'rank 0 exited with code 5' abort:'rank 0 called MPI_Abort' \
    exit-well:'rank 0 exited with code 0 before MPI_Finalize'; do
    collected_run "${how%%:*}" >/dev/null
    grep -qF "${how#*:}" "$work/said" || { cat "$work/said"; false; }
    expect 0 "$how: the end is named"
done
# Of ranks that are killed by different signals both are told: the watchers of the ranks may
# see the ends in the other order.
# shellcheck disable=SC2016 # for the inner shell
ended "$eventspace" run -n 2 --launcher "$top_srcdir/tests/cli/local_launcher.sh" sh -c \
    '[ "$PMI_RANK" = 1 ] || { sleep 0.5; kill -KILL $$; }; kill -TERM $$' >/dev/null
grep -qF 'signal 15 (Terminated)' "$work/said" && grep -qF 'signal 9 (Killed)' "$work/said" &&
    grep -qE '1 other was killed by signal .*, too; which was first may not be known' \
        "$work/said" || { cat "$work/said"; false; }
expect 0 'both signals are told'

# others_are_in_mpi - two ranks have called MPI, and rank 1 has not.
others_are_in_mpi() {
    "$eventspace" list early >"$work/list" &&
        [ "$(grep -c ' running ' "$work/list")" = 2 ] && grep -q 'not called MPI' "$work/list"
}

# tell_alike WHAT - the archive of the run is told as the run.
tell_alike() {
    "$eventspace" why early 2>/dev/null | grep -v '^ ' >"$work/why"
    "$eventspace" why "$work/early" 2>/dev/null | grep -v '^ ' | cmp - "$work/why" ||
        { "$eventspace" why "$work/early" && cat "$work/why" && false; }
    expect 0 "$1: the archive is told as the run"
    rm -r "$work/early"
}

# So is the end of a rank that has not called MPI, and the others wait for it.
"$eventspace" clean --all >/dev/null
for how in early-SIGABRT:'killed by signal 6 (SIGABRT)' early-exit:'exited with 5'; do
    rm -f "$work/go"
    timeout -k 5 60 "$eventspace" run -n 3 --name early --record "$work/early" \
        "$bin/exit_status" "${how%%:*}" 1 "$work/go" >"$work/out" 2>"$work/said" \
        </dev/null &
    await 20 others_are_in_mpi
    touch "$work/go"
    wanted="DIED (certain): rank 1 ${how#*:} before its first MPI call"
    await 20 eval '"$eventspace" why early >"$work/why"; grep -qF "$wanted" "$work/why"'
    "$eventspace" heartbeat --once early >"$work/heartbeat"
    # MPICH's launcher goes on. That of Open MPI 4.1 ends, and must not get a signal when it
    # does: it may then wait for a lock of its own in PMIx_server_finalize() for ever.
    [ "$mpi" = openmpi ] || kill $! 2>/dev/null
    wait $!
    grep -qF "$wanted" "$work/why" || { cat "$work/why"; false; }
    expect 0 "$how: the end is named by why"
    grep -qF "${how#*:} before its first MPI call" "$work/heartbeat" ||
        { cat "$work/heartbeat"; false; }
    expect 0 "$how: the end is named by heartbeat"
    "$eventspace" list early | grep -q 'before its first MPI call'
    expect 0 "$how: the end is named by list"
    grep -qE "rank 1 .*before its first MPI call" "$work/said" || { cat "$work/said"; false; }
    expect 0 "$how: the end is named by run"
    tell_alike "$how"
    "$eventspace" clean early >/dev/null
done
"$eventspace" run -n 3 --name early --record "$work/early" "$bin/exit_status" \
    early-sleep 1 >"$work/out" 2>"$work/said" </dev/null &
holds='rank 1 holds up 2 threads; it has not called MPI yet'
await 20 eval '"$eventspace" why early >"$work/why"; grep -qF "$holds" "$work/why"'
expect 0 "a rank that sleeps before MPI_Init holds up the others"
kill $!
wait $!
"$eventspace" why early >"$work/why"
! grep -h 'first MPI call, which the whole job got' "$work/said" "$work/why"
expect 0 "a signal that all ranks got says nothing of their calls"
grep -qF 'rank 1 holds up 2 threads' "$work/why"
expect 0 "the rank that slept before MPI_Init is told when the job was ended, too"
tell_alike early-sleep
"$eventspace" clean --all >/dev/null

collected_run SIGSEGV >/dev/null
grep -qF 'the launcher then killed 1 other' "$work/said"
expect 0 "SIGSEGV: who was killed by the launcher is told apart"

# A call that MPI refuses because it is finalised, or not initialised: what MPI prints is the
# same as without us, and all commands tell it alike; so they do of a failure after
# MPI_Finalize.
refused() {
    grep -ohE 'MPI routine \([A-Za-z_]*\)|The MPI_[A-Za-z_]*\(\) function was called.*' "$@" |
        sort -u
}
after='after MPI_Finalize'
for how in after-barrier:"called MPI_Barrier $after" after-send:"called MPI_Send $after" \
    after-finalize:"called MPI_Finalize $after" after-rank:"exited with 1 $after" \
    finalize:"exited with 4 $after" after-signal:'killed by signal 6' \
    before-barrier:'called MPI_Barrier before MPI_Init' \
    before-send:'called MPI_Send before MPI_Init'; do
    wanted=${how#*:} how=${how%%:*}
    alone $how >/dev/null
    refused "$work/out" "$work/said" >"$work/alone"
    ended "$eventspace" run -n 2 --name misplaced --record "$work/archive" \
        "$bin/exit_status" $how >/dev/null
    refused "$work/out" "$work/said" >"$work/seen"
    cmp "$work/alone" "$work/seen"
    expect 0 "$how: MPI names the same routine"
    case $how in *-signal | *-rank | finalize) ended=${wanted/exited with/exited with code} ;;
    *) ended="rank [01] $wanted, and exited with code [1-9]" ;; esac
    grep -qE "$ended" "$work/said" || { cat "$work/said"; false; }
    expect 0 "$how: told by run"
    "$eventspace" list | tr -s ' \n' ' ' >"$work/list"
    grep -qE "$ended" "$work/list" || { cat "$work/list"; false; }
    expect 0 "$how: told by list"
    for of in misplaced "$work/archive"; do
        "$eventspace" why "$of" >"$work/why"
        [ $? = 1 ] && tr -s ' \n' ' ' <"$work/why" |
            grep -E "DIED \(certain\): .*rank [01] $wanted" |
            grep -vqE 'DEADLOCK|MISSING|LEAK|nothing is wrong' || { cat "$work/why"; false; }
        expect 0 "$how: told by why ${of##*/}"
    done
    "$eventspace" heartbeat --once misplaced >"$work/heartbeat"
    [ $? = 1 ] && grep -qE ' dead ' "$work/heartbeat" || { cat "$work/heartbeat"; false; }
    expect 0 "$how: told by heartbeat"
    "$eventspace" clean misplaced >/dev/null
    rm -rf "$work/archive"
done

# interrupted terminal|process COMMAND... - prints its status after SIGINT, sent when its
# ranks wait. Ctrl-C of a terminal also goes to the launcher, which must get no second one.
interrupted() {
    "${PYTHON:-python3}" - "$@" <<'END'
import fcntl, os, pty, signal, subprocess, sys, termios
master, terminal = pty.openpty()

def begin():
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)

process = subprocess.Popen(
    sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL, start_new_session=True, pass_fds=[terminal],
    preexec_fn=begin)
for i in range(2):
    process.stdout.readline()
if sys.argv[1] == "terminal":
    os.write(master, b"\x03")
else:
    os.kill(process.pid, signal.SIGINT)
process.stdout.read()
print(process.wait(timeout=30))
END
}

for whom in terminal process; do
    status=$(interrupted $whom "$eventspace" run -n 2 "$bin/exit_status" wait)
    [ "$status" = 130 ]
    expect 0 "SIGINT of the $whom: 130, not $status"
done

# A launcher that handles the signal itself, ends its ranks, and exits with 0.
cat >"$work/launcher" <<'END'
#!/bin/bash
trap 'kill -INT $launcher; wait $launcher; exit 0' INT
"$MPIEXEC" "$@" &
launcher=$!
wait $launcher
END
chmod +x "$work/launcher"
export MPIEXEC
status=$(interrupted process "$eventspace" run -n 2 --launcher "$work/launcher" \
    "$bin/exit_status" wait)
[ "$status" = 130 ]
expect 0 "Ctrl-C and a launcher that ends with 0: 130, not $status"
finish
