#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_schedules.sh - runs random programs with and without a planted fault, and checks
# that the verdict equals the truth. VERDICT_LONG=1 runs 1,000 without a fault and 500 with
# one.
#
# usage: check_schedules.sh [free|faulty|both|show-free|show-faulty] [FIRST-SEED [COUNT]]

. "${0%/*}/functions.sh"
python=${PYTHON:-python3}
if [ $# -gt 0 ]; then
    "$python" "$here/schedules.py" "$@"
elif [ -n "${VERDICT_LONG:-}" ]; then
    "$python" "$here/schedules.py" free 1 1000 && "$python" "$here/schedules.py" faulty 1 500
else
    "$python" "$here/schedules.py" both 1 10
fi
