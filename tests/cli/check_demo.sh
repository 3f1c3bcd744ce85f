#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_demo.sh - the demonstration shows what it promises, in time, on a terminal.

. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_LAUNCHER # as a user starts it
began=$SECONDS
# On a terminal, where it runs its commands in the background.
TMPDIR=$folder timeout -k 10 170 "$PYTHON" "$top_srcdir/tests/cli/terminal.py" 100 \
    "$eventspace" demo >"$folder/out" 2>&1 ||
    fault "the demonstration failed: $(cat "$folder/out")"
echo "it took $((SECONDS - began)) s"
contains out "the others lost"
contains out "messages matched"
races=$(grep -cE '^[012]\.0:[0-9]+ MPI_(Recv|Send)(, [012]\.0:[0-9]+ MPI_(Recv|Send)){3}$' "$folder/out")
[ "$races" -ge 1 ] || fault "no message race is shown: $(cat "$folder/out")"
contains out "DEADLOCK (certain): 0 -> 1 -> 0"
contains out "That was the main job"
# One archive stays, and the last lines tell how to look at it.
kept=$folder/eventspace-demo-$(id -u)
contains out "eventspace view $kept"
expect 0 "$eventspace" order --stats "$kept"

# The example programs can be taken for more.
expect 0 "$eventspace" demo --programs
programs=$(cat "$folder/out")
for name in hang imbalance masterworker ring stencil2d windtunnel; do
    [ -x "$programs/$name" ] || fault "there is no $programs/$name"
done
expect 2 "$eventspace" demo more
finish
