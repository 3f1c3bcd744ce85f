/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A suite is one file of tests. All suites of a folder are linked into one program, to
 * save link time; the command line names the suite to run. */
#ifndef ES_TESTS_SUITES_H
#define ES_TESTS_SUITES_H

#include <stddef.h>

struct CMUnitTest;

/* One file of tests. Borrowed by the list of suites until the program ends. */
struct test_suite {
    const char *name;
    int (*run)(void); /* returns the number of failures */
    struct test_suite *next;
};

/* Adds a suite to those of the program. Called before main() starts. */
void test_suite_add(struct test_suite *suite);

/* All of these tests begin with `set_up` and end with `tear_down`. */
void test_suite_fixture(struct CMUnitTest *tests,
                        size_t count,
                        int (*set_up)(void **state),
                        int (*tear_down)(void **state));

/* Opens the function that runs the tests of a file. The name is that of the file:
 * SUITE(test_clock) { ... return cmocka_run_group_tests(tests, NULL, NULL); } */
#define SUITE(NAME)                                                                    \
    static int NAME##_run(void);                                                       \
    static struct test_suite NAME##_suite = {.name = #NAME, .run = NAME##_run};        \
    __attribute__((constructor)) static void NAME##_add(void)                          \
    {                                                                                  \
        test_suite_add(&NAME##_suite);                                                 \
    }                                                                                  \
    static int NAME##_run(void)

#endif
