#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_format.sh - sources are as clang-format 14 writes them.
# Other versions differ in detail, so they judge nothing.

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
