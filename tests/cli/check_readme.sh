#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_readme.sh - the commands that README.md, docs/guide.md and docs/analysis.md show do
# what they say.
#
# Blocks fenced with ```sh test are run one after the other, with the build tree's
# commands in PATH and the example programs in the current folder, by a shell with job control
# on a terminal; what blocks fenced with ```text printed quote must be among what they print
# (check_printed.py).

. "${0%/*}/functions.sh"
need_mpi
mkdir "$folder/bin" "$folder/work"
ln -s "$eventspace" "$folder/bin/eventspace"
PATH=$folder/bin:$PATH
export EVENTSPACE_PATTERNS=$top_srcdir/share/patterns
for app in windtunnel ring hang imbalance masterworker; do
    ln -s "$top_builddir/apps/$app" "$folder/work/$app"
done
cd "$folder/work" || exit 1

documents="README.md docs/guide.md"
# What the last one pipes into.
for python in "$PYTHON" /usr/bin/python3; do
    "$python" -c 'import pandas' 2>/dev/null && ln -sf "$python" "$folder/bin/python3"
done
if [ -e "$folder/bin/python3" ] && command -v jq >/dev/null; then
    documents="$documents docs/analysis.md"
else
    echo "no jq, or no python3-pandas: docs/analysis.md is left out"
fi

# The seconds that a document waits count from when all ranks of the run in the background
# have left MPI_Init: on a busy machine that takes seconds.
cat >"$folder/sleep" <<'END'
sleep() {
    local run ranks threads=0
    read -r ranks run < <(jobs -r | sed -n 's/.* -n \([0-9]*\) .*--name \([^ ]*\) .*/\1 \2/p') || :
    while [ -n "${run:-}" ] && [ -n "$(jobs -r)" ]; do
        eventspace heartbeat --once "$run" >.seen 2>&1 || :
        threads=$(sed -n 's/^run .* \([0-9]*\) threads:.*/\1/p' .seen)
        [ "${threads:-0}" -lt "$ranks" ] || grep -v 'after MPI_Init' .seen | grep -q MPI_Init ||
            break
        command sleep 0.1
    done
    command sleep "$1"
}
END
for document in $documents; do
    awk '/^```sh test$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
        "$top_srcdir/$document" >"$folder/commands"
    [ -s "$folder/commands" ] || fault "$document has no commands to test"
    # The names of runs in the documents are the users'; here they must be ours alone. Tunnels
    # that run for seconds rest now and then: other tests need the processors.
    sed -i "s/\\bflow\\b/$prefix-flow/g; s/\\bstuck\\b/$prefix-stuck/g
        /windtunnel/s/ --seconds / --check-every 1 --pause-ms 50&/" "$folder/commands"
    cat "$folder/sleep" "$folder/commands" >"$folder/script"
    # Their output goes to a file: on a terminal it depends on the width.
    timeout -k 10 140 "$PYTHON" "$top_srcdir/tests/cli/terminal.py" 100 bash -c \
        'exec bash -meu "$1" >"$2" 2>&1' - "$folder/script" "$folder/out" ||
        fault "$document: $(cat "$folder/out")"
    "$PYTHON" "$top_srcdir/tests/cli/check_printed.py" "$top_srcdir/$document" "$folder/out" \
        >"$folder/missing" || fault "$(cat "$folder/out" "$folder/missing")"
done
finish
