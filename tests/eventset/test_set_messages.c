/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Messages that are matched in a stream, and unmatched ends. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/eventset/set_messages.h"
#include "tests/suites.h"

static void tell(struct esi_set_messages *messages,
                 uint32_t trace,
                 enum es_event_kind kind,
                 const char *type,
                 const struct es_event_id *partners,
                 uint32_t count)
{
    struct es_set_sink sink = esi_set_messages_sink(messages);
    struct es_set_event event = {.id = {trace, messages->traces[trace].count + 1},
                                 .kind = kind,
                                 .type = type,
                                 .text = "",
                                 .partners = partners,
                                 .partner_count = count};

    assert_int_equal(sink.event(sink.data, &event), 0);
}

static void tell_traces(struct esi_set_messages *messages)
{
    static const char *const names[] = {"0.0", "1.0", "comm:W"};
    struct es_set_sink sink = esi_set_messages_sink(messages);

    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(sink.trace(sink.data, i, names[i]), 0);
}

enum { LIST_BYTES = 64 };

static bool list_event(void *data, struct es_event_id id)
{
    char *text = data;
    size_t used = strlen(text);

    snprintf(text + used, LIST_BYTES - used, "%u:%u ", id.trace, id.index);
    return strlen(text) < 8;
}

static void ends_without_another_are_counted_and_named(void **state)
{
    struct esi_set_messages messages = {.count = 0};
    const struct es_event_id first = {0, 1};
    char sends[LIST_BYTES] = "", receives[LIST_BYTES] = "";

    (void)state;
    tell_traces(&messages);
    for (int i = 0; i < 5; i++)
        tell(&messages, 0, ES_EVENT_SEND, "MPI_Send", NULL, 0);
    tell(&messages, 1, ES_EVENT_RECEIVE, "MPI_Recv", &first, 1);
    tell(&messages, 1, ES_EVENT_RECEIVE, "MPI_Recv", &first, 1);
    tell(&messages, 1, ES_EVENT_RECEIVE, "MPI_Recv", NULL, 0);
    assert_int_equal(messages.matched, 2);
    assert_int_equal(messages.unmatched_sends, 4);
    assert_int_equal(messages.unmatched_receives, 1);
    esi_set_messages_foreach_unmatched(&messages, true, list_event, sends);
    esi_set_messages_foreach_unmatched(&messages, false, list_event, receives);
    assert_string_equal(sends, "0:2 0:3 ");
    assert_string_equal(receives, "1:3 ");
    esi_set_messages_fini(&messages);
}

static void a_sync_is_one_message(void **state)
{
    struct esi_set_messages messages = {.count = 0};
    const struct es_event_id halves[] = {{0, 1}, {1, 1}};

    (void)state;
    tell_traces(&messages);
    tell(&messages, 1, ES_EVENT_SYNC, "", &halves[0], 1);
    tell(&messages, 0, ES_EVENT_SYNC, "", &halves[1], 1);
    assert_int_equal(messages.matched, 1);
    assert_int_equal(messages.unmatched_sends, 0);
    esi_set_messages_fini(&messages);
}

static void collective_operations_are_no_messages(void **state)
{
    struct esi_set_messages messages = {.count = 0};
    const struct es_event_id enters[] = {{0, 1}, {1, 1}}, release = {2, 2};

    (void)state;
    tell_traces(&messages);
    tell(&messages, 0, ES_EVENT_SEND, "MPI_Barrier enter", NULL, 0);
    tell(&messages, 1, ES_EVENT_SEND, "MPI_Barrier enter", NULL, 0);
    tell(&messages, 2, ES_EVENT_RECEIVE, "join", enters, 2);
    tell(&messages, 2, ES_EVENT_SEND, "release", NULL, 0);
    tell(&messages, 0, ES_EVENT_RECEIVE, "MPI_Barrier exit", &release, 1);
    assert_int_equal(messages.matched, 0);
    assert_int_equal(messages.unmatched_sends, 0);
    assert_int_equal(messages.unmatched_receives, 0);
    esi_set_messages_fini(&messages);
}

SUITE(test_set_messages)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_without_another_are_counted_and_named),
        cmocka_unit_test(a_sync_is_one_message),
        cmocka_unit_test(collective_operations_are_no_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
