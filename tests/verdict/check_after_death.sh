#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_after_death.sh - the same verdict live, after SIGTERM, after SIGKILL, and from the archive;
# with VERDICT_LONG=1 for all programs that hang for sure.
#
# usage: check_after_death.sh [CASE...]

. "${0%/*}/functions.sh"
"${PYTHON:-python3}" "$here/after_death.py" "$@"
