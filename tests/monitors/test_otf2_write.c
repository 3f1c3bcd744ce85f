/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of OTF2 archives with extreme definitions that no real run has. */
#include "config.h"

#include "monitors/otf2/otf2_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/otf2/otf2_read.h"
#include "tests/suites.h"

enum { NESTED = 50000, STACK_BYTES = 1 << 20 };

#ifdef HAVE_OTF2

static char folder[] = "/tmp/test_otf2_write.XXXXXX";
static char archive[64];

/* Adds a communicator of rank 0 whose duplicate is the next one. */
static void add_communicator(struct esi_causality *causality,
                             struct esi_run_process *process,
                             uint16_t number)
{
    const int32_t world[] = {0};
    const struct esi_run_reported communicator = {
        .key = {number + UINT64_C(1), 1},
        .name = "copy",
        .size = 1,
        .world = world,
        .parent = {number, number > 0},
    };

    assert_int_equal(esi_run_model_set_communicator(esi_causality_run(causality),
                                                    process, number, &communicator),
                     0);
}

/* Adds the innermost communicator first, or the outermost. */
static struct esi_causality *make_nested(bool innermost_first)
{
    const struct esi_causality_config config = {.held_max = 0};
    const struct esi_run_process info = {.host = "host", .rank = 0};
    struct esi_causality *causality;
    struct esi_run_process *process;

    assert_int_equal(esi_causality_create(&config, &causality), 0);
    assert_int_equal(
        esi_run_model_add_process(esi_causality_run(causality), &info, &process), 0);
    for (int i = 0; i < NESTED; i++)
        add_communicator(causality, process,
                         (uint16_t)(innermost_first ? NESTED - 1 - i : i));
    return causality;
}

static void write_archive(const struct esi_causality *causality)
{
    const struct esi_otf2_write_config config = {.path = archive};
    struct esi_otf2_write_counts counts;
    struct es_error error = {.text = ""};
    struct esi_otf2_write *write;

    assert_int_equal(esi_otf2_write_open(&config, &error, &write), 0);
    assert_int_equal(esi_otf2_write_communicators(write, esi_causality_run(causality)),
                     0);
    assert_int_equal(esi_otf2_write_close(write, &counts, &error), 0);
    assert_string_equal(error.text, "");
    esi_otf2_write_destroy(write);
}

static void read_archive(void)
{
    const struct es_set_sink sink = {.data = NULL};
    struct esi_otf2_read_facts facts;
    struct es_error error = {.text = ""};
    char anchor[80];

    snprintf(anchor, sizeof anchor, "%s/traces.otf2", archive);
    esi_otf2_read(anchor, &sink, &facts, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(facts.totals.processes, 1);
}

static void write_nested(bool innermost_first)
{
    struct esi_causality *causality = make_nested(innermost_first);
    char command[128];

    snprintf(archive, sizeof archive, "%s/archive", folder);
    write_archive(causality);
    esi_causality_destroy(causality);
    read_archive();
    snprintf(command, sizeof command, "rm -rf %s", archive);
    assert_int_equal(system(command), 0);
}

/* The stack has 20 bytes for each nested communicator, so recursion would fail. */
static void nested_duplicates_take_no_stack(void **state)
{
    struct rlimit before, little;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
    little = before;
    little.rlim_cur = STACK_BYTES;
    assert_int_equal(setrlimit(RLIMIT_STACK, &little), 0);
    write_nested(true);
    write_nested(false);
    setrlimit(RLIMIT_STACK, &before);
    rmdir(folder);
}

#else

static void nested_duplicates_take_no_stack(void **state)
{
    (void)state;
    skip();
}

#endif

SUITE(test_otf2_write)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_duplicates_take_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
