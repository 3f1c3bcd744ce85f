#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_format.sh - sources are formatted as by clang-format 14. Other versions differ
# in details, so they are not used.

set -eu

if ! version=$(clang-format --version 2>/dev/null); then
    echo "skipped: clang-format is not installed"
    exit 77
fi
case $version in
*"version 14."*) ;;
*)
    echo "skipped: the style is fixed with clang-format 14, here is $version"
    exit 77
    ;;
esac
exec "$top_srcdir/tools/check-format"
