#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
# check_style.sh - licence lines, guards, widths, banned calls and names; the checker
# finds planted violations of the rules for names.

set -eu

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/base" "$made/monitors" "$made/include/eventspace"
head='/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */'
printf '%s\n' "$head" 'int es_item_open(int flags);' >"$made/include/eventspace/item.h"
printf '%s\n' "$head" 'struct row {' '};' >"$made/monitors/rows.c"
cat >"$made/base/item.c" <<END
$head
struct row {
    int size;
};
static int settle(int size)
{
    return size;
}
static int settle_size(int size)
{
    return settle(size);
}
int es_item_open(int flags)
{
    return settle_size(flags);
}
int es_item_close(void)
{
    return 0;
}
int esi_item_count(void)
{
    return 0;
}
END
cat >"$made/expected" <<'END'
base/item.c:6: static settle() has a name of one word: say of what
base/item.c:18: es_item_close() is not installed: its name begins with esi_
base/item.c:3: struct row is also in monitors/rows.c
monitors/rows.c:3: struct row is also in base/item.c
END
status=0
"$PYTHON" "$top_srcdir/tools/check-style" "$made" >"$made/output" || status=$?
grep -v 'header guard\|files, ' "$made/output" | diff "$made/expected" - || exit 1
[ $status -eq 1 ] || { echo "check-style finds faults and exits with $status"; exit 1; }

"$PYTHON" "$top_srcdir/tools/check-style" "$top_srcdir"
