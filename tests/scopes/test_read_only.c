/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A TLS connection with the read-only key can read but not change anything. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/server/service.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

#define LIMIT_NS UINT64_C(20000000000)

/* All requests that change something; a new one must be added here. */
static const char *const changing[] = {
    "collect", "element.create", "element.discard", "element.placed", "element.remove",
    "end",     "register",       "scope.command",   "trees.change",
};

enum { CHANGING = sizeof changing / sizeof changing[0] };

static bool is_changing(const char *name)
{
    for (size_t i = 0; i < CHANGING; i++)
        if (strcmp(changing[i], name) == 0)
            return true;
    return false;
}

static struct es_link *connect_with(const struct made_servers *servers,
                                    const struct esi_run_key *key)
{
    struct esi_greeting greeting = {.host = "elsewhere", .program = "test", .pid = 7};
    struct es_link *link;

    strcpy(greeting.run, servers->run);
    assert_int_equal(esi_link_connect(servers->items[0].address, &greeting, key,
                                      LIMIT_NS, NULL, &link),
                     0);
    return link;
}

/* The code of the failure reply; 0 = no failure. */
static int64_t answer_of(struct es_link *link, uint16_t type, const char *text)
{
    struct iovec part = {.iov_base = (char *)text, .iov_len = strlen(text)};
    struct es_message *message;
    struct esi_frame frame;
    int64_t code = 0;

    assert_int_equal(esi_link_send(link, type, 5, &part, 1, LIMIT_NS), 0);
    assert_int_equal(esi_link_receive(link, LIMIT_NS, NULL, &frame), 0);
    if (frame.type != ES_FRAME_FAILURE)
        return 0;
    assert_int_equal(
        esi_message_parse(frame.payload, frame.length, "answer", NULL, &message), 0);
    code = esi_member_integer_or(esi_message_root(message), "code", 0);
    if (code == EACCES)
        assert_non_null(
            strstr(esi_member_text_or(esi_message_root(message), "text", ""),
                   "read-only key"));
    esi_message_destroy(message);
    return code;
}

static void begin(struct made_servers *servers, struct esi_run_key *ret_read_key)
{
    made_servers_begin(servers, "read-only");
    made_servers_use_network(servers, "tls");
    made_server_add(servers, "alpha");
    assert_int_equal(esi_run_key_derive_read(&servers->key, ret_read_key), 0);
}

/* Each request uses its own connection, since some requests end it. */
static void what_changes_something_is_refused(void **state)
{
    struct made_servers servers;
    struct esi_run_key read_key;
    char request[128];
    size_t refused = 0;

    (void)state;
    begin(&servers, &read_key);
    for (const struct esi_request_row *const *table = esi_request_tables; *table;
         table++)
        for (const struct esi_request_row *row = *table; row->name; row++) {
            struct es_link *link = connect_with(&servers, &read_key);
            snprintf(request, sizeof request, "{\"request\": \"%s\"}", row->name);
            int64_t code = answer_of(link, ES_FRAME_REQUEST, request);
            esi_link_close(link);
            if (is_changing(row->name) != (code == EACCES))
                fail_msg("%s: code %d", row->name, (int)code);
            refused += code == EACCES;
        }
    assert_int_equal(refused, CHANGING);
    made_servers_end(&servers);
}

static void tuples_are_not_written(void **state)
{
    struct made_servers servers;
    struct esi_run_key read_key;

    (void)state;
    begin(&servers, &read_key);
    struct es_link *link = connect_with(&servers, &read_key);
    assert_int_equal(answer_of(link, ES_FRAME_WRITE, "tuple"), EACCES);
    /* Reading is still possible. */
    assert_int_equal(answer_of(link, ES_FRAME_REQUEST, "{\"request\": \"hosts\"}"), 0);
    esi_link_close(link);
    made_servers_end(&servers);
}

static void the_key_itself_may_change_things(void **state)
{
    struct made_servers servers;
    struct esi_run_key read_key;

    (void)state;
    begin(&servers, &read_key);
    struct es_link *link = connect_with(&servers, &servers.key);
    assert_int_not_equal(
        answer_of(link, ES_FRAME_REQUEST, "{\"request\": \"collect\"}"), EACCES);
    esi_link_close(link);
    made_servers_end(&servers);
}

SUITE(test_read_only)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_something_is_refused),
        cmocka_unit_test(tuples_are_not_written),
        cmocka_unit_test(the_key_itself_may_change_things),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
