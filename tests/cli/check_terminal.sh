#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_terminal.sh - MPI programs are jobs of a shell on a terminal, as without us: in the
# background, stopped and continued, interrupted, and when the terminal is closed.

. "${0%/*}/functions.sh"
need_mpi
unset EVENTSPACE_LAUNCHER # as a user starts it
export prefix
"$PYTHON" "$top_srcdir/tests/cli/terminal_jobs.py" "$folder" "$eventspace" "$MPIEXEC" \
    "$top_builddir/apps/ring" || fault "jobs on a terminal differ"
finish
