/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the RPC client: replies, failures and invalid answers. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/remote/rpc.h"
#include "tests/suites.h"
#include "tests/tuplespace/transport/link_fixture.h"

#define ANSWER_NS UINT64_C(5000000000)
#define BRIEF_NS UINT64_C(100000000)

static void reply_with(struct es_link *link,
                       uint16_t type,
                       uint64_t id,
                       const char *text)
{
    struct iovec part = {.iov_base = (char *)(uintptr_t)text, .iov_len = strlen(text)};

    esi_link_send(link, type, id, &part, 1, ANSWER_NS);
}

/* Sends a failure; `members` includes the end of the object. */
static void fail_with(struct es_link *link, uint64_t id, const char *members)
{
    char text[128];

    snprintf(text, sizeof text, "{%s", members);
    reply_with(link, ES_FRAME_FAILURE, id, text);
}

/* Answers according to the name of the request. */
static void serve(struct peer *peer, struct es_link *link)
{
    struct es_error words = {.text = "no such thing"};
    struct esi_frame frame;
    char request[256];

    (void)peer;
    while (esi_link_receive(link, ANSWER_NS, NULL, &frame) == 0) {
        uint64_t id = frame.id;

        snprintf(request, sizeof request, "%.*s", (int)frame.length,
                 (const char *)frame.payload);
        if (strstr(request, "\"good\""))
            reply_with(link, ES_FRAME_REPLY, id, "{\"value\": 7}");
        else if (strstr(request, "\"late\"")) {
            reply_with(link, ES_FRAME_REPLY, id + 1000, "{\"value\": 1}");
            reply_with(link, ES_FRAME_FAILURE, id + 1001, "{\"code\": 5}");
            reply_with(link, ES_FRAME_REPLY, id, "{\"value\": 7}");
        } else if (strstr(request, "\"fail\""))
            esi_rpc_fail(link, id, -ENODEV, &words, ANSWER_NS);
        else if (strstr(request, "\"fail.silently\""))
            esi_rpc_fail(link, id, -ENODEV, NULL, ANSWER_NS);
        else if (strstr(request, "\"fail.code\""))
            fail_with(link, id, strstr(request, "\"code\""));
        else if (strstr(request, "\"garbage\""))
            reply_with(link, ES_FRAME_REPLY, id, "{\"value\"");
        else if (strstr(request, "\"garbage.failure\""))
            reply_with(link, ES_FRAME_FAILURE, id, "{");
        else if (strstr(request, "\"batch\""))
            reply_with(link, ES_FRAME_BATCH, id, "");
    }
}

struct fixture {
    struct peer peer;
    struct es_link *link;
};

static void begin(struct fixture *fixture)
{
    peer_init(&fixture->peer, ES_ADDRESS_UNIX);
    fixture->peer.serve = serve;
    peer_start(&fixture->peer);
    fixture->link = connect_to(&fixture->peer, fixture->peer.address);
}

static void end(struct fixture *fixture)
{
    esi_link_close(fixture->link);
    peer_join(&fixture->peer);
    peer_fini(&fixture->peer);
}

static int call(struct fixture *fixture,
                const char *name,
                struct es_error *error,
                struct es_message **ret_reply)
{
    const struct esi_rpc_request request = {.name = name};
    static uint64_t id;

    *error = (struct es_error){.text = ""};
    return esi_rpc_call(fixture->link, ++id, &request, ANSWER_NS, error, ret_reply);
}

static void replies_are_read(void **state)
{
    struct fixture fixture;
    struct es_message *reply;
    struct es_error error;

    (void)state;
    begin(&fixture);
    assert_int_equal(call(&fixture, "good", &error, &reply), 0);
    assert_int_equal(esi_member_integer_or(esi_message_root(reply), "value", 0), 7);
    esi_message_destroy(reply);
    assert_int_equal(call(&fixture, "good", &error, NULL), 0);
    end(&fixture);
}

static void late_answers_of_other_requests_are_dropped(void **state)
{
    struct fixture fixture;
    struct es_message *reply;
    struct es_error error;

    (void)state;
    begin(&fixture);
    assert_int_equal(call(&fixture, "late", &error, &reply), 0);
    assert_int_equal(esi_member_integer_or(esi_message_root(reply), "value", 0), 7);
    esi_message_destroy(reply);
    end(&fixture);
}

static void failures_have_their_code_and_words(void **state)
{
    struct fixture fixture;
    struct es_message *reply = NULL;
    struct es_error error;

    (void)state;
    begin(&fixture);
    assert_int_equal(call(&fixture, "fail", &error, &reply), -ENODEV);
    assert_string_equal(error.text, "no such thing");
    assert_int_equal(call(&fixture, "fail.silently", &error, &reply), -ENODEV);
    assert_string_equal(error.text, strerror(ENODEV));
    assert_null(reply);
    end(&fixture);
}

static void write_code(struct esi_json_out *out, void *data)
{
    const int *code = data;

    esi_json_out_signed(out, "code", *code);
}

static void codes_that_are_none_are_protocol_errors(void **state)
{
    static const struct {
        int told, expected;
    } cases[] = {{0, -EPROTO},       {-1, -EPROTO}, {4096, -EPROTO},
                 {1 << 30, -EPROTO}, {4095, -4095}, {ENOENT, -ENOENT}};
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = cases[i].told;
        const struct esi_rpc_request request = {"fail.code", write_code, &code};
        struct es_error error = {.text = ""};

        assert_int_equal(
            esi_rpc_call(fixture.link, i + 1, &request, ANSWER_NS, &error, NULL),
            cases[i].expected);
        assert_string_equal(error.text, "the server gives no reason");
    }
    end(&fixture);
}

static void what_is_no_answer_is_a_protocol_error(void **state)
{
    static const char *const names[] = {"garbage", "garbage.failure", "batch"};
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct es_error error;

        assert_int_equal(call(&fixture, names[i], &error, NULL), -EPROTO);
        assert_true(error.text[0] != '\0');
    }
    end(&fixture);
}

static void silence_is_a_timeout_and_the_link_stays(void **state)
{
    const struct esi_rpc_request silent = {.name = "silent"};
    struct fixture fixture;
    struct es_error error = {.text = ""};

    (void)state;
    begin(&fixture);
    assert_int_equal(esi_rpc_call(fixture.link, 900, &silent, BRIEF_NS, &error, NULL),
                     -ETIMEDOUT);
    assert_int_equal(call(&fixture, "good", &error, NULL), 0);
    end(&fixture);
}

static void addresses_are_tried_in_turn(void **state)
{
    struct peer peer;
    char addresses[3 * ES_ADDRESS_BYTES], used[ES_ADDRESS_BYTES];
    struct es_link *link = NULL;
    struct es_error error = {.text = ""};

    (void)state;
    peer_init(&peer, ES_ADDRESS_UNIX);
    peer_start(&peer);
    snprintf(addresses, sizeof addresses, "unix:/nowhere/at/all,%s", peer.address);
    assert_int_equal(esi_rpc_connect(addresses, &peer.greeting, &peer.key, ANSWER_NS,
                                     &error, &link, used),
                     0);
    assert_string_equal(used, peer.address);
    assert_string_equal(error.text, "");
    esi_link_close(link);
    peer_join(&peer);
    peer_fini(&peer);
    assert_true(esi_rpc_connect("unix:/nowhere/at/all", &peer.greeting, NULL, ANSWER_NS,
                                &error, &link, NULL) < 0);
    assert_true(error.text[0] != '\0');
    assert_int_equal(
        esi_rpc_connect("", &peer.greeting, NULL, ANSWER_NS, NULL, &link, NULL),
        -EINVAL);
}

SUITE(test_rpc)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_are_read),
        cmocka_unit_test(late_answers_of_other_requests_are_dropped),
        cmocka_unit_test(failures_have_their_code_and_words),
        cmocka_unit_test(codes_that_are_none_are_protocol_errors),
        cmocka_unit_test(what_is_no_answer_is_a_protocol_error),
        cmocka_unit_test(silence_is_a_timeout_and_the_link_stays),
        cmocka_unit_test(addresses_are_tried_in_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
