#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_style.sh - licence lines, guards, widths and banned calls.

set -eu

exec "$PYTHON" "$top_srcdir/tools/check-style" "$top_srcdir"
