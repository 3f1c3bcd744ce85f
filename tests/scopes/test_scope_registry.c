/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Commands for live scopes: the sender gets an answer or an error. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "scopes/server/scope_registry.h"
#include "tests/await.h"
#include "tests/suites.h"

#define LONG_NS UINT64_C(600000000000)
#define SHORT_NS UINT64_C(400000000)

/* A thread that sends a command to scope "mine". */
struct asker {
    struct esi_scope_registry *registry;
    uint64_t timeout_ns;
    pthread_t thread;
    int result;
    struct es_error error;
    struct es_message *answer;
};

struct fixture {
    struct esi_scope_registry *registry;
    struct esi_scope_entry *entry;
    struct asker asker;
};

static struct es_message *parse(const char *text)
{
    struct es_message *message;

    assert_int_equal(esi_message_parse(text, strlen(text), "test", NULL, &message), 0);
    return message;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct es_message *message = parse("{\"name\": \"mine\"}");

    assert_non_null(fixture);
    assert_int_equal(esi_scope_registry_create(&fixture->registry), 0);
    assert_int_equal(esi_scope_registry_register(fixture->registry,
                                                 esi_message_root(message), NULL,
                                                 &fixture->entry),
                     0);
    esi_message_destroy(message);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_message_destroy(fixture->asker.answer);
    esi_scope_registry_destroy(fixture->registry);
    free(fixture);
    return 0;
}

static void *ask(void *data)
{
    struct asker *asker = data;

    struct es_message *command = parse("{\"do\": \"show\"}");

    asker->result =
        esi_scope_registry_command(asker->registry, "mine", esi_message_root(command),
                                   asker->timeout_ns, &asker->error, &asker->answer);
    esi_message_destroy(command);
    return NULL;
}

static void begin_asking(struct fixture *fixture, uint64_t timeout_ns)
{
    fixture->asker.registry = fixture->registry;
    fixture->asker.timeout_ns = timeout_ns;
    assert_int_equal(pthread_create(&fixture->asker.thread, NULL, ask, &fixture->asker),
                     0);
}

/* Polls once, as a consumer does; returns the command's id, or 0 if there was none. */
static int64_t poll_once(struct fixture *fixture)
{
    struct es_message *request = parse("{\"pulls\": 1}");
    struct es_message *reply;
    struct esi_json_out out;
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    int64_t id;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_scope_registry_poll(fixture->registry, fixture->entry,
                            esi_message_root(request), &out);
    esi_json_out_end(&out);
    fclose(stream);
    reply = parse(text);
    id = esi_member_integer_or(esi_message_root(reply), "id", 0);
    esi_message_destroy(reply);
    esi_message_destroy(request);
    free(text);
    return id;
}

static int64_t poll_till_commanded(struct fixture *fixture)
{
    int64_t id = 0;

    AWAIT((id = poll_once(fixture)) != 0);
    return id;
}

static void who_fetched_the_command_in_time_may_answer_later(void **state)
{
    struct fixture *fixture = *state;
    struct timespec pause = {.tv_nsec = SHORT_NS + SHORT_NS / 8};
    struct es_message *answer;
    char text[64];

    begin_asking(fixture, SHORT_NS);
    snprintf(text, sizeof text, "{\"id\": %d, \"answer\": {\"is\": \"done\"}}",
             (int)poll_till_commanded(fixture));
    nanosleep(&pause, NULL);
    answer = parse(text);
    assert_int_equal(esi_scope_registry_answer(fixture->registry, fixture->entry,
                                               esi_message_root(answer), NULL),
                     0);
    esi_message_destroy(answer);
    pthread_join(fixture->asker.thread, NULL);
    assert_int_equal(fixture->asker.result, 0);
    assert_string_equal(
        esi_member_text_or(esi_message_root(fixture->asker.answer), "is", ""), "done");
}

static void a_command_that_was_fetched_is_not_called_unseen(void **state)
{
    struct fixture *fixture = *state;

    begin_asking(fixture, SHORT_NS);
    poll_till_commanded(fixture);
    pthread_join(fixture->asker.thread, NULL);
    assert_int_equal(fixture->asker.result, -ETIMEDOUT);
    assert_non_null(strstr(fixture->asker.error.text, "has fetched the command"));
}

static void a_command_that_nobody_fetches_is_taken_back(void **state)
{
    struct fixture *fixture = *state;

    begin_asking(fixture, 1000000);
    pthread_join(fixture->asker.thread, NULL);
    assert_int_equal(fixture->asker.result, -ETIMEDOUT);
    assert_non_null(strstr(fixture->asker.error.text, "has not pulled"));
    assert_int_equal(poll_once(fixture), 0);
}

/* Otherwise the test hangs. */
static void nobody_waits_for_a_board_that_is_closed(void **state)
{
    struct fixture *fixture = *state;

    begin_asking(fixture, LONG_NS);
    poll_till_commanded(fixture);
    esi_scope_registry_close(fixture->registry);
    pthread_join(fixture->asker.thread, NULL);
    assert_int_equal(fixture->asker.result, -ESHUTDOWN);
}

SUITE(test_scope_registry)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(who_fetched_the_command_in_time_may_answer_later),
        cmocka_unit_test(a_command_that_was_fetched_is_not_called_unseen),
        cmocka_unit_test(a_command_that_nobody_fetches_is_taken_back),
        cmocka_unit_test(nobody_waits_for_a_board_that_is_closed),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
