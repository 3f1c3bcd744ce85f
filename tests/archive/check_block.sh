#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_block.sh - with `run --record`, elements that block lose nothing, from the first
# event on; the program waits only for a limited time if the recorder is dead or
# stopped.

# shellcheck source=tests/cli/functions.sh
. "${0%/*}/../cli/functions.sh"
need_mpi
dump=$top_builddir/tests/archive/dump_archive
apps=$top_builddir/apps

# Rings so small that they are full before the first reading.
cat >"$folder/map.json" <<'END'
{
  "version": 1,
  "application": {"ranks": 2},
  "collectors": [
    {"name": "messages", "classes": ["send", "receive", "completion"], "split": "peer",
     "threshold": 7, "on_full": "block"},
    {"name": "rest", "classes": ["collective", "communicator", "one-sided", "io", "other"],
     "threshold": 3, "on_full": "block"}
  ]
}
END

# holds ARCHIVE EXPRESSION - checks a Python expression; `rows` has the rows of the
# archive's tables by type.
holds()
{
    "${PYTHON:-python3}" - "$1/.eventspace/archive.jsonl" "$2" <<'END' ||
import collections, json, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    row = json.loads(line)
    rows[row["type"]].append(row)
sys.exit(not eval(sys.argv[2], {"rows": rows}))
END
        fault "$1: not $2: $(grep -E '"type":"(archive|element)"' "$1/.eventspace/archive.jsonl")"
}

for try in 1 2; do
    expect 0 "$eventspace" run --name "$prefix-block" --map "$folder/map.json" \
        --record "$folder/$try" -- "$apps/windtunnel" --rows 24 --iterations 150
    lacks err "lost"
    holds "$folder/$try" "rows['archive'][0]['ended_ns'] > 0"
    holds "$folder/$try" "rows['archive'][0]['lost'] == 0 == rows['archive'][0]['missed']"
    holds "$folder/$try" "all(e['lost'] == 0 == e['missed'] for e in rows['element'])"
    holds "$folder/$try" "rows['archive'][0]['tuples'] > 1000"
    # The calls of each rank are complete from the first one on.
    expect 0 "$dump" "$folder/$try"
    mv "$folder/out" "$folder/calls"
    [ "$(grep -c "MPI_Allreduce 0 " "$folder/calls")" = \
        "$(grep -c "MPI_Allreduce 1 " "$folder/calls")" ] || fault "reductions are missing"
    [ "$(grep -c MPI_Init "$folder/calls")" = 2 ] || fault "not both ranks have their MPI_Init"
done

# The same without a map.
expect 0 "$eventspace" run --name "$prefix-option" -n 2 --threshold 7 --on-full=block \
    --record "$folder/option" -- "$apps/windtunnel" --rows 24 --iterations 150
lacks err "lost"
grep -Eq "^eventspace run: recorded in $folder/option: [0-9]{4,} events of 2 ranks on 1 host, [0-9.]+ [KM]?i?B\$" \
    "$folder/err" || fault "what was recorded is not told: $(cat "$folder/err")"
holds "$folder/option" "rows['archive'][0]['lost'] == 0 == rows['archive'][0]['missed']"
expect 2 "$eventspace" run --on-full=wait -- true
contains err "--on-full: 'wait': give block or discard"

# Without a recording nothing waits for a first reader, and the plan is that of the map.
expect 0 "$eventspace" run --name "$prefix-alone" --map "$folder/map.json" -- \
    sh -c "cat \"\$EVENTSPACE_PLAN\"; \"$apps/windtunnel\" --rows 24 --iterations 50"
contains out "full=block"
lacks out "full=await"

# A recorder that is killed before its first reading delays the program by some seconds,
# once.
cat >"$folder/kills" <<'END'
#!/bin/sh
# Kills the recorder that `eventspace run` has started, once.
if mkdir "$1/killed" 2>/dev/null; then
    for process in /proc/[0-9]*; do
        read -r _ _ _ parent _ <"$process/stat" 2>/dev/null || continue
        [ "$parent" = "$3" ] && tr '\0' ' ' <"$process/cmdline" 2>/dev/null |
            grep -q -- "--record $2 " && kill -KILL "${process#/proc/}"
    done
    : >"$1/done"
fi
until [ -e "$1/done" ]; do sleep 0.05; done
shift 3
exec "$@"
END
chmod +x "$folder/kills"
# shellcheck disable=SC2016 # of that shell
timeout -k 5 60 sh -c 'exec "$0" run --name "$1" --map "$2/map.json" --record "$2/dead" -- \
    "$2/kills" "$2" "$2/dead" $$ "$3/windtunnel" --rows 24 --iterations 50' \
    "$eventspace" "$prefix-dead" "$folder" "$apps" >"$folder/out" 2>"$folder/err" ||
    fault "the program of a killed recorder: $? $(cat "$folder/err")"
contains err "the recording was killed by signal 9"

# A recorder that is stopped does not block the program for long: the program ends, and
# lost events are counted.
cat >"$folder/stops" <<'END'
#!/bin/sh
# Stops the recorder that `eventspace run` has started as soon as it has recorded
# messages, and continues it when the program has ended.
directory=$1
parent_wanted=$2
first=$3
shift 3
if mkdir "$first" 2>/dev/null; then
    "$@" &
    program=$!
    until [ -n "$(find "$directory" -type f -size +0 -name '*-messages-*' 2>/dev/null)" ] ||
        ! kill -0 $program 2>/dev/null; do
        sleep 0.01
    done
    recorder=
    for process in /proc/[0-9]*; do
        read -r _ _ _ parent _ <"$process/stat" 2>/dev/null || continue
        [ "$parent" = "$parent_wanted" ] && tr '\0' ' ' <"$process/cmdline" 2>/dev/null |
            grep -q -- "--record $directory " && recorder=${process#/proc/}
    done
    kill -STOP "$recorder" || exit 3
    wait $program
    status=$?
    grep -q '^State:.T' "/proc/$recorder/status" || status=4
    kill -CONT "$recorder"
    exit $status
fi
exec "$@"
END
chmod +x "$folder/stops"
# shellcheck disable=SC2016 # of that shell
timeout -k 5 60 sh -c 'exec "$0" run --name "$1" --map "$2/map.json" --record "$2/stopped" \
    -- "$2/stops" "$2/stopped" $$ "$2/first" "$3/windtunnel" --rows 24 --iterations 20000' \
    "$eventspace" "$prefix-stopped" "$folder" "$apps" >"$folder/out" 2>"$folder/err" ||
    fault "the program of a stopped recorder: $? $(cat "$folder/err")"
contains err "events were lost"
contains err "with 'eventspace run --on-full=block' the program waits"
holds "$folder/stopped" "rows['archive'][0]['lost'] > 0"
holds "$folder/stopped" "rows['archive'][0]['ended_ns'] > 0"

finish
