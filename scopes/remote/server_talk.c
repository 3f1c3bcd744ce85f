/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Requests over one's own link to a tuple server. */
#include "config.h"

#include "scopes/remote/server_talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"

/* The words of a failure that the server reports. */
static int read_failure(const struct es_frame *frame, struct es_error *error)
{
    struct es_message *message;
    int64_t code;
    int result =
        es_message_parse(frame->payload, frame->length, "failure", error, &message);

    if (result < 0)
        return result;
    code = es_member_integer_or(es_message_root(message), "code", EPROTO);
    if (code < 1 || code > 4095)
        code = EPROTO;
    result = es_error_set(error, -(int)code, "%s",
                          es_member_text_or(es_message_root(message), "text", ""));
    es_message_destroy(message);
    return result;
}

/* The frame that answers request `id`, of the type that is wanted. */
static int await_answer(struct es_link *link,
                        uint64_t id,
                        enum es_frame_type type,
                        uint64_t limit_ns,
                        struct es_error *error,
                        struct es_frame *ret_frame)
{
    int result = es_link_receive(link, limit_ns, error, ret_frame);

    if (result < 0)
        return result;
    if (ret_frame->id != id)
        return es_error_set(error, -EPROTO, "the tuple server answers something else");
    if (ret_frame->type == ES_FRAME_FAILURE)
        return read_failure(ret_frame, error);
    if (ret_frame->type != type)
        return es_error_set(error, -EPROTO, "the tuple server answers with frame %u",
                            ret_frame->type);
    return 0;
}

static int write_request(void (*write)(struct es_json_out *out, void *data),
                         void *data,
                         char **ret_text,
                         size_t *ret_length)
{
    struct es_json_text json;

    if (es_json_text_begin(&json) < 0)
        return -ENOMEM;
    es_json_out_begin_object(&json.out, NULL);
    write(&json.out, data);
    es_json_out_end(&json.out);
    return es_json_text_finish(&json, ret_text, ret_length);
}

int esi_server_talk(struct es_link *link,
                    uint64_t id,
                    void (*write)(struct es_json_out *out, void *data),
                    void *data,
                    uint64_t limit_ns,
                    struct es_error *error,
                    struct es_message **ret_reply)
{
    struct es_frame frame;
    struct iovec part;
    char *text = NULL;
    size_t length = 0;
    int result = write_request(write, data, &text, &length);

    part = (struct iovec){.iov_base = text, .iov_len = length};
    if (result == 0)
        result = es_link_send(link, ES_FRAME_REQUEST, id, &part, 1, limit_ns);
    free(text);
    if (result == 0)
        result = await_answer(link, id, ES_FRAME_REPLY, limit_ns, error, &frame);
    if (result < 0)
        return result;
    return es_message_parse(frame.payload, frame.length, "reply", error, ret_reply);
}

int esi_server_await_tuples(struct es_link *link,
                            uint64_t id,
                            uint64_t limit_ns,
                            struct es_tuples_header *ret_answer,
                            const void **ret_tuples)
{
    struct es_frame frame;
    int result = await_answer(link, id, ES_FRAME_TUPLES, limit_ns, NULL, &frame);

    return result < 0 ? result
                      : es_tuples_header_decode(&frame, ret_answer, ret_tuples);
}

int esi_server_write(struct es_link *link,
                     uint64_t id,
                     const struct es_write_header *header,
                     const void *tuples,
                     size_t count,
                     uint64_t limit_ns,
                     struct es_tuples_header *ret_answer)
{
    unsigned char bytes[ES_WRITE_HEADER_BYTES];
    /* The interface of the vector knows no const; nothing is written to it. */
    struct iovec parts[] = {
        {.iov_base = bytes, .iov_len = sizeof bytes},
        {.iov_base = (void *)(uintptr_t)tuples, .iov_len = count * header->tuple_bytes},
    };
    const void *none;
    int result;

    es_write_header_encode(header, bytes);
    result = es_link_send(link, ES_FRAME_WRITE, id, parts, 2, limit_ns);
    return result < 0 ? result
                      : esi_server_await_tuples(link, id, limit_ns, ret_answer, &none);
}
