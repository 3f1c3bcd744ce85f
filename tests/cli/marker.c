/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A library to preload that leaves a mark: the program's environment says it was there.
 */
#include <stdlib.h>

__attribute__((constructor)) static void leave_mark(void)
{
    setenv("MARKER_WAS_LOADED", "yes", 1);
}
