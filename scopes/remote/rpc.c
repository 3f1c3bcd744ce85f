/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rpc.c - requests to a tuple server, replies and failures. */
#include "config.h"

#include "scopes/remote/rpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/now.h"

enum { LARGEST_ERRNO = 4095 };

/* --- Connecting --------------------------------------------------------------- */

struct esi_greeting esi_rpc_greeting(const char *run,
                                     const char *host,
                                     const char *program)
{
    struct esi_greeting greeting = {.pid = (uint32_t)getpid()};

    snprintf(greeting.run, sizeof greeting.run, "%s", run);
    snprintf(greeting.host, sizeof greeting.host, "%s", host);
    snprintf(greeting.program, sizeof greeting.program, "%s", program);
    return greeting;
}

int esi_rpc_connect(const char *addresses,
                    const struct esi_greeting *greeting,
                    const struct esi_run_key *key,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct es_link **ret_link,
                    char ret_address[ES_ADDRESS_BYTES])
{
    int result = -EINVAL;

    while (*addresses) {
        size_t length = strcspn(addresses, ",");
        char address[ES_ADDRESS_BYTES];

        snprintf(address, sizeof address, "%.*s", (int)length, addresses);
        es_error_clear(error);
        result = esi_link_connect(address, greeting, key, timeout_ns, error, ret_link);
        if (result == 0) {
            if (ret_address)
                memcpy(ret_address, address, sizeof address);
            return 0;
        }
        addresses += length + (addresses[length] == ',');
    }
    return result;
}

/* --- Sending ------------------------------------------------------------------ */

/* Sends a JSON text as a frame and frees the text. */
static int send_text(struct es_link *link,
                     enum esi_frame_type type,
                     uint64_t id,
                     struct esi_json_text *json,
                     uint64_t timeout_ns)
{
    struct iovec part;
    size_t length;
    char *text;
    int result = esi_json_text_finish(json, &text, &length);

    if (result < 0)
        return result;
    part = (struct iovec){.iov_base = text, .iov_len = length};
    result = esi_link_send(link, (uint16_t)type, id, &part, 1, timeout_ns);
    free(text);
    return result;
}

int esi_rpc_send(struct es_link *link,
                 uint64_t id,
                 const struct esi_rpc_request *request,
                 uint64_t timeout_ns)
{
    struct esi_json_text json;

    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    esi_json_out_begin_object(&json.out, NULL);
    esi_json_out_string(&json.out, "request", request->name);
    if (request->write)
        request->write(&json.out, request->data);
    esi_json_out_end(&json.out);
    return send_text(link, ES_FRAME_REQUEST, id, &json, timeout_ns);
}

int esi_rpc_fail(struct es_link *link,
                 uint64_t id,
                 int code,
                 const struct es_error *error,
                 uint64_t timeout_ns)
{
    char words[sizeof error->source + sizeof error->text + 32];
    bool has_words = error && error->text[0];
    struct esi_json_text json;

    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    esi_json_out_begin_object(&json.out, NULL);
    esi_json_out_signed(&json.out, "code", -code);
    esi_json_out_string(&json.out, "text",
                        has_words ? es_error_format(error, words, sizeof words)
                                  : strerror(-code));
    esi_json_out_end(&json.out);
    return send_text(link, ES_FRAME_FAILURE, id, &json, timeout_ns);
}

/* --- Receiving ---------------------------------------------------------------- */

int esi_rpc_receive(struct es_link *link,
                    uint64_t id,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct esi_frame *ret_frame)
{
    uint64_t begin_ns = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t passed_ns = 0;
    int result;

    do {
        result = esi_link_receive(link, timeout_ns - passed_ns, error, ret_frame);
        if (result < 0 || ret_frame->id == id)
            return result;
        passed_ns = esi_now_ns(CLOCK_MONOTONIC) - begin_ns;
    } while (passed_ns < timeout_ns);
    return -ETIMEDOUT;
}

/* Parses {"code": ERRNO, "text": "..."}. */
static int read_failure(const struct esi_frame *frame, struct es_error *error)
{
    struct es_message *message;
    const struct es_member *failure;
    int64_t code;
    int result =
        esi_message_parse(frame->payload, frame->length, "failure", error, &message);

    if (result < 0)
        return result == -ENOMEM ? result : -EPROTO;
    failure = esi_message_root(message);
    code = esi_member_integer_or(failure, "code", EPROTO);
    if (code < 1 || code > LARGEST_ERRNO)
        code = EPROTO;
    result =
        es_error_set(error, -(int)code, "%s",
                     esi_member_text_or(failure, "text", "the server gives no reason"));
    esi_message_destroy(message);
    return result;
}

int esi_rpc_check(const struct esi_frame *frame,
                  enum esi_frame_type wanted,
                  struct es_error *error)
{
    if (frame->type == wanted)
        return 0;
    if (frame->type == ES_FRAME_FAILURE)
        return read_failure(frame, error);
    return es_error_set(error, -EPROTO, "the tuple server answers with frame %u",
                        frame->type);
}

int esi_rpc_read(const struct esi_frame *frame,
                 struct es_error *error,
                 struct es_message **ret_reply)
{
    struct es_message *reply;
    int result = esi_rpc_check(frame, ES_FRAME_REPLY, error);

    if (result < 0)
        return result;
    result = esi_message_parse(frame->payload, frame->length, "reply", error, &reply);
    if (result < 0)
        return result == -ENOMEM ? result : -EPROTO;
    if (ret_reply)
        *ret_reply = reply;
    else
        esi_message_destroy(reply);
    return 0;
}

int esi_rpc_call(struct es_link *link,
                 uint64_t id,
                 const struct esi_rpc_request *request,
                 uint64_t timeout_ns,
                 struct es_error *error,
                 struct es_message **ret_reply)
{
    struct esi_frame frame;
    int result = esi_rpc_send(link, id, request, timeout_ns);

    if (result == 0)
        result = esi_rpc_receive(link, id, timeout_ns, error, &frame);
    return result == 0 ? esi_rpc_read(&frame, error, ret_reply) : result;
}
