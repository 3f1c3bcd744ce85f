/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Allocations that fail, one at a time: what a test tries must say -ENOMEM, leave what
 * there was as it was, and leak nothing.
 *
 * Our allocations are caught by the linker's --wrap ($(failing_ldflags)); those inside
 * the C library and other libraries are left alone.  For one thread.
 */
#ifndef ES_TESTS_FAILING_H
#define ES_TESTS_FAILING_H

#include <stdbool.h>

/* From now on allocations are counted, and that with this number fails, the first being
 * 1; 0 = none will. */
void failing_begin(long number);
/* Ends that.  Whether one failed. */
bool failing_end(void);
/* Whether one has failed since it began. */
bool failing_has_failed(void);

/* Between these two none is counted.  They nest. */
void failing_pause(void);
void failing_resume(void);

/* Tries again and again while the first, the second ... allocation fails, until none is
 * left to fail.  `attempt` returns 0 or -ENOMEM; it makes more than `at_least`
 * allocations. */
void failing_each(int (*attempt)(void), long at_least);

#endif
