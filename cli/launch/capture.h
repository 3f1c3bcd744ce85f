/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Asks another program a question: runs it, takes what it prints, waits not too long.
 */
#ifndef ES_CLI_LAUNCH_CAPTURE_H
#define ES_CLI_LAUNCH_CAPTURE_H

#include <stddef.h>

/* Runs argv (argv[0] is looked up in PATH) with nothing on its standard input, and
 * writes what it prints, errors too, into `out`, cut to `size` and terminated.  Returns
 * its exit code, or -errno: -ENOENT there is no such program, -ETIMEDOUT it took longer
 * than `limit_ms` and was killed, -EINTR a signal killed it.  Reaps its child. */
int esi_capture(char *const argv[], int limit_ms, char *out, size_t size);

#endif
