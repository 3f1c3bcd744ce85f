/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Runs another program and captures its output, with a time limit. */
#ifndef ES_CLI_LAUNCH_CAPTURE_H
#define ES_CLI_LAUNCH_CAPTURE_H

#include <stddef.h>

/* Runs argv (argv[0] is searched in PATH) with empty standard input, and writes its
 * output, including errors, into `out`, truncated to `size` and terminated.  Returns
 * its exit code, or -errno: -ENOENT if there is no such program, -ETIMEDOUT if it
 * exceeded `limit_ms` and was killed, -EINTR if a signal killed it.  Reaps its
 * child. */
int esi_capture(char *const argv[], int limit_ms, char *out, size_t size);

#endif
