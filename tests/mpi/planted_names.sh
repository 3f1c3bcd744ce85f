#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# planted_names.sh - names chosen by a program never reach a terminal or a row unescaped.
# The output of every command is searched, for a program with hostile names.

. "${top_srcdir:?not set}/tests/mpi/functions.sh"
use_commands

! "$MPIEXEC" --version 2>/dev/null | grep -qi hydra ||
    export EVENTSPACE_LAUNCHER="$MPIEXEC -genv LD_PRELOAD $shim"
run=planted-$$

# A terminal title, a second line, a quote, a comma, CSI in two forms, invalid UTF-8.
planted=$'=1+PLANT\e]0;title\a\r\nFORGED\t"a",\xc2\x9b2J\x9b\xff\x7f'
folder="$work/$planted"
mkdir -p "$folder"
cp "$bin/planted_names" "$folder/$planted"

clean_up() {
    [ -z "${launcher:-}" ] || kill "$launcher" 2>/dev/null
    wait
    clean_up_commands
}
trap clean_up EXIT

# Searches for control characters, forged lines, and fields that are formulas. A planted
# name in text is also accepted on stderr.
cat >"$work/look.py" <<'END'
import csv, io, json, sys

def look(kind, name):
    faults = []
    data = open(name, "rb").read()
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        faults.append(f"{name}: not UTF-8: {fault}")
        text = data.decode(errors="replace")
    rows = text.replace("\r\n", "\n") if kind == "csv" else text
    for character in rows:
        if character != "\n" and (ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0):
            faults.append(f"{name}: {character!r}")
    faults += [f"{name}: {line!r}" for line in text.splitlines() if line.startswith("FORGED")]
    if kind == "document":
        json.loads(text)
    if kind == "json":
        for line in text.splitlines():
            json.loads(line)
    if kind == "csv":
        table = list(csv.reader(io.StringIO(text)))
        faults += [f"{name}: {field!r}" for row in table for field in row
                   if field[:1] in ("=", "@")]
        if len({len(row) for row in table}) > 1:
            faults.append(f"{name}: rows of several lengths")
    return faults, text.count("PLANT")

kind, out, err = sys.argv[1:]
faults, seen = look(kind, out)
more_faults, said = look("text", err)
faults += more_faults
print("\n".join(faults[:6]), end="")
sys.exit(2 if faults else seen + (said if kind == "text" else 0) == 0)
END

# looks KIND shows|hides COMMAND... - the exit status is ignored, since the program is dead.
looks() {
    local kind=$1 shows=$2
    shift 2
    timeout -k 5 30 "$@" >"$work/out" 2>"$work/err" </dev/null
    [ -s "$work/out" ] || [ "$kind" != json ] || echo '{}' >"$work/out"
    "${PYTHON:-python3}" "$work/look.py" "$kind" "$work/out" "$work/err" >"$work/faults"
    local found=$?
    head -c 600 "$work/faults" | cat -v
    if [ "$shows" = shows ]; then
        [ $found -eq 0 ]
    else
        [ $found -lt 2 ]
    fi
    expect 0 "$kind: ${*//[^ -~]/?}"
}

# The commands for a run.
commands() {
    local target=$1 shows=$2
    looks text $shows "$eventspace" events --local --sites "$target"
    looks json $shows "$eventspace" events --local --sites --format json "$target"
    looks csv $shows "$eventspace" events --local --sites --format csv "$target"
    looks text hides "$eventspace" events "$target"
    looks text $shows "$eventspace" events --local --operation MPI_Allreduce --last 2 "$target"
    looks text $shows "$eventspace" events --local --reduce 'sum of=duration by=site' "$target"
    looks text $shows "$eventspace" collectives --once --local "$target"
    looks json $shows "$eventspace" collectives --once --local --format json "$target"
    looks text hides "$eventspace" list --communicators "$target"
    looks text hides "$eventspace" list "$target"
    looks json hides "$eventspace" list --format json "$target"
    looks text hides "$eventspace" list --elements "$target"
    looks text hides "$eventspace" heartbeat --once --local "$target"
    looks json hides "$eventspace" heartbeat --once --local --format json "$target"
    looks text hides "$eventspace" top --batch -n 1 --local --wide "$target"
    looks json hides "$eventspace" top --batch -n 1 --local --format json "$target"
    looks text hides "$eventspace" metrics --local "$target"
    looks text hides "$eventspace" events --comm "$planted" --local "$target"
}

# The analyses that take a run or an archive.
analyses() {
    local target=$1 shows=$2
    looks text $shows "$eventspace" why "$target"
    looks json $shows "$eventspace" why -v --format json "$target"
    looks text $shows "$eventspace" time --wide "$target"
    looks json $shows "$eventspace" time --format json "$target"
    looks csv $shows "$eventspace" time --by communicator --format csv "$target"
    looks csv $shows "$eventspace" time --by line --format csv "$target"
    looks text $shows "$eventspace" profile --wide "$target"
    looks json $shows "$eventspace" profile --format json "$target"
    looks csv $shows "$eventspace" profile --show sites --format csv "$target"
    looks text $shows "$eventspace" compare --all --wide "$target" "$target"
    looks json $shows "$eventspace" compare --all --format json "$target" "$target"
    looks csv $shows "$eventspace" compare --all --format csv "$target" "$target"
    sets "$target"
    looks text hides "$eventspace" export "$target" --to svg
    looks text hides "$eventspace" export "$target" --to html
    rm -rf "$work/otf2"
    looks text hides "$eventspace" export "$target" --to otf2 -o "$work/otf2"
    looks text hides "$eventspace" import "$work/otf2/traces.otf2" -o "$work/set"
    looks csv shows "$eventspace" export "$work/set" --to csv
}

sets() {
    local set=$1 to
    looks csv shows "$eventspace" export "$set" --to csv
    looks text shows "$eventspace" export "$set" --to dot
    looks text shows "$eventspace" export "$set" --to shiviz
    looks document hides "$eventspace" export "$set" --to chrome
    looks json shows "$eventspace" export "$set" --to event-set
    looks text hides "$eventspace" order "$set" --stats
    looks text shows "$eventspace" search "$set" -p "$work/patterns"
    looks json shows "$eventspace" search "$set" -p "$work/patterns" --format json
}

cat >"$work/patterns" <<'END'
Send := [class = "send"];
Receive := [class = "receive"];
Send $send;
Receive $receive;
Message := ($send => $receive);
END

# A run that ended well, and its archive.
looks text hides "$eventspace" run --name "$run" --keep -n 3 --record "$work/archive" \
    -- "$folder/$planted" "$planted"
commands "$run" shows
analyses "$run" shows
analyses "$work/archive" shows
for kind in LATENT RACE LEAK; do
    "$eventspace" why "$work/archive" | grep -q "^$kind"
    expect 0 "the planted error is found: $kind"
done

# A run that hangs: which rank waits where, while it lives and after it was ended.
"$eventspace" run --name "$run-hangs" -n 3 -- "$folder/$planted" "$planted" hang \
    >"$work/hangs" 2>"$work/said" </dev/null &
launcher=$!
await 30 grep -q waiting "$work/hangs"
commands "$run-hangs" shows
looks text shows "$eventspace" heartbeat --local --once "$run-hangs"
looks text shows "$eventspace" why "$run-hangs"
looks text shows "$eventspace" time "$run-hangs"
looks json hides "$eventspace" scope list --format json "$run-hangs"
looks text hides "$eventspace" collect off --comm "$planted" "$run-hangs"
kill -INT "$launcher"
wait "$launcher"
launcher=
looks text hides cat "$work/said"

# Paths, and names in files, that come from outside.
looks text shows "$eventspace" export "$folder/none" --to dot
looks text shows "$eventspace" run --map "$folder/none" true
looks text shows "$eventspace" check "$folder/none"
printf '{"version": 1, "%b": 1}' '\\u001b]0;PLANT\\u0007\\n' >"$work/map.json"
looks text shows "$eventspace" check "$work/map.json"
looks text shows "$eventspace" run -n 1 --launcher "'$folder/none'" true
looks text hides "$eventspace" doctor "$folder/$planted"
looks text shows "$eventspace" exec -- "$folder/none"
finish
