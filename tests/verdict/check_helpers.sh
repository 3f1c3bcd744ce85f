#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_helpers.sh - checks that threads that have never called MPI, but may, leave no
# verdict certain.

. "${0%/*}/functions.sh"
"${PYTHON:-python3}" "$here/helpers.py"
