/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* suites - runs the suites that are linked into the program.
 *
 *   suites --list              lists them
 *   suites                     runs all of them
 *   suites SUITE [PATTERN]     runs one, or its tests that match PATTERN (with * and ?)
 */
#include "config.h"

#include "tests/suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/last_words.h"

static struct test_suite *suites; /* sorted by name: constructors run in any order */

void test_suite_add(struct test_suite *suite)
{
    struct test_suite **place = &suites;

    while (*place && strcmp((*place)->name, suite->name) < 0)
        place = &(*place)->next;
    suite->next = *place;
    *place = suite;
}

void test_suite_fixture(struct CMUnitTest *tests,
                        size_t count,
                        int (*set_up)(void **state),
                        int (*tear_down)(void **state))
{
    for (size_t i = 0; i < count; i++) {
        tests[i].setup_func = set_up;
        tests[i].teardown_func = tear_down;
    }
}

static int list_suites(void)
{
    for (struct test_suite *suite = suites; suite; suite = suite->next)
        puts(suite->name);
    return 0;
}

/* Runs the suite of that name, or all suites if it is NULL. */
static int run_suites(const char *name)
{
    int failures = 0;
    bool found = false;

    for (struct test_suite *suite = suites; suite; suite = suite->next)
        if (!name || strcmp(suite->name, name) == 0) {
            found = true;
            last_words_begin(suite->name);
            failures += suite->run();
            last_words_end();
        }
    if (!found)
        fprintf(stderr, "suites: %s: no such suite here; --list names them\n", name);
    return found ? failures : 2;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;

    if (name && strcmp(name, "--list") == 0)
        return list_suites();
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    return run_suites(name) ? 1 : 0;
}
