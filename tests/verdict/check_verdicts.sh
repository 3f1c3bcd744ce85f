#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_verdicts.sh - checks that the verdict on each of the small programs is that of the
# table.
#
# usage: check_verdicts.sh [CASE...]
#
# VERDICT_LONG=1 looks at each right program 100 times; see proof.md.

. "${0%/*}/functions.sh"
[ -z "${VERDICT_LONG:-}" ] || export VERDICT_LOOKS=${VERDICT_LOOKS:-100}
"${PYTHON:-python3}" "$here/verdicts.py" "$@"
