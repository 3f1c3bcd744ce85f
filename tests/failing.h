/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Makes each allocation of a call fail in turn: the call must return -ENOMEM, leave its
 * objects as they were, and leak nothing.
 *
 * The linker's --wrap ($(failing_ldflags)) redirects the calls of our own code; the C
 * library and other libraries allocate as usual. Not thread-safe.
 */
#ifndef ES_TESTS_FAILING_H
#define ES_TESTS_FAILING_H

#include <stdbool.h>

/* Starts counting allocations; the one with this number fails (1 = the first, 0 =
 * none). */
void failing_begin(long number);
/* Stops counting. Returns whether an allocation failed. */
bool failing_end(void);
/* Returns whether an allocation has failed since failing_begin(). */
bool failing_has_failed(void);

/* Allocations between these two calls are not counted. Pairs nest. */
void failing_pause(void);
void failing_resume(void);

/* Calls `attempt` with the first, the second ... allocation failing, until it makes
 * fewer allocations than that. `attempt` returns 0 or -ENOMEM; the test fails if it
 * returns something else, or makes fewer than `at_least` allocations. */
void failing_each(int (*attempt)(void), long at_least);

#endif
