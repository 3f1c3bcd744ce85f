#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_server.sh - eventspaced: how it starts and ends, what it tells, what it refuses;
# and that `eventspace run` leaves none behind.

. "${0%/*}/functions.sh"
use_marker
server=$top_builddir/cli/eventspaced
launcher=$top_srcdir/tests/cli/local_launcher.sh
run=("$eventspace" run --launcher "$launcher")
home=$EVENTSPACE_DIR
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_STAGES

# Servers of this test; those of others are left alone.
pids()
{
    pgrep -f "[e]ventspaced --run $prefix${1-}" | while read -r pid; do
        # What nobody has waited for yet is gone all the same.
        grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || echo "$pid"
    done
}

none_left()
{
    [ -z "$(pids "$@")" ]
}

end_servers()
{
    local pid
    for pid in $(pids); do kill -9 "$pid"; done
    clear_up
}
trap end_servers EXIT

log_of()
{
    cp "${2:-$home}/$1/eventspaced.log" "$folder/out"
}

# --- By hand ---------------------------------------------------------------------------

expect 0 "$server" --help
contains out "Usage: eventspaced"
expect 0 "$server" --version
contains out "eventspace "
expect 2 "$server"
contains err "is not a run's name"
expect 2 "$server" --run 'a b'
expect 2 "$server" --run x --grace never

name=$prefix-hand
expect 0 "$server" --run "$name" --grace 60 --advertise 127.0.0.1
contains out "unix:$home/$name/server.sock"
contains out "tls:127.0.0.1:"
is_empty err
pid=$(pids -hand)
[ "$(stat -c %a "$home/$name/server.sock" "$home/$name/key" "$home/$name/eventspaced.log" |
    sort -u)" = 600 ] || fault "others may read what is the user's own"
cp "$home/$name/server.json" "$folder/out"
json_lines_hold "o['run'] == '$name' and o['pid'] == $pid and len(o['addresses']) == 2 \
    and o['home']"
# Its start closes everything that it was given.
[ -z "$(find "/proc/$pid/fd" -lname 'pipe:*')" ] || fault "it holds a pipe open"
[ "$(readlink "/proc/$pid/cwd")" = / ] || fault "it holds a folder"
[ "$(awk '{print $19}' "/proc/$pid/stat")" -gt "$(nice)" ] || fault "it is not nice"
# A second one finds that it is not needed.
expect 0 "$server" --run "$name"
is_empty out
[ "$(pids -hand)" = "$pid" ] || fault "there are two"

# Who is not a client hears so or is sent away, and leaves a line.
port=$("$PYTHON" -c 'import json, sys
print([a for a in json.load(open(sys.argv[1]))["addresses"] if a[:3] == "tls"][0].split(":")[-1])' \
    "$home/$name/server.json")
"$PYTHON" - "$port" "$home/$name/server.sock" <<'END' || fault "strangers are not sent away"
import socket, sys
tls = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
tls.sendall(b"GET / HTTP/1.0\r\n\r\n")
unix = socket.socket(socket.AF_UNIX)
unix.connect(sys.argv[2])
unix.sendall(b"\xff" * 64)
for link in (tls, unix):
    link.settimeout(10)
    try:
        while link.recv(4096):
            pass
    except ConnectionResetError:
        pass
END
await 5 grep -q "refused 127.0.0.1:" "$home/$name/eventspaced.log"
await 5 grep -q "refused uid $(id -u)" "$home/$name/eventspaced.log"

# Who finds the run's directory on another host goes where the server says.
far=$prefix-afar
expect 0 "$server" --run "$far" --grace 60 --host nowhere.invalid --advertise 127.0.0.1
expect 0 "$eventspace" scope list "$far"
contains out SCOPE
kill "$(pids -afar)"
await 5 none_left -afar
expect 0 "$server" --run "$far" --grace 60 --advertise ::1
grep -qF '"advertise":"[::1]"' "$home/$far/server.json" || fault "an IPv6 address stands bare"
kill "$(pids -afar)"
await 5 none_left -afar

# A signal ends it; nothing of it is in the way of the next one.
kill "$pid"
await 5 none_left -hand
[ ! -e "$home/$name/server.sock" ] || fault "it left its socket"
log_of "$name"
contains out "received a signal"
# So does a kill, of which it knows nothing; the next one is where others know it.
expect 0 "$server" --run "$name" --grace 60 --advertise 127.0.0.1
port=$(sed -n 's/^tls:.*://p' "$folder/out")
kill -9 "$(pids -hand)"
await 5 none_left -hand
expect 0 "$server" --run "$name" --grace 60 --advertise 127.0.0.1
contains out "tls:127.0.0.1:$port"
await 5 test -n "$(pids -hand)"
# Unless somebody else listens there by now.
kill -9 "$(pids -hand)"
await 5 none_left -hand
"$PYTHON" -c 'import socket, sys
s = socket.create_server(("", int(sys.argv[1])))
print("there", flush=True)
s.accept()' "$port" >"$folder/taker" &
await 5 test -s "$folder/taker"
expect 0 "$server" --run "$name" --grace 60 --advertise 127.0.0.1
kill $!
contains out "tls:127.0.0.1:"
lacks out "tls:127.0.0.1:$port"
# `clean` ends it, also when it does not answer.
expect 0 "$eventspace" clean "$name"
await 5 none_left -hand
[ ! -e "$home/$name" ] || fault "clean left the run directory"
expect 0 "$server" --run "$name" --grace 60
kill -STOP "$(pids -hand)"
expect 0 "$eventspace" clean "$name"
await 5 none_left -hand

# Whatever hangs in it, a signal and `clean` end it: here its log, which nobody reads.
hang()
{
    mkfifo "$folder/$1"
    exec 8<>"$folder/$1"
    expect 0 "$server" --run "$name" --grace 60 --log "$folder/$1"
    # What a pipe holds; then nothing goes into it any more.
    "$PYTHON" -c 'import os
os.set_blocking(8, False)
try:
    while os.write(8, bytes(4096)):
        pass
except BlockingIOError:
    pass'
}
hang stuck-log
kill "$(pids -hand)"
await 20 none_left -hand
[ ! -e "$home/$name/server.sock" ] || fault "it left its socket"
hang stuck-log-2
expect 0 "$eventspace" clean "$name"
await 20 none_left -hand
[ ! -e "$home/$name" ] || fault "clean left the run directory"
exec 8<&-

# Nothing lives: it ends after its grace time.  Removed files end it, too.
expect 0 "$server" --run "$prefix-grace" --grace 0.5
await 10 none_left -grace
log_of "$prefix-grace"
contains out "the grace time is over"
expect 0 "$server" --run "$prefix-removed" --grace 60
rm -r "${home:?}/$prefix-removed"
await 10 none_left -removed

# What cannot be: one line, and nothing stays.
taken=$("$PYTHON" -c 'import socket, time, os
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True)
os.fork() and os._exit(0)
os.close(1)
time.sleep(60)')
expect 2 "$server" --run "$prefix-taken" --listen "tls:127.0.0.1:$taken"
contains err "eventspaced: "
contains err "$taken"
[ "$(wc -l <"$folder/err")" = 1 ] || fault "more than one line of complaint"
expect 2 "$server" --run "$prefix-taken" --listen nonsense
expect 2 "$server" --run "$prefix-keyless" --home tls:127.0.0.1:1
contains err "the key of run '$prefix-keyless' is missing"
make_run_folder "$home/$prefix-open" && : >"$home/$prefix-open/key" && chmod 644 "$home/$prefix-open/key"
expect 2 "$server" --run "$prefix-open"
for name in taken keyless open; do
    none_left -$name || fault "a server that could not start is there: $name"
done

# --- Two hosts, of which one is pretended ------------------------------------------------

name=$prefix-two
other=$folder/other
expect 0 "$server" --run "$name" --grace 60 --host alpha --advertise 127.0.0.1
port=$(sed -n 's/^tls:.*://p' "$folder/out")
make_run_folder "$other/$name"
cp -p "$home/$name/key" "$other/$name/"
expect 0 env EVENTSPACE_DIR="$other" "$server" --run "$name" --grace 60 --host beta \
    --home "tls:127.0.0.1:1,tls:127.0.0.1:$port" --cluster hill --gateway gamma
await 10 grep -q "registered with alpha" "$other/$name/eventspaced.log"
await 5 grep -q "\"home_address\":\"tls:127.0.0.1:$port\"" "$other/$name/server.json"
# Another key is none.
wrong=$folder/wrong
make_run_folder "$wrong/$name"
(umask 077 && printf '%064d' 1 >"$wrong/$name/key")
expect 0 env EVENTSPACE_DIR="$wrong" "$server" --run "$name" --grace 1 --host delta \
    --home "tls:127.0.0.1:$port"
await 10 grep -q "home server cannot be reached" "$wrong/$name/eventspaced.log"
await 5 grep -q "refused 127.0.0.1:" "$home/$name/eventspaced.log"
await 10 sh -c "[ \"\$(pgrep -fc '[e]ventspaced --run $name')\" = 2 ]"
# The home server is killed and started again: the other one comes back.
kill -9 "$(pgrep -f "[e]ventspaced --run $name .*--host alpha")"
await 10 grep -q "home server lost" "$other/$name/eventspaced.log"
expect 0 "$server" --run "$name" --grace 60 --host alpha --listen "tls:*:$port" \
    --listen "unix:$home/$name/server.sock"
# Word of the end reaches both; the directories go, as no `eventspace run` made them.
if await 10 sh -c "[ \"\$(grep -c 'registered with' '$other/$name/eventspaced.log')\" = 2 ]"; then
    expect 0 "$eventspace" clean "$name"
    await 10 none_left -two
    [ ! -e "$home/$name" ] || fault "the home server's directory is left"
    [ ! -e "$other/$name" ] || fault "the other server's directory is left"
fi
# One whose home is gone ends after its grace time.
expect 0 "$server" --run "$name" --grace 60 --host alpha --advertise 127.0.0.1
port=$(sed -n 's/^tls:.*://p' "$folder/out")
make_run_folder "$other/$name"
cp -p "$home/$name/key" "$other/$name/"
expect 0 env EVENTSPACE_DIR="$other" "$server" --run "$name" --grace 1 --host beta \
    --home "tls:127.0.0.1:$port"
await 10 grep -q "registered with alpha" "$other/$name/eventspaced.log"
# It stays as long as the home server is there.
sleep 2
[ "$(pids -two | wc -l)" = 2 ] || fault "not two servers"
kill -9 "$(pgrep -f "[e]ventspaced --run $name .*--host alpha")"
await 15 none_left -two
cp "$other/$name/eventspaced.log" "$folder/out"
contains out "the grace time is over"

# --- Started by `run` ---------------------------------------------------------------------

# It is there when the ranks start, and gone when run ends, with all its traces.
# shellcheck disable=SC2016
expect 0 "${run[@]}" -n 2 --name "$prefix-run" -- sh -c '
    cat "$EVENTSPACE_RUN_DIR/server.json"
    echo "left: <$EVENTSPACE_KEY$EVENTSPACE_HOME>" >&2'
is_left=$(grep '^left' "$folder/err")
[ "$(sort -u <<<"$is_left")" = "left: <>" ] || fault "variables reach the program: $is_left"
json_lines_hold "o['home'] and o['addresses'][0].startswith('unix:')"
[ ! -e "$home/$prefix-run" ] || fault "run left $(ls "$home")"
await 2 none_left -run
expect 1 "${run[@]}" -n 1 --name "$prefix-bad" false
await 2 none_left -bad
# Descriptors of the program are its own.
within()
{
    # shellcheck disable=SC2016
    "$@" sh -c 'ls -l /proc/$$/fd 2>/dev/null | sed -n "s/.*-> //p" | grep -c "/runs/\|eventfd"'
}
[ "$(within "${run[@]}" -n 1 --name "$prefix-fd" 2>/dev/null)" = 0 ] || fault "descriptors are leaked"
# What is kept on one host needs no server.
expect 0 "${run[@]}" -n 1 --keep --name "$prefix-keep" -- "$helpers/make_segments" \
    "$prefix-keep" 1 5
contains err kept
await 5 none_left -keep
expect 0 "$eventspace" clean "$prefix-keep"
# Without.
# shellcheck disable=SC2016
expect 0 "${run[@]}" -n 1 --no-server -- sh -c 'ls "$EVENTSPACE_RUN_DIR"'
lacks out server
# A rank that has vanished is told once.
# shellcheck disable=SC2016
expect 1 "${run[@]}" -n 1 --name "$prefix-lost" -- sh -c '
    "$0" "$1" 1 5
    until grep -q "has vanished" "$EVENTSPACE_RUN_DIR/eventspaced.log"; do sleep 0.1; done
    sleep 2 # not told again
    cp "$EVENTSPACE_RUN_DIR/eventspaced.log" "$2"
    exit 1' "$helpers/make_segments" "$prefix-lost" "$folder/lost.log"
cp "$folder/lost.log" "$folder/out"
[ "$(grep -c 'has vanished' "$folder/out")" = 1 ] ||
    fault "a vanished rank is not told once: $(cat "$folder/out")"
expect 0 "$eventspace" clean "$prefix-lost"

# Run itself is killed: the server ends by itself.
"${run[@]}" -n 1 --name "$prefix-killed" -- sleep 60 &
starter=$!
await 10 test -e "$home/$prefix-killed/server.json"
kill -9 $starter
wait $starter 2>/dev/null
await 20 none_left -killed

# --- Started by `exec` on another host -----------------------------------------------------

# Rank 0 is here; 1 and 2 are on a host that has another name, memory and run directory.
cat >"$folder/two_hosts" <<'END'
#!/bin/bash
[ "$1" = -n ] || exit 99
shift 2
export PMI_SIZE=3
PMI_RANK=0 "$@" &
# shellcheck disable=SC2016
unshare --uts --mount sh -c '
    hostname beta && mount -t tmpfs tmpfs /dev/shm &&
        mount -t tmpfs -o mode=700 tmpfs "$EVENTSPACE_DIR" || exit 97
    PMI_RANK=1 "$@" & PMI_RANK=2 "$@"
    status=$?
    wait
    exit $status' sh "$@"
status=$?
wait
exit $status
END
chmod +x "$folder/two_hosts"
if unshare --uts --mount true 2>/dev/null; then
    # shellcheck disable=SC2016
    expect 4 "$eventspace" run -n 3 --threshold 77 --name "$prefix-far" \
        --launcher "$folder/two_hosts" -- sh -c '
        [ "$PMI_RANK" = 0 ] && {
            until [ -e "$0.1" ] && [ -e "$0.2" ]; do sleep 0.1; done
            exit 0
        }
        until grep -q "registered with" "$EVENTSPACE_RUN_DIR/eventspaced.log"; do
            sleep 0.1
        done
        echo "on $(uname -n): <$EVENTSPACE_HOME$EVENTSPACE_KEY> $EVENTSPACE_RUN_DIR"
        grep -o threshold=77 "$EVENTSPACE_PLAN" | head -n 1
        cat "$EVENTSPACE_RUN_DIR/eventspaced.log"
        stat -c "key %a" "$EVENTSPACE_RUN_DIR/key"
        : >"$0.$PMI_RANK"
        exit 4' "$folder/far"
    is_empty err
    [ "$(grep -c "on beta: <> $home/$prefix-far" "$folder/out")" = 2 ] ||
        fault "not two ranks on beta: $(cat "$folder/out")"
    [ "$(grep -c threshold=77 "$folder/out")" = 2 ] || fault "the plan has not come along"
    contains out "registered with $(uname -n)"
    [ "$(grep -c "serves run" "$folder/out")" = 2 ] || fault "not one server for two ranks"
    contains out "key 600"
    await 5 none_left -far
    # Switches reach all hosts: two elements of one process here, and of two there.
    # shellcheck disable=SC2016
    expect 0 "$eventspace" run -n 3 --name "$prefix-far" \
        --launcher "$folder/two_hosts" -- sh -c '
        "$1" "$EVENTSPACE_RUN" 1 5 live >/dev/null &
        [ "$PMI_RANK" = 0 ] && {
            until "$0" collect on "$EVENTSPACE_RUN" 2>&1 | grep -q "6 elements on"; do
                sleep 0.1
            done
            "$0" collect off "$EVENTSPACE_RUN"
            "$0" collect on --host beta "$EVENTSPACE_RUN"
            "$0" collect threshold 9 --collector collective "$EVENTSPACE_RUN"
            "$0" collect threshold 1000000 --host beta "$EVENTSPACE_RUN"
            "$0" collect off --rank 7 "$EVENTSPACE_RUN"
            echo "ended with $?"
            : >"$2"
        }
        until [ -e "$2" ]; do sleep 0.1; done
        kill -9 $!
        exit 0' "$eventspace" "$helpers/make_segments" "$folder/switched"
    contains out "6 elements off"
    contains out "4 elements on"
    contains out "3 elements keep 9 tuples"
    lacks out "0 elements keep"
    contains err "threshold 1000000: 4 of 4 elements were made for at most 100;"
    contains out "ended with 1"
    expect 0 "$eventspace" clean "$prefix-far"
    await 5 none_left -far
    # Kept, for who looks from elsewhere; `clean` reaches both hosts.
    expect 0 "$eventspace" run -n 3 --keep --name "$prefix-far" \
        --launcher "$folder/two_hosts" -- "$helpers/make_segments" "$prefix-far" 1 5
    contains err kept
    [ "$(pids -far | wc -l)" = 2 ] || fault "servers do not stay for each other"
    expect 0 "$eventspace" clean "$prefix-far"
    await 5 none_left -far
else
    echo "not shown: ranks on another host, which takes the right to make name spaces"
fi

# --- It cannot start -----------------------------------------------------------------------

mkdir "$folder/alone"
cp "$eventspace" "$folder/alone/"
if [ ! -x "$(sed -n 's/^bindir = //p' "$top_builddir/Makefile" | head -n 1)/eventspaced" ]; then
    expect 5 "$folder/alone/eventspace" run -n 1 --launcher "$launcher" -- sh -c 'exit 5'
    contains err "eventspace run: no tuple server: "
    [ "$(wc -l <"$folder/err")" = 1 ] || fault "more than one line of complaint"
fi
printf '#!/bin/sh\necho "eventspaced: it is Sunday" >&2\nexit 2\n' >"$folder/alone/eventspaced"
chmod +x "$folder/alone/eventspaced"
# shellcheck disable=SC2016
expect 5 "$folder/alone/eventspace" run -n 1 --launcher "$launcher" -- \
    sh -c 'echo "$MARKER_WAS_LOADED"; exit 5'
contains out yes
contains err "eventspace run: no tuple server: it is Sunday"

none_left || fault "servers stayed: $(pids | xargs -n1 ps -o args= -p)"
finish
