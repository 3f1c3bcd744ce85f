/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The client side of elements held by tuple servers. */
#include "config.h"

#include "eventspace/server_element.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "scopes/remote/element_wire.h"
#include "scopes/remote/rpc.h"
#include "scopes/remote/servers.h"

#define LIMIT_NS UINT64_C(10000000000)
#define CHUNK_BYTES (UINT32_C(1) << 20) /* most bytes of tuples per frame */

struct es_server_element {
    struct es_link *link; /* owned */
    uint64_t id;          /* of the last request */
    uint32_t tuple_bytes;
};

/* --- Opening and closing ---------------------------------------------------------- */

struct opening {
    const char *name;
    uint32_t tuple_bytes;
    uint32_t threshold;
};

static void write_opening(struct esi_json_out *out, void *data)
{
    const struct opening *opening = data;

    esi_json_out_string(out, "name", opening->name);
    if (opening->tuple_bytes > 0) {
        esi_json_out_unsigned(out, "tuple_bytes", opening->tuple_bytes);
        esi_json_out_unsigned(out, "threshold", opening->threshold);
    }
}

static int open_element(struct es_server_element *element,
                        const char *name,
                        struct opening *opening,
                        struct es_error *error)
{
    const struct esi_rpc_request request = {name, write_opening, opening};
    struct es_message *reply;
    int64_t tuple_bytes;
    int result =
        esi_rpc_call(element->link, ++element->id, &request, LIMIT_NS, error, &reply);

    if (result < 0)
        return result;
    result = esi_member_integer(esi_message_root(reply), "tuple_bytes", 4, 65532, error,
                                &tuple_bytes);
    if (result == 0)
        element->tuple_bytes = (uint32_t)tuple_bytes;
    esi_message_destroy(reply);
    return result;
}

static int connect_and_open(struct es_servers *servers,
                            const char *host,
                            const char *request,
                            struct opening *opening,
                            struct es_error *error,
                            struct es_server_element **ret_element)
{
    struct es_server_element *element = calloc(1, sizeof *element);
    int result;

    if (!element)
        return -ENOMEM;
    result = esi_servers_connect(servers, host, LIMIT_NS, error, &element->link);
    if (result == 0)
        result = open_element(element, request, opening, error);
    if (result < 0) {
        es_server_element_close(element);
        return result;
    }
    *ret_element = element;
    return 0;
}

int es_server_element_create(struct es_servers *servers,
                             const char *host,
                             const char *name,
                             uint32_t tuple_bytes,
                             uint32_t threshold,
                             struct es_error *error,
                             struct es_server_element **ret_element)
{
    struct opening opening = {name, tuple_bytes, threshold};

    if (tuple_bytes == 0)
        return es_error_set(error, -EINVAL, "a tuple has at least 4 bytes");
    return connect_and_open(servers, host, "element.create", &opening, error,
                            ret_element);
}

int es_server_element_open(struct es_servers *servers,
                           const char *host,
                           const char *name,
                           struct es_error *error,
                           struct es_server_element **ret_element)
{
    struct opening opening = {.name = name};

    return connect_and_open(servers, host, "element.open", &opening, error,
                            ret_element);
}

void es_server_element_close(struct es_server_element *element)
{
    int saved_errno = errno;

    if (!element)
        return;
    esi_link_close(element->link);
    free(element);
    errno = saved_errno;
}

uint32_t es_server_element_tuple_bytes(const struct es_server_element *element)
{
    return element->tuple_bytes;
}

int es_server_element_remove(struct es_servers *servers,
                             const char *host,
                             const char *name,
                             struct es_error *error)
{
    struct opening opening = {.name = name};
    const struct esi_rpc_request request = {"element.remove", write_opening, &opening};
    struct es_link *link;
    int result = esi_servers_connect(servers, host, LIMIT_NS, error, &link);

    if (result < 0)
        return result;
    result = esi_rpc_call(link, 1, &request, LIMIT_NS, error, NULL);
    esi_link_close(link);
    return result;
}

/* --- Tuples ----------------------------------------------------------------------- */

/* Waits for a TUPLES frame; *ret_tuples is borrowed until the next receive. */
static int await_tuples(struct es_link *link,
                        uint64_t id,
                        uint64_t limit_ns,
                        struct esi_tuples_header *ret_answer,
                        const void **ret_tuples)
{
    struct esi_frame frame;
    int result = esi_rpc_receive(link, id, limit_ns, NULL, &frame);

    if (result == 0)
        result = esi_rpc_check(&frame, ES_FRAME_TUPLES, NULL);
    return result < 0 ? result
                      : esi_tuples_header_decode(&frame, ret_answer, ret_tuples);
}

static int append_chunk(struct es_server_element *element,
                        const char *tuples,
                        size_t count)
{
    const struct esi_write_header header = {.element = ES_ELEMENT_OPENED,
                                            .tuple_bytes = element->tuple_bytes,
                                            .position = ES_POSITION_END};
    unsigned char bytes[ES_WRITE_HEADER_BYTES];
    /* struct iovec has no const; the tuples are only read. */
    struct iovec parts[] = {
        {.iov_base = bytes, .iov_len = sizeof bytes},
        {.iov_base = (void *)(uintptr_t)tuples, .iov_len = count * header.tuple_bytes},
    };
    struct esi_tuples_header answer;
    const void *none;
    int result;

    esi_write_header_encode(&header, bytes);
    result =
        esi_link_send(element->link, ES_FRAME_WRITE, ++element->id, parts, 2, LIMIT_NS);
    return result < 0
               ? result
               : await_tuples(element->link, element->id, LIMIT_NS, &answer, &none);
}

int es_server_element_append(struct es_server_element *element,
                             const void *tuples,
                             size_t count)
{
    size_t chunk = CHUNK_BYTES / element->tuple_bytes;
    const char *next = tuples;

    while (count > 0) {
        size_t some = count < chunk ? count : chunk;
        int result = append_chunk(element, next, some);

        if (result < 0)
            return result;
        next += some * element->tuple_bytes;
        count -= some;
    }
    return 0;
}

/* Sends one READ frame and receives the answer. */
static int read_once(struct es_server_element *element,
                     struct es_cursor *cursor,
                     void *ret_tuples,
                     size_t max,
                     uint64_t timeout_ns)
{
    struct esi_read_header header = {
        .position = cursor->position,
        .timeout_ns = timeout_ns,
        .max = max < UINT32_MAX ? (uint32_t)max : UINT32_MAX,
    };
    unsigned char bytes[ES_READ_HEADER_BYTES];
    struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct esi_tuples_header answer;
    const void *tuples;
    int result;

    esi_read_header_encode(&header, bytes);
    result =
        esi_link_send(element->link, ES_FRAME_READ, ++element->id, &part, 1, LIMIT_NS);
    if (result == 0)
        result = await_tuples(element->link, element->id, LIMIT_NS, &answer, &tuples);
    if (result < 0)
        return result;
    if (answer.tuple_bytes != element->tuple_bytes || answer.count > max)
        return -EPROTO;
    esi_element_wire_copy(element->link, tuples, answer.count, answer.tuple_bytes,
                          ret_tuples);
    cursor->position = answer.position;
    cursor->lost += answer.lost;
    return (int)answer.count;
}

int es_server_element_read(struct es_server_element *element,
                           struct es_cursor *cursor,
                           void *ret_tuples,
                           size_t max,
                           uint64_t timeout_ns)
{
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t gone_by = 0;
    int count;

    if (max > CHUNK_BYTES / element->tuple_bytes)
        max = CHUNK_BYTES / element->tuple_bytes;
    /* The server limits the time of each wait. */
    do {
        count = read_once(element, cursor, ret_tuples, max, timeout_ns - gone_by);
        gone_by = esi_now_ns(CLOCK_MONOTONIC) - begin;
    } while (count == 0 && gone_by < timeout_ns);
    return count;
}

static void write_discard(struct esi_json_out *out, void *data)
{
    const uint64_t *position = data;

    esi_json_out_unsigned(out, "position", *position);
}

int es_server_element_discard(struct es_server_element *element, uint64_t position)
{
    const struct esi_rpc_request request = {"element.discard", write_discard,
                                            &position};

    return esi_rpc_call(element->link, ++element->id, &request, LIMIT_NS, NULL, NULL);
}
