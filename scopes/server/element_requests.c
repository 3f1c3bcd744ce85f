/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Requests about elements held by the tuple server itself.
 *
 *   {"request": "element.create", "name":, "tuple_bytes":, "threshold":}
 *   {"request": "element.open", "name":}           any element of this host
 *   {"request": "element.discard", "position":}    of the opened element
 *   {"request": "element.remove", "name":}
 *
 * Create and open select the element for the WRITE and READ frames of the connection.
 * The server of another host reports whether it has taken an element that the pathmap
 * places there (scopes/server/placement.h):
 *
 *   {"request": "element.placed", "pid":, "name":, "taken": BOOL}
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "scopes/server/element_store.h"
#include "scopes/remote/element_wire.h"
#include "scopes/server/service.h"
#include "tuplespace/element_view.h"
#include "tuplespace/segment_set.h"

#define SENDING_NS UINT64_C(30000000000)
/* Longest wait of one READ, after which the reader asks again, so that the server can
 * end. */
#define WAIT_MAX_NS UINT64_C(500000000)
/* Time after which tuples for a blocking element are refused if its reader does not
 * read; shorter than the client's timeout. */
#define WRITE_MAX_NS UINT64_C(5000000000)
#define WRITE_SLICE_NS UINT64_C(100000000)
#define READ_MAX_BYTES (UINT32_C(1) << 20)

/* The element that a connection has opened. */
struct esi_element_session {
    struct es_run *run; /* owned */
    struct es_element_view *view;
    struct es_element_info info; /* at the time of opening */
};

static int check_store(const struct esi_service_call *call)
{
    if (call->connection->service->elements)
        return 0;
    return es_error_set(call->error, -ENOSYS, "this tuple server holds no elements");
}

/* --- Opening ---------------------------------------------------------------------- */

static bool is_wanted(const struct es_element_view *element,
                      const char *host,
                      const char *name)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    return !info.moved && strcmp(info.name, name) == 0 && strcmp(info.host, host) == 0;
}

/* Finds the newest element of that name. */
static struct es_element_view *find_element(const struct es_run *run,
                                            const char *host,
                                            const char *name)
{
    for (size_t i = es_run_segment_count(run); i-- > 0;) {
        const struct es_segment_view *segment = es_run_segment(run, i);

        for (size_t j = 0; j < es_segment_view_element_count(segment); j++)
            if (is_wanted(es_segment_view_element(segment, j), host, name))
                return es_segment_view_element(segment, j);
    }
    return NULL;
}

static int open_session(const struct esi_service *service,
                        const char *name,
                        struct es_error *error,
                        struct esi_element_session **ret_session)
{
    struct esi_element_session *session = calloc(1, sizeof *session);
    int result;

    if (!session)
        return -ENOMEM;
    result = esi_run_open_shared(service->segments, true, error, &session->run);
    if (result < 0) {
        free(session);
        return result;
    }
    session->view = find_element(session->run, service->host, name);
    if (!session->view) {
        es_run_close(session->run);
        free(session);
        return es_error_set(error, -ENOENT, "host %s has no element '%.64s'",
                            service->host, name);
    }
    es_element_view_info(session->view, &session->info);
    *ret_session = session;
    return 0;
}

void esi_element_close(struct esi_service_connection *connection)
{
    if (!connection->element)
        return;
    es_run_close(connection->element->run);
    free(connection->element);
    connection->element = NULL;
}

static int serve_open(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;
    const char *name = esi_service_text(call, "name");
    struct esi_element_session *session = NULL;

    if (!name)
        return call->code;
    int result = open_session(connection->service, name, call->error, &session);
    if (result < 0)
        return result;
    esi_element_close(connection);
    connection->element = session;
    esi_json_out_unsigned(call->reply, "tuple_bytes", session->info.tuple_bytes);
    esi_json_out_unsigned(call->reply, "threshold", session->info.threshold);
    esi_json_out_unsigned(call->reply, "head", session->info.head);
    esi_json_out_unsigned(call->reply, "oldest", session->info.oldest);
    return 0;
}

static int serve_create(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;
    const char *name = esi_service_text(call, "name");
    int64_t tuple_bytes = esi_service_integer(call, "tuple_bytes", 4, 65532);
    int64_t threshold = esi_service_integer(call, "threshold", 1, 1 << 24);
    int result = check_store(call);

    if (result == 0)
        result = call->code;
    if (result == 0)
        result = esi_element_store_add(connection->service->elements,
                                       &connection->share, name, (uint32_t)tuple_bytes,
                                       (uint32_t)threshold, call->error);
    return result < 0 ? result : serve_open(call);
}

static int serve_discard(struct esi_service_call *call)
{
    const struct esi_element_session *session = call->connection->element;
    int64_t position = esi_service_integer(call, "position", 0, INT64_MAX);

    if (call->code < 0)
        return call->code;
    if (!session)
        return es_error_set(call->error, -EINVAL,
                            "this connection has opened no element");
    es_element_discard(session->view, (uint64_t)position);
    return 0;
}

static int serve_remove(struct esi_service_call *call)
{
    const char *name = esi_service_text(call, "name");
    int result = check_store(call);

    if (result == 0)
        result = call->code;
    return result < 0 ? result
                      : esi_element_store_remove(call->connection->service->elements,
                                                 name, call->error);
}

/* --- What servers of other hosts report ------------------------------------------- */

/* Finds an element of a process of this host. */
static const struct es_element_view *find_own_element(const struct es_run *run,
                                                      const char *host,
                                                      int pid,
                                                      const char *name)
{
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        struct es_segment_info process;

        es_segment_view_info(segment, &process);
        if (process.kept || process.pid != pid || strcmp(process.host, host) != 0)
            continue;
        for (size_t j = 0; j < es_segment_view_element_count(segment); j++) {
            const struct es_element_view *element = es_segment_view_element(segment, j);
            struct es_element_info info;

            es_element_view_info(element, &info);
            if (strcmp(info.name, name) == 0)
                return element;
        }
    }
    return NULL;
}

static int serve_placed(struct esi_service_call *call)
{
    const char *name = esi_service_text(call, "name");
    int pid = (int)esi_service_integer(call, "pid", 1, INT32_MAX);
    bool is_taken = esi_service_boolean(call, "taken");
    const struct es_run *run = esi_service_run(call);
    const struct es_element_view *element;

    if (call->code < 0)
        return call->code;
    element = find_own_element(run, call->connection->service->host, pid, name);
    if (!element)
        return es_error_set(call->error, -ENOENT,
                            "no process %d here has an element '%.64s'", pid, name);
    esi_element_relocate(element, esi_element_location(element),
                         is_taken ? ES_LOCATION_TAKEN : ES_LOCATION_REFUSED);
    return 0;
}

const struct esi_request_row esi_element_requests[] = {
    {"element.create", serve_create, true},   {"element.open", serve_open, false},
    {"element.discard", serve_discard, true}, {"element.remove", serve_remove, true},
    {"element.placed", serve_placed, true},   {NULL, NULL, false},
};

/* --- Tuples ----------------------------------------------------------------------- */

static int send_tuples(struct es_link *link,
                       uint64_t id,
                       const struct esi_tuples_header *header,
                       void *tuples)
{
    unsigned char bytes[ES_TUPLES_HEADER_BYTES];
    struct iovec parts[] = {
        {.iov_base = bytes, .iov_len = sizeof bytes},
        {.iov_base = tuples, .iov_len = (size_t)header->count * header->tuple_bytes},
    };

    esi_tuples_header_encode(header, bytes);
    return esi_link_send(link, ES_FRAME_TUPLES, id, parts, header->count > 0 ? 2 : 1,
                         SENDING_NS);
}

/* Waits for the element's reader in slices, so that the server can end. */
static int append_one(const struct esi_service *service,
                      const struct esi_element_session *session,
                      const char *tuple,
                      uint64_t begin_ns)
{
    int result;

    do
        result = esi_element_append_within(session->view, tuple,
                                           session->info.tuple_bytes, WRITE_SLICE_NS);
    while (result == -EAGAIN && !atomic_load(&service->stops) &&
           esi_now_ns(CLOCK_MONOTONIC) - begin_ns < WRITE_MAX_NS);
    return result == -EAGAIN ? -ETIMEDOUT : result;
}

static int element_requests_append(const struct esi_service *service,
                                   const struct esi_element_session *session,
                                   const char *tuples,
                                   size_t count,
                                   struct esi_tuples_header *ret_header)
{
    const uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);
    struct es_element_info info;
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result =
            append_one(service, session, tuples + i * session->info.tuple_bytes, begin);
    es_element_view_info(session->view, &info);
    *ret_header = (struct esi_tuples_header){.position = info.head};
    return result;
}

static int write_tuples(struct esi_service_connection *connection,
                        const struct esi_write_header *header,
                        const void *tuples,
                        size_t count,
                        struct esi_tuples_header *ret_header)
{
    const struct esi_element_session *session = connection->element;

    if (header->element != ES_ELEMENT_OPENED || header->position != ES_POSITION_END ||
        !session || session->info.tuple_bytes != header->tuple_bytes)
        return -EINVAL;
    return element_requests_append(connection->service, session, tuples, count,
                                   ret_header);
}

static int serve_write(struct esi_service_connection *connection,
                       const struct esi_frame *frame)
{
    struct es_error error = {.text = ""};
    struct esi_tuples_header answer = {.count = 0};
    struct esi_write_header header;
    const void *arrived;
    size_t count;
    void *tuples;
    int result = esi_write_header_decode(frame, &header, &arrived, &count);

    if (result < 0)
        return result;
    /* Aligned, and in the native byte order. */
    tuples = malloc(count * header.tuple_bytes + 1);
    if (!tuples)
        return -ENOMEM;
    esi_element_wire_copy(connection->link, arrived, count, header.tuple_bytes, tuples);
    result = write_tuples(connection, &header, tuples, count, &answer);
    free(tuples);
    if (result < 0) {
        es_error_set(&error, result, "tuples cannot be written: %s", strerror(-result));
        return esi_service_fail(connection, frame->id, result, &error);
    }
    return send_tuples(connection->link, frame->id, &answer, NULL);
}

static int read_tuples(struct esi_element_session *session,
                       const struct esi_read_header *header,
                       struct es_link *link,
                       uint64_t id)
{
    uint32_t tuple_bytes = session->info.tuple_bytes;
    uint32_t most = READ_MAX_BYTES / tuple_bytes;
    struct es_cursor cursor = {.position = header->position};
    struct esi_tuples_header answer = {.tuple_bytes = tuple_bytes};
    void *tuples;
    int result;

    if (header->max < most)
        most = header->max;
    if (header->timeout_ns > 0)
        /* The result does not matter: all available tuples are read. */
        es_element_wait(session->view, header->position,
                        header->timeout_ns < WAIT_MAX_NS ? header->timeout_ns
                                                         : WAIT_MAX_NS);
    tuples = malloc((size_t)most * tuple_bytes + 1);
    if (!tuples)
        return -ENOMEM;
    answer.count = (uint32_t)es_element_read_raw(session->view, &cursor, tuples, most);
    answer.position = cursor.position;
    answer.lost = cursor.lost;
    result = send_tuples(link, id, &answer, tuples);
    free(tuples);
    return result;
}

static int serve_read(struct esi_service_connection *connection,
                      const struct esi_frame *frame)
{
    struct es_error error = {.text = ""};
    struct esi_read_header header;
    int result = esi_read_header_decode(frame, &header);

    if (result < 0)
        return result;
    if (connection->element)
        return read_tuples(connection->element, &header, connection->link, frame->id);
    es_error_set(&error, -EINVAL, "this connection has opened no element");
    return esi_service_fail(connection, frame->id, -EINVAL, &error);
}

int esi_element_serve(struct esi_service_connection *connection,
                      const struct esi_frame *frame)
{
    return frame->type == ES_FRAME_WRITE ? serve_write(connection, frame)
                                         : serve_read(connection, frame);
}
