#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_after_death.sh - checks that the verdict is the same live, after SIGTERM, after
# SIGKILL and from the archive. VERDICT_LONG=1 covers all programs that hang with a certain
# verdict.
#
# usage: check_after_death.sh [CASE...]

. "${0%/*}/functions.sh"
"${PYTHON:-python3}" "$here/after_death.py" "$@"
