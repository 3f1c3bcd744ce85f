/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Makes chosen allocations of a test fail. */
#include "config.h"

#include "tests/failing.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static long countdown; /* allocations up to the one that fails; 0 = none fails */
static bool has_failed;
static unsigned pauses;

void failing_begin(long number)
{
    countdown = number;
    has_failed = false;
    pauses = 0;
}

bool failing_end(void)
{
    countdown = 0;
    return has_failed;
}

bool failing_has_failed(void)
{
    return has_failed;
}

void failing_pause(void)
{
    pauses++;
}

void failing_resume(void)
{
    pauses--;
}

void failing_each(int (*attempt)(void), long at_least)
{
    long number = 0;
    bool failed;

    do {
        int code;

        failing_begin(++number);
        code = attempt();
        failed = failing_end();
        if (code != (failed ? -ENOMEM : 0))
            fail_msg("with allocation %ld %s the call said %d", number,
                     failed ? "failing" : "not reached", code);
    } while (failed);
    assert_true(number > at_least);
}

/* --- Replacements of the C library's functions ------------------------------------ */

static bool fails_now(void)
{
    if (pauses > 0 || countdown == 0 || --countdown > 0)
        return false;
    has_failed = true;
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails_now() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
    return fails_now() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return fails_now() ? NULL : __real_strndup(text, length);
}
