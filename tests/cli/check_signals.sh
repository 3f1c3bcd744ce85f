#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_signals.sh - signals reach the program once, whoever sends them to whom.

. "${0%/*}/functions.sh"
use_marker

# A program that counts what it gets, in the file $1, and ends by SIGUSR2.
cat >"$folder/counter" <<'END'
#!/bin/bash
for name in HUP INT QUIT TERM USR1 CONT; do
    trap "echo $name >>'$1.log'" $name
done
trap 'exit 5' USR2
echo $$ >"$1.pid"
while :; do sleep 0.05; done
END
chmod +x "$folder/counter"

count()
{
    grep -cx "$2" "$folder/$1.log" 2>/dev/null
}

# start NAME COMMAND... : with default signal settings and a process group of its own.
start()
{
    local name=$1
    shift
    "$PYTHON" -c 'import os, signal, sys
for number in (signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
os.setpgid(0, 0)
os.execv(sys.argv[1], sys.argv[1:])' "$@" "$folder/counter" "$folder/$name" &
    started=$!
    await 10 test -s "$folder/$name.pid"
    program=$(cat "$folder/$name.pid")
}

start alone "$eventspace" exec --
for name in HUP INT QUIT TERM USR1; do
    kill -$name $started
    await 5 grep -qx $name "$folder/alone.log"
done
sleep 0.3
for name in HUP INT QUIT TERM USR1; do
    [ "$(count alone $name)" = 1 ] || fault "$name came $(count alone $name) times"
done
kill -0 $started || fault "the process that was started died of a signal that the program survived"

# Stopped and continued together.
kill -TSTP $started
await 5 grep -q '^State:.T' /proc/$started/status
kill -CONT $started
await 5 grep -qx CONT "$folder/alone.log"
kill -USR2 $started
wait $started
[ $? = 5 ] || fault "the program's end after SIGUSR2 got lost"

# The program goes when the process that was started is killed.
start killed "$eventspace" exec --
kill -KILL $started
wait $started 2>/dev/null
await 5 test ! -e "/proc/$program"

# `run` passes signals on to the launcher, and ends as it does.
start run "$eventspace" run -n 1 --launcher "$top_srcdir/tests/cli/local_launcher.sh" --
kill -TERM $started
await 5 grep -qx TERM "$folder/run.log"
kill -USR2 "$program"
wait $started
[ $? = 5 ] || fault "run does not end as its program does"

# A terminal's Ctrl-C goes to the whole group: the program gets it once, and reads from
# the terminal as if it were alone.
"$PYTHON" - "$eventspace" <<'END' || fault "the program is not at home on a terminal"
import os, pty, sys, time
script = """trap 'echo got-INT' INT
echo ready
read line
echo "line <$line>"
sleep 0.3 & wait
exit 7"""
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "exec", "--", "bash", "-c", script])
seen = b""
def see(text):
    global seen
    limit = time.time() + 10
    while text not in seen and time.time() < limit:
        seen += os.read(terminal, 1024)
see(b"ready")
os.write(terminal, b"\x03")
see(b"got-INT")
os.write(terminal, b"typed\n")
see(b"line <typed>")
status = os.waitpid(pid, 0)[1]
wrong = seen.count(b"got-INT") != 1 or os.waitstatus_to_exitcode(status) != 7
sys.exit(f"{seen} {status}" if wrong else 0)
END

# Whoever ignores SIGCHLD or starts us with signals blocked finds the same end.
"$PYTHON" - "$eventspace" <<'END' || fault "unusual signal settings change the end"
import signal, subprocess, sys
def unusual():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGUSR1])
shown = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN, " \
        "sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])))"
results = [subprocess.run(before + [sys.executable, "-c", shown + "; exit(9)"],
                          preexec_fn=unusual, stdout=subprocess.PIPE)
           for before in ([], [sys.argv[1], "exec", "--"])]
wrong = results[0].stdout != results[1].stdout or results[1].returncode != 9
sys.exit(str(results) if wrong else 0)
END
finish
