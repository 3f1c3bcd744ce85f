#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_heartbeat.sh - heartbeat's options, and its status where collectors are off.

. "${0%/*}/functions.sh"
run=$prefix-beat

# Rank 0 lives, the others have finalized.
"$helpers/make_segments" "$run" 20 5 live >"$folder/maker" &
maker=$!
await 20 grep -q ready "$folder/maker"

# Nobody progresses at the first look; ranks that do the same share a row.
expect 0 "$eventspace" heartbeat --once "$run"
contains out "20 threads: 0 stalled, 0 dead, 19 finished"
contains out computing
contains out 1-19.0
lacks out progressing
expect 0 "$eventspace" heartbeat --once --verbose "$run"
contains out 19.0
lacks out 1-19.0

# What nobody can know is not well.
expect 0 "$eventspace" collect off "$run"
expect 3 "$eventspace" heartbeat --once "$run"
contains out "19 finished, 1 unknown"
contains out "collectors of rank 0 are off: what it does is not known; 'eventspace collect on --rank 0 $run' switches them on"
lacks out computing
expect 3 "$eventspace" heartbeat --once -f json "$run"
json_lines_hold "o['unknown'] == 1 and o['threads'][0]['verdict'] == 'unknown' and o['threads'][0]['elements_off'] == 2"
expect 0 "$eventspace" collect on "$run"
expect 0 "$eventspace" heartbeat -n 2 -i 10ms "$run"
contains out computing

# Colours on terminals, and where they are asked for.
terminal=("${PYTHON:-python3}" "$top_srcdir/tests/cli/terminal.py" 100)
red=$(printf '\033[31m')
expect 0 "$eventspace" collect off "$run"
expect 3 "$eventspace" heartbeat --once --color=always "$run"
contains out "$(printf '\033[33munknown')"
lacks out "${red}stalled"
expect 3 "$eventspace" heartbeat --once "$run"
lacks out "$(printf '\033')"
expect 3 env -u NO_COLOR "${terminal[@]}" "$eventspace" heartbeat --once "$run"
contains out "$(printf '\033[33munknown')"
expect 3 env NO_COLOR=1 "${terminal[@]}" "$eventspace" heartbeat --once "$run"
lacks out "$(printf '\033')"
expect 2 "$eventspace" heartbeat --color=red "$run"
# A live screen is the alternate one; the last frame stays on the other.
expect 3 "${terminal[@]}" "$eventspace" heartbeat -n 2 -i 10ms "$run"
contains out "$(printf '\033[?1049h')"
contains out "$(printf '\033[?1049lrun')"
expect 0 "$eventspace" collect on "$run"

expect 2 "$eventspace" heartbeat --interval 1ms "$run"
contains err "--interval: '1ms' is too short; give at least 10ms"
for wrong in "--stalled-after 0" "--stalled-after soon" "--interval 0" "--interval -1"; do
    # shellcheck disable=SC2086 # words
    expect 2 "$eventspace" heartbeat $wrong "$run"
done
expect 0 "$eventspace" heartbeat --once --stalled-after 0.5 "$run"
expect 0 "$eventspace" heartbeat --once --stalled-after 2min "$run"
kill -KILL $maker
wait $maker 2>/dev/null
finish
