/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* examples.h - example command lines; the manual pages have the same lines, and
 * more. */
#ifndef ES_CLI_EXAMPLES_H
#define ES_CLI_EXAMPLES_H

/* Lines with line ends, or NULL for a command without examples. */
const char *esi_examples_find(const char *command);

#endif
