#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_own_files.sh - EventSpace touches and believes what is its own, and nothing else.

. "${0%/*}/functions.sh"
use_marker
other_user=54321

end_all()
{
    [ -z "${maker:-}" ] || kill -KILL "$maker" 2>/dev/null
    clear_up
}
trap end_all EXIT

# All that looks into the folder of run directories; each has to end by itself.
look_everywhere()
{
    local wanted=$1 words=$2 run=$3
    for command in heartbeat events "scope list" "record -o $folder/archive" collectives \
        "collect off" "list"; do
        # shellcheck disable=SC2086 # words
        expect "$wanted" "$eventspace" $command "$run"
        contains err "$words"
    done
}

# --- A folder that is used for something else ------------------------------------------

project=$folder/project
mkdir -p "$project/src" "$project/empty"
echo 'int main(void);' >"$project/src/main.c"
touch "$project/src/key"
export EVENTSPACE_DIR=$project
expect 0 "$eventspace" clean --all
contains out "nothing to remove"
expect 2 "$eventspace" clean src
contains err "src: is not a run directory"
expect 2 "$eventspace" clean --force src
expect 0 "$eventspace" list
lacks out src
expect 0 "$eventspace" run -n 1 --name src true
contains err "src: is not a run directory"
# A run among them goes, they stay; with something foreign in it, it stays whole.
expect 0 "$eventspace" run -n 1 --keep --name "$prefix-mine" true
touch "$project/$prefix-mine/notes.txt"
expect 2 "$eventspace" clean "$prefix-mine"
contains err notes.txt
for file in run.json map.json eventspace-run notes.txt; do
    [ -e "$project/$prefix-mine/$file" ] || fault "$file is gone"
done
rm "$project/$prefix-mine/notes.txt"
expect 0 "$eventspace" clean "$prefix-mine"
[ ! -e "$project/$prefix-mine" ] || fault "the run is left"
# So does its tuple server; and one that is told to tidy up looks, too.
run=$prefix-tidy
server=$top_builddir/cli/eventspaced
expect 0 "$server" --run "$run" --grace 60 --host alpha
port=$(sed -n 's/^tls:.*://p' "$folder/out")
touch "$project/$run/notes.txt"
expect 2 "$eventspace" clean "$run"
contains err notes.txt
[ -S "$project/$run/server.sock" ] || fault "its server was ended all the same"
rm "$project/$run/notes.txt"
beta=$folder/beta/$run
make_run_folder "$beta"
cp -p "$project/$run/key" "$beta"
expect 0 env EVENTSPACE_DIR="$folder/beta" "$server" --run "$run" --grace 60 --host beta \
    --home "tls:127.0.0.1:$port"
await 10 grep -q "registered with alpha" "$beta/eventspaced.log"
touch "$beta/notes.txt"
expect 0 "$eventspace" clean "$run"
await 10 grep -q "'notes.txt' in it does not belong to EventSpace" "$beta/eventspaced.log"
[ -e "$beta/notes.txt" ] || fault "the server removed a foreign file"
[ "$(cat "$project/src/main.c")" = 'int main(void);' ] && [ -d "$project/empty" ] &&
    [ -e "$project/src/key" ] || fault "foreign files are gone"

# --- A link in the place of the folder ---------------------------------------------------

unset EVENTSPACE_DIR
export XDG_RUNTIME_DIR=$folder/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
ln -s "$project" "$XDG_RUNTIME_DIR/eventspace"
expect 2 "$eventspace" clean --all
contains err "not a link"
expect 2 "$eventspace" list
contains err "not a link"
look_everywhere 2 "not a link" src
# The program outlives its start: a launcher that still writes to it dies of SIGPIPE.
expect 3 "$eventspace" run -n 1 --name "$prefix-link" sh -c 'sleep 0.3; exit 3'
contains err "not a link"
[ -e "$project/src/main.c" ] || fault "what the link leads to was removed"
export EVENTSPACE_DIR=$XDG_RUNTIME_DIR/eventspace/
expect 2 "$eventspace" list
contains err "not a link"

# --- Pipes and links in the place of files ----------------------------------------------

export EVENTSPACE_DIR=$folder/runs
run=$prefix-pipes
make_run_folder "$EVENTSPACE_DIR/$run"
mkfifo "$EVENTSPACE_DIR/$run/server.json"
look_everywhere 2 "server.json: is a pipe" "$run"
expect 0 "$eventspace" list
contains err "run '$run' is not listed"
rm "$EVENTSPACE_DIR/$run/server.json"
ln -s /dev/zero "$EVENTSPACE_DIR/$run/server.json"
look_everywhere 2 "server.json: is a link" "$run"
rm "$EVENTSPACE_DIR/$run/server.json"
for file in lock key run.json map.json collect.plan collect.trees server.lock eventspaced.log; do
    mkfifo "$EVENTSPACE_DIR/$run/$file"
done
expect 0 "$eventspace" list
expect 2 "$eventspace" clean "$run"
contains err "does not belong to EventSpace"
expect 2 "$top_builddir/cli/eventspaced" --run "$run"
contains err "server.lock: is a pipe"
rm "$EVENTSPACE_DIR/$run/server.lock"
expect 2 "$top_builddir/cli/eventspaced" --run "$run"
contains err "is a pipe"
"$helpers/make_segments" "$run" 1 5 live >"$folder/maker" &
maker=$!
await 10 grep -q ready "$folder/maker"
expect 2 "$eventspace" events --scope mine "$run"
contains err "map.json: is a pipe"
kill -KILL $maker
wait $maker 2>/dev/null
rm -r "${EVENTSPACE_DIR:?}/$run"
"$eventspace" clean "$run" >/dev/null 2>&1
rm -f /dev/shm/eventspace."$run".*

# --- Runs of other folders ----------------------------------------------------------------

run=$prefix-there
"$helpers/make_segments" "$run" 2 5 live >"$folder/maker" &
maker=$!
await 10 grep -q ready "$folder/maker"
expect 0 "$eventspace" list
contains out "$run"
export EVENTSPACE_DIR=$folder/fresh
"$helpers/make_segments" "$prefix-here" 1 5 >/dev/null
expect 0 "$eventspace" list
lacks out "$run"
contains out "other folders, which --everywhere shows"
expect 0 "$eventspace" list --format json
json_lines_hold "o['run'] != '$run' and not o['elsewhere']"
expect 0 "$eventspace" list --everywhere --format json
grep -q "\"run\":\"$run\".*\"elsewhere\":true" "$folder/out" || fault "it is nowhere"
# The other one lives, and this one is the only one here all the same.
expect 1 "$eventspace" heartbeat --local
contains out "run $prefix-here"
kill -KILL $maker
wait $maker 2>/dev/null
maker=
# Who names no run is asked; nobody is there to ask.
expect 2 "$eventspace" clean
contains out "would remove $prefix-here: 1 segments"
lacks out "$run"
contains err "--all"
ls /dev/shm/eventspace."$prefix-here".* >/dev/null || fault "removed without --all"
expect 2 "$eventspace" clean --all "$run"
expect 0 "$eventspace" clean --all
contains out "removed $prefix-here: 1 segments"
lacks out "$run"
expect 2 "$eventspace" clean "$run"
contains err "--everywhere"
expect 0 "$eventspace" clean --everywhere "$run"
contains out "removed $run: 2 segments"
# With a terminal it asks.
"$helpers/make_segments" "$prefix-here" 1 5 >/dev/null
for answer in n y; do
    "${PYTHON:-python3}" - "$eventspace" $answer >"$folder/out" 2>&1 <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "clean"])
text = b""
while b"[y/N]" not in text:
    text += os.read(terminal, 1024)
os.write(terminal, sys.argv[2].encode() + b"\n")
try:
    while part := os.read(terminal, 1024):
        text += part
except OSError:
    pass
print(text.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
    status=$?
    contains out "would remove $prefix-here: 1 segments"
    [ $status = $([ $answer = y ] && echo 0 || echo 1) ] || fault "answer $answer: status $status"
done
compgen -G "/dev/shm/eventspace.$prefix-here.*" >/dev/null && fault "yes, and it is left"

# --- Modes, whatever the umask -------------------------------------------------------------

export EVENTSPACE_DIR=$folder/masks
as_user=()
[ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null ||
    as_user=(setpriv --reuid $other_user --regid $other_user --clear-groups)
for mask in 000 777; do
    rm -rf "$EVENTSPACE_DIR"
    # shellcheck disable=SC2016 # for the shell in there
    expect 0 sh -c 'umask "$1" && shift && exec "$@"' sh $mask "$eventspace" run -n 1 --keep \
        --threshold 99 --name "$prefix-mask" -- "$helpers/make_segments" "$prefix-mask" 1 5
    # shellcheck disable=SC2012 # the names are ours
    find "$EVENTSPACE_DIR" /dev/shm -maxdepth 2 \( -path "*$prefix-mask*" -o -path "$EVENTSPACE_DIR" \) \
        -printf '%M %f\n' >"$folder/out"
    grep -qvE '^(drwx------|-rw-------|srw-------) ' "$folder/out" && fault "umask $mask: $(cat "$folder/out")"
    [ "$(wc -l <"$folder/out")" -ge 8 ] || fault "umask $mask: too few files: $(cat "$folder/out")"
    expect 0 "$eventspace" clean "$prefix-mask"
done

# --- Other users ---------------------------------------------------------------------------

if [ ${#as_user[@]} -eq 0 ]; then
    echo "not root, or no setpriv: what belongs to other users is not tested"
    finish
fi
export EVENTSPACE_DIR=$folder/theirs
run=$prefix-theirs
make_run_folder "$EVENTSPACE_DIR/$run"
mkfifo "$EVENTSPACE_DIR/$run/server.json" "$EVENTSPACE_DIR/$run/lock"
chown -R $other_user "$EVENTSPACE_DIR"
look_everywhere 2 "belongs to user $other_user" "$run"
for command in list metrics; do
    expect 2 "$eventspace" $command
    contains err "belongs to user $other_user"
done
for option in --all --dry-run --force "$run" "--force $run"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$eventspace" clean $option
    contains err "belongs to user $other_user"
done
expect 2 "$top_builddir/cli/eventspaced" --run "$run"
contains err "belongs to user $other_user"
expect 3 "$eventspace" run -n 1 --name "$run" sh -c 'sleep 0.3; exit 3'
contains err "belongs to user $other_user"
[ -p "$EVENTSPACE_DIR/$run/lock" ] || fault "their files are gone"
# A file of theirs in a folder of ours.
export EVENTSPACE_DIR=$folder/runs
run=$prefix-planted
make_run_folder "$EVENTSPACE_DIR/$run"
echo '{"version":1,"host":"evil","addresses":["tcp:127.0.0.1:1"]}' >"$EVENTSPACE_DIR/$run/server.json"
chown $other_user "$EVENTSPACE_DIR/$run/server.json"
look_everywhere 2 "belongs to user $other_user" "$run"
expect 2 "$eventspace" clean "$run"
contains err "server.json"
# A run of theirs: they see it, we see whose it is.
chmod 755 "$folder"
if "${as_user[@]}" env EVENTSPACE_DIR="$folder/none" "$helpers/make_segments" "$prefix-user" 1 5 >"$folder/out" 2>&1; then
    for command in list events heartbeat clean; do
        expect 2 "$eventspace" $command "$prefix-user"
        contains err "belongs to user $other_user"
    done
else
    echo "the other user cannot run programs from here: $(cat "$folder/out")"
fi
finish
