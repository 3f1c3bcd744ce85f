#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_key.sh - the run's keys: where they are, where they are not, and what the read-only
# one is good for; and on which address a server listens.

. "${0%/*}/functions.sh"
server=$top_builddir/cli/eventspaced
launcher=$top_srcdir/tests/cli/local_launcher.sh
run=("$eventspace" run --launcher "$launcher")
home=$EVENTSPACE_DIR
unset EVENTSPACE_HOME EVENTSPACE_KEY EVENTSPACE_KEY_FILE EVENTSPACE_STAGES

end_servers()
{
    local pid
    for pid in $(pgrep -f "[e]ventspaced --run $prefix"); do kill -9 "$pid"; done
    clear_up
}
trap end_servers EXIT

# --- The address ------------------------------------------------------------------------

# addresses NAME OPTION... - what the server of a run listens on.
addresses()
{
    local name=$1
    shift
    # shellcheck disable=SC2016
    expect 0 "${run[@]}" --name "$prefix-$name" "$@" -- \
        sh -c 'cat "$EVENTSPACE_RUN_DIR/server.json"'
}

addresses named -n 1 --listen 127.0.0.1
contains out '"tls:127.0.0.1:'
lacks out 'tls:*:'
addresses all -n 1 --listen '*'
contains out '"tls:*:'
expect 2 "${run[@]}" -n 1 --listen 192.0.2.1 -- true
contains err "'192.0.2.1' is not an address of this host"
expect 2 "${run[@]}" -n 1 --listen nowhere.invalid -- true
contains err "'nowhere.invalid' is not an address of this host"
# A map that calls this host by an address.
"$PYTHON" - "$(uname -n)" >"$folder/map.json" <<'END'
import json, sys
print(json.dumps({"version": 1, "application": {"ranks": 2}, "cluster": {"hosts": [
    {"name": sys.argv[1], "address": "127.0.0.1"}, {"name": "other"}]},
    "mapping": {"ranks": [{"ranks": "0-1", "host": sys.argv[1]}]}}))
END
# The loop leads nobody here.
addresses map --map "$folder/map.json"
lacks out '"tls:127.0.0.1:'
# A server that is not the home server: the address by which it gets there.
expect 0 "$server" --run "$prefix-way" --grace 60 --advertise 127.0.0.1 --host alpha
port=$(sed -n 's/^tls:.*://p' "$folder/out")
make_run_folder "$folder/other/$prefix-way"
cp -p "$home/$prefix-way/key" "$folder/other/$prefix-way"
expect 0 env EVENTSPACE_DIR="$folder/other" "$server" --run "$prefix-way" --grace 60 --host beta \
    --home "tls:127.0.0.1:$port"
contains out 'tls:127.0.0.1:'

# --- The key --------------------------------------------------------------------------

[ "$(stat -c %a "$home/$prefix-way/key" "$home/$prefix-way/key.read" | sort -u)" = 600 ] ||
    fault "others may read a key"
cmp -s "$home/$prefix-way/key" "$home/$prefix-way/key.read" && fault "both keys are the same"

# Seen by a rank: the environments of the processes above it, as far as they are ours.
cat >"$folder/look" <<'END'
key=$(cat "$EVENTSPACE_RUN_DIR/key")
[ ${#key} = 64 ] || echo "no key"
pid=$$
while [ "$pid" -gt 1 ]; do
    case $(tr '\0' ' ' <"/proc/$pid/cmdline") in
    *local_launcher.sh*) name=launcher ;;
    *eventspace*) name=ours ;;
    *) name=program ;;
    esac
    # The rank's own supervisor and everything below it, and `run` itself.
    if tr '\0' '\n' <"/proc/$pid/environ" | grep -q "$key"; then echo "seen: $name"; fi
    [ "$(cat "/proc/$pid/comm")" != eventspaced ] || break
    pid=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
done
echo "home: ${EVENTSPACE_HOME-none}"
END
expect 0 "${run[@]}" -n 1 --name "$prefix-seen" --listen 127.0.0.1 -- sh "$folder/look"
lacks out 'seen: ours'
lacks out 'seen: program'
lacks out 'no key'
contains out 'home: none'
# Here the launcher has it; not where the hosts share the directory.
contains out 'seen: launcher'
expect 0 "${run[@]}" -n 1 --name "$prefix-shared" --shared-dir --listen 127.0.0.1 -- sh "$folder/look"
lacks out 'seen:'
lacks out 'no key'

# Nobody reads the memory of a process that has it. Root may, so another user asks.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
    open=$(mktemp -d)
    chown 65534:65534 "$open"
    if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$server"; then
        setpriv --reuid=65534 --regid=65534 --clear-groups env EVENTSPACE_DIR="$open" \
            "$server" --run "$prefix-dump" --grace 60 --advertise 127.0.0.1 \
            >"$folder/out" 2>"$folder/err" || fault "no server: $(cat "$folder/err")"
        pid=$(pgrep -f "[e]ventspaced --run $prefix-dump")
        # The system gives the files of a process that is not dumpable to root.
        [ "$(stat -c %u "/proc/$pid/environ")" = 0 ] || fault "the server's memory is readable"
        kill "$pid"
    fi
    rm -rf "$open"
fi

# --- Looking only ---------------------------------------------------------------------

# The directory of a run on another host, with the read-only key alone.
far=$prefix-far
expect 0 "$server" --run "$far" --grace 60 --host nowhere.invalid --advertise 127.0.0.1
mv "$home/$far/key" "$folder/key"
expect 0 "$eventspace" scope list "$far"
contains out SCOPE
expect 2 "$eventspace" scope set absent shape=flat "$far"
contains err 'read-only key'
# Named: anywhere, with a mode that is the user's own.
mv "$home/$far/key.read" "$folder/mine"
expect 0 env EVENTSPACE_KEY_FILE="$folder/mine" "$eventspace" scope list "$far"
expect 2 env EVENTSPACE_KEY_FILE="$folder/absent" "$eventspace" scope list "$far"
contains err "$folder/absent"
chmod 644 "$folder/mine"
expect 2 env EVENTSPACE_KEY_FILE="$folder/mine" "$eventspace" scope list "$far"
contains err 'others may use it'
# The key itself changes things.
expect 0 env EVENTSPACE_KEY_FILE="$folder/key" "$eventspace" scope list "$far"
expect 2 env EVENTSPACE_KEY_FILE="$folder/key" "$eventspace" scope set absent shape=flat "$far"
lacks err 'read-only key'
finish
