/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of tuples that one thread leaves for another, with and without memory. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventspace/run.h"
#include "tests/suites.h"
#include "wrappers/mpi/path.h"
#include "wrappers/mpi/process.h"

static bool memory_is_full;
static char run_name[64];

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return memory_is_full ? NULL : __real_malloc(bytes);
}

static const struct es_tuple tuple = {.operation = 20, .start = 1, .stop = 2};

static int start_process(void **state)
{
    (void)state;
    snprintf(run_name, sizeof run_name, "refused-%d", (int)getpid());
    setenv("EVENTSPACE_RUN", run_name, 1);
    setenv("EVENTSPACE_RANK", "0", 1);
    return esi_process_get() != NULL ? 0 : -1;
}

static int remove_segment(void **state)
{
    (void)state;
    esi_segment_remove(esi_process_get()->segment);
    return 0;
}

/* The number that `eventspace list` shows. */
static uint64_t refused_tuples(void)
{
    struct es_segment_info info;
    struct es_error error;
    struct es_run *run;

    assert_int_equal(es_run_open(run_name, &error, &run), 0);
    assert_int_equal(es_run_segment_count(run), 1);
    es_segment_view_info(es_run_segment(run, 0), &info);
    es_run_close(run);
    return info.tuples_refused;
}

static void a_tuple_is_left_for_the_thread_that_may_write_it(void **state)
{
    struct esi_slot other = {.number = 1};
    struct esi_late_tuple *late;

    (void)state;
    esi_path_publish(&other, &tuple, 0);
    late = atomic_load(&other.late);
    assert_non_null(late);
    assert_int_equal(late->tuple.operation, tuple.operation);
    assert_null(late->next);
    assert_int_equal(refused_tuples(), 0);
    free(late);
}

static void without_memory_the_tuple_is_counted(void **state)
{
    struct esi_slot other = {.number = 1};

    (void)state;
    memory_is_full = true;
    esi_path_publish(&other, &tuple, 0);
    esi_path_publish(&other, &tuple, 0);
    memory_is_full = false;
    assert_null(atomic_load(&other.late));
    assert_int_equal(refused_tuples(), 2);
}

SUITE(test_refused_tuples)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tuple_is_left_for_the_thread_that_may_write_it),
        cmocka_unit_test(without_memory_the_tuple_is_counted),
    };

    return cmocka_run_group_tests(tests, start_process, remove_segment);
}
