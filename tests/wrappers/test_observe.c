/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A consumer can observe the pulls of another one. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/suites.h"
#include "tests/wrappers/source.h"

static struct es_tuple tuples[50];
static char run_name[64];
static struct es_stage_context context;

/* Opens a stage that is observed under this label. */
static struct es_stage *observed(struct source *source, const char *label)
{
    struct es_stage *child = source_open(source);
    struct es_stage_spec spec = {.type = "observe",
                                 .children = &child,
                                 .child_count = 1,
                                 .origin = ES_STAGE_NO_ORIGIN,
                                 .label = label,
                                 .context = &context};
    struct es_error error = {.text = ""};
    struct es_stage *stage;

    if (es_stage_open(&spec, &error, &stage) < 0)
        fail_msg("%s", error.text);
    return stage;
}

/* Selects the elements of these classes. */
static int select_elements(struct es_run *run,
                           uint32_t classes,
                           struct es_element_view ***ret_elements)
{
    struct es_selection selection;

    es_selection_init(&selection);
    selection.classes = classes;
    return es_run_select(run, &selection, ret_elements);
}

static void each_pull_leaves_a_tuple(void **state)
{
    struct source source = {.tuples = tuples, .count = 50, .asks = true};
    struct es_stage *stage = observed(&source, "host a");
    struct es_element_view **elements;
    struct es_element_info info;
    struct es_tuple seen[4];
    struct es_cursor cursor = {0};
    struct consumer consumer;
    struct es_run *run;

    (void)state;
    consumer_init(&consumer, 30);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    source.failures = 1;
    assert_int_equal(consumer_pull(&consumer, stage), -EIO);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(es_run_open(run_name, NULL, &run), 0);
    assert_int_equal(select_elements(run, 1u << ES_CLASS_MONITOR, &elements), 1);
    es_element_view_info(elements[0], &info);
    assert_string_equal(info.name, "scope/scope/host a");
    assert_int_equal(info.rank, -1);
    assert_int_equal(es_element_read(elements[0], &cursor, seen, 4), 3);
    for (int i = 0; i < 3; i++) {
        static const uint32_t given[] = {30, 0, 20};

        assert_string_equal(es_operation_name(seen[i].operation), "EventSpace pull");
        assert_int_equal(seen[i].bytes, given[i]);
        assert_int_equal(seen[i].tag, i == 1 ? EIO : 0);
        assert_int_equal(seen[i].sequence, i + 1);
        assert_int_equal(seen[i].peer, ES_PEER_NONE);
        assert_true(seen[i].stop >= seen[i].start);
    }
    free(elements);
    es_run_close(run);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

static void who_does_not_ask_for_it_does_not_see_it(void **state)
{
    struct source source = {.tuples = tuples};
    struct es_stage *stage = observed(&source, "x");
    struct es_element_view **elements;
    struct es_run *run;

    (void)state;
    assert_int_equal(es_run_open(run_name, NULL, &run), 0);
    assert_int_equal(select_elements(run, 0, &elements), 0);
    free(elements);
    assert_int_equal(select_elements(run, ES_CLASSES_ALL, &elements), 0);
    free(elements);
    es_run_close(run);
    es_stage_close(stage);
}

static void the_segment_goes_with_the_last_stage(void **state)
{
    struct source source = {.tuples = tuples};
    struct es_stage *first = observed(&source, "same");
    struct es_stage *second = observed(&source, "same");
    struct es_element_view **elements;
    struct es_run *run;
    int count;

    (void)state;
    assert_int_equal(es_run_open(run_name, NULL, &run), 0);
    assert_int_equal(select_elements(run, 1u << ES_CLASS_MONITOR, &elements), 2);
    free(elements);
    /* Free elements are reused. */
    es_stage_close(first);
    first = observed(&source, "same");
    assert_true(es_run_refresh(run) >= 0);
    count = select_elements(run, 1u << ES_CLASS_MONITOR, &elements);
    assert_int_equal(count, 2);
    free(elements);
    es_run_close(run);
    es_stage_close(first);
    es_stage_close(second);
    assert_int_equal(es_run_open(run_name, NULL, &run), -ENOENT);
}

/* Opens and closes stages, as scopes in several threads do. */
static void *open_and_close(void *data)
{
    (void)data;
    for (int i = 0; i < 20; i++) {
        struct source source = {.tuples = tuples, .count = 10};
        struct es_stage *stage = observed(&source, "thread");
        struct consumer consumer;

        consumer_init(&consumer, 100);
        if (consumer_pull(&consumer, stage) != 0 || consumer.batch.count != 10)
            abort();
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
    return NULL;
}

static void scopes_in_several_threads_share_the_segment(void **state)
{
    pthread_t threads[4];
    struct es_run *run;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(es_run_open(run_name, NULL, &run), -ENOENT);
}

static void without_a_run_there_is_no_place_for_it(void **state)
{
    struct source source = {.tuples = tuples};
    struct es_stage *child = source_open(&source);
    struct es_stage_spec spec = {
        .type = "observe", .children = &child, .child_count = 1};
    struct es_error error = {.text = ""};
    struct es_stage *stage;

    (void)state;
    assert_int_equal(es_stage_open(&spec, &error, &stage), -EINVAL);
    assert_non_null(strstr(error.text, "'run'"));
    es_stage_close(child);
}

SUITE(test_observe)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pull_leaves_a_tuple),
        cmocka_unit_test(who_does_not_ask_for_it_does_not_see_it),
        cmocka_unit_test(the_segment_goes_with_the_last_stage),
        cmocka_unit_test(scopes_in_several_threads_share_the_segment),
        cmocka_unit_test(without_a_run_there_is_no_place_for_it),
    };

    snprintf(run_name, sizeof run_name, "test-observe-%d", (int)getpid());
    context.run = run_name;
    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
