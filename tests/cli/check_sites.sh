#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_sites.sh - operations are shown with the line of source that called them: of C, of
# the three Fortran bindings, of threads and of modules that were loaded late; live, after
# the end, through a tuple server, and as far as the program's files tell.

. "${0%/*}/functions.sh"
need_mpi
source=$top_srcdir/tests/mpi/sites.c
program=$top_builddir/tests/mpi/sites

grep -q '^#define HAVE_LIBDW 1' "$top_builddir/config.h" || {
    echo "built without libdw"
    exit 77
}

# events RUN OPTIONS... : as JSON, with their sites, into $folder/out
events()
{
    local run=$1
    shift
    expect 0 "$eventspace" events --sites --format json "$@" "$run"
}

# The places of sites.c and those of the events are the same.
marked_lines_are_shown()
{
    "${PYTHON:-python3}" - "$source" "$folder/out" <<'END' || fault "$*: other sites"
import json, re, sys

wanted = set()
for number, line in enumerate(open(sys.argv[1]), 1):
    mark = re.search(r"/\* SITE (\S+) in (\S+) \*/", line)
    for operation in mark[1].split(",") if mark else []:
        wanted.add((operation, f"sites.c:{number + 1} in {mark[2]}"))
lines = [json.loads(line) for line in open(sys.argv[2])]
seen = {(o["operation"].replace(" ", "_"), o.get("site")) for o in lines if o["type"] == "event"}
for what, sites in (("missing", wanted - seen), ("not marked", seen - wanted)):
    for operation, site in sorted(sites, key=str):
        print(f"{what}: {operation} at {site}")
sys.exit(seen != wanted)
END
}

# Each event stands on a line of a statement that calls its operation.
statements_are_shown()
{
    "${PYTHON:-python3}" - "$@" "$folder/out" <<'END' || fault "$*: other sites"
import json, re, sys

path = sys.argv[1]
text = [line.rstrip("\n") for line in open(path)]
calls = {}
for number, line in enumerate(text):
    call = re.search(r"call (MPI_\w+)", line, re.I)
    if not call:
        continue
    last = number
    while text[last].endswith("&") or re.match(r"     [^ \t0]", text[last + 1]):
        last += 1
    for at in range(number, last + 1):
        calls[at + 1] = call[1].lower()
faults = count = 0
for line in open(sys.argv[2]):
    event = json.loads(line)
    if event["type"] != "event":
        continue
    count += 1
    site = re.fullmatch(r"([^:]+):(\d+) in \w+\(\)", event.get("site") or "")
    operation = event["operation"].lower().removesuffix(" receive")
    if not site or not path.endswith("/" + site[1]) or \
            calls.get(int(site[2])) != operation:
        faults += 1
        print("not there:", event["operation"], event.get("site"))
sys.exit(faults > 0 or count < 20)
END
}

# --- C ---------------------------------------------------------------------------------

run=$prefix-c
expect 0 "$eventspace" run -n 2 --keep --name "$run" -- "$program"
events "$run"
marked_lines_are_shown "C"
events "$run" --set through-server=yes
marked_lines_are_shown "through a tuple server"
expect 0 "$eventspace" events --sites "$run"
contains out ', at sites.c:'
contains out ' in call_from_thread()'

expect 0 "$eventspace" run -n 2 --keep --name "$run-serialized" -- "$program" serialized
events "$run-serialized"
marked_lines_are_shown "one thread at a time"

# An archive keeps them, and stays what other tools read.
expect 0 "$eventspace" run -n 2 --record "$folder/archive" --name "$prefix-archive" -- "$program"
expect 0 "$eventspace" export "$folder/archive" --to csv -o "$folder/events.csv"
"${PYTHON:-python3}" - "$folder/events.csv" "$folder/out" <<'END'
import csv, json, sys

with open(sys.argv[2], "w") as out:
    for row in csv.DictReader(open(sys.argv[1])):
        site = json.loads(row["attributes"] or "{}").get("site")
        if row["rank"] and row["operation"] and " open" not in row["type"]:
            json.dump({"type": "event", "operation": row["operation"], "site": site}, out)
            out.write("\n")
END
marked_lines_are_shown "an archive"
if command -v babeltrace2 >/dev/null; then
    expect 0 babeltrace2 "$folder/archive"
fi

# By line: the same counts as of the events.
expect 0 "$eventspace" events --format json --reduce 'count by=site' "$run"
"${PYTHON:-python3}" - "$folder/out" "$source" <<'END' || fault "by=site: other counts"
import json, sys

lines = [json.loads(line) for line in open(sys.argv[1])]
counts = {o["site"]: o["count"] for o in lines if o["type"] == "summary"}
number = next(number for number, line in enumerate(open(sys.argv[2]), 1)
              if "SITE MPI_Barrier" in line) + 1
starts = [count for site, count in counts.items() if site.endswith(" in start_often()")]
print(counts)
# Two ranks: each line of the loop three times, MPI_Start with its receive.
sys.exit(not (counts[f"sites.c:{number} in meet()"] == 2 and
              sorted(starts) == [2, 2, 6, 6, 12]))
END

# Files that do not say all, or are gone.
run=$prefix-file
for how in -g -s; do
    cp "$program" "$folder/program"
    "${STRIP:-strip}" "$how" "$folder/program"
    expect 0 "$eventspace" run -n 2 --keep --name "$run$how" -- "$folder/program"
    events "$run$how"
    if [ "$how" = -g ]; then
        json_lines_hold 'o["type"] != "event" or "()+0x" in o["site"]'
    else
        json_lines_hold 'o["type"] != "event" or o["site"].startswith("program+0x")'
    fi
done
cp "$program" "$folder/program"
events "$run-g"
json_lines_hold 'o["type"] != "event" or "()" in o["site"]'
cp "$top_builddir/tests/mpi/polls" "$folder/program"
events "$run-g"
json_lines_hold 'o["type"] != "event" or o["site"].startswith("program+0x")'
rm "$folder/program"
events "$run-s"
json_lines_hold 'o["type"] != "event" or o["site"].startswith("program+0x")'

# --- Without ---------------------------------------------------------------------------

run=$prefix-off
expect 0 "$eventspace" run -n 2 --keep --sites off --name "$run" -- "$program"
events "$run"
json_lines_hold 'o["type"] != "event" or o["site"] is None'
expect 0 "$eventspace" run -n 2 --keep --name "$run-exec" -- \
    "$eventspace" exec --sites off -- "$program"
events "$run-exec"
json_lines_hold 'o["type"] != "event" or o["site"] is None'
expect 2 "$eventspace" run -n 2 --sites perhaps -- "$program"
contains err "--sites: 'perhaps': give on or off"

# --- Who waits -------------------------------------------------------------------------

run=$prefix-hang
line=$(($(grep -n '"hang") == 0' "$source" | cut -d: -f1) + 1))
"$eventspace" run -n 2 --keep --name "$run" -- "$program" hang >"$folder/hang" 2>&1 &
hung=$!
waits_there()
{
    timeout -k 5 60 "$eventspace" heartbeat --once "$run" >"$folder/out" 2>&1
    grep -qF "MPI_Recv from 1, tag 77, at sites.c:$line in main()" "$folder/out"
}
await 60 waits_there || fault "no line of source: $(cat "$folder/out")"
kill -TERM "$hung"
wait "$hung"
events "$run"
"${PYTHON:-python3}" - "$folder/out" "$line" <<'END' || fault "after its end: other sites"
import json, sys

lines = [json.loads(line) for line in open(sys.argv[1])]
sites = [o["site"] for o in lines if o["type"] == "open" and o["operation"] == "MPI_Recv"]
sys.exit(sites != [f"sites.c:{sys.argv[2]} in main()"])
END

# --- Modules and Fortran ---------------------------------------------------------------

run=$prefix-module
# The library that makes ranks give way wants an MPI that it can see.
EVENTSPACE_LAUNCHER=$MPIEXEC
expect 0 "$eventspace" run -n 2 --keep --name "$run" -- "$top_builddir/tests/mpi/late_host" \
    "$top_builddir/tests/mpi/late_module.so"
events "$run"
json_lines_hold 'o["type"] != "event" or (o["site"].startswith("late_module.c:") and o["site"].endswith(" in run()"))'

for binding in f08.f90 mpi.f90 mpif.f; do
    [ -x "$top_builddir/apps/fortran_${binding%.*}" ] || continue
    run=$prefix-${binding%.*}
    expect 0 "$eventspace" run -n 2 --keep --name "$run" -- \
        "$top_builddir/apps/fortran_${binding%.*}" --rounds 10
    events "$run"
    statements_are_shown "$top_srcdir/apps/fortran_$binding"
done

finish
