/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* examples.h - what users type; the manual pages have the same lines, and more. */
#ifndef ES_CLI_EXAMPLES_H
#define ES_CLI_EXAMPLES_H

/* Lines with their ends, or NULL: a command without examples. */
const char *esi_examples_find(const char *command);

#endif
