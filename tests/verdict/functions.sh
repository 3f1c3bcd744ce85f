# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# functions.sh - shared by the drivers of verdicts on real programs; to be sourced.
# shellcheck shell=bash

. "${top_srcdir:?not set}/tests/cli/functions.sh"

need_mpi
here=$top_srcdir/tests/verdict
export VERDICT_FOLDER=$folder PYTHONDONTWRITEBYTECODE=1

# Removes what runs have left, also when a driver is interrupted.
clean_runs()
{
    "$eventspace" clean --all >/dev/null 2>&1
    clear_up
}
trap clean_runs EXIT
