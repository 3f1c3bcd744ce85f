/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a tuple server does for its clients: a table of requests, and pulls. */
#include "config.h"

#include "scopes/server/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/rpc.h"
#include "scopes/server/element_store.h"
#include "scopes/server/host_registry.h"
#include "scopes/server/subtree.h"
#include "scopes/server/scope_registry.h"
#include "tuplespace/segment_set.h"

/* A client that does not take its answer for so long is given up. */
#define SENDING_NS UINT64_C(30000000000)

/* One line for each subject. */
const struct es_request *const esi_request_tables[] = {
    esi_catalog_requests, esi_host_requests,    esi_control_requests,
    esi_clock_requests,   esi_tree_requests,    esi_part_requests,
    esi_scope_requests,   esi_element_requests, NULL,
};

static int fail_init(struct es_service *service,
                     const char *what,
                     int code,
                     struct es_error *error)
{
    es_service_fini(service);
    return es_error_set(error, code, "%s: %s", what, strerror(-code));
}

int es_service_init(struct es_service *service, struct es_error *error)
{
    int code = esi_segment_set_create(service->run, &service->segments);

    if (code < 0)
        return fail_init(service, "the run's segments", code, error);
    code = es_scope_board_create(&service->scopes);
    if (code < 0)
        return fail_init(service, "the board of scopes", code, error);
    code = es_clock_board_create(&service->clocks);
    if (code < 0)
        return fail_init(service, "the board of clocks", code, error);
    code =
        es_element_store_create(service->segments, service->host, &service->elements);
    return code < 0 ? fail_init(service, "no place for elements", code, error) : 0;
}

void es_service_fini(struct es_service *service)
{
    es_scope_board_destroy(service->scopes);
    es_element_store_destroy(service->elements);
    es_clock_board_destroy(service->clocks);
    esi_segment_set_destroy(service->segments);
    service->scopes = NULL;
    service->elements = NULL;
    service->clocks = NULL;
    service->segments = NULL;
}

void es_service_abandon(struct es_service *service)
{
    es_element_store_unlink(service->elements);
}

bool es_service_is_read(struct es_service *service)
{
    return atomic_load(&service->parts) > 0;
}

/* --- Connections -------------------------------------------------------------- */

static int open_connection(void *data, struct es_link *link, void **ret_connection)
{
    struct es_service_connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return -ENOMEM;
    connection->service = data;
    connection->link = link;
    *ret_connection = connection;
    return 0;
}

static void close_connection(void *data)
{
    struct es_service_connection *connection = data;

    es_host_board_leave(connection->service->hosts, connection);
    if (connection->announced)
        es_scope_board_leave(connection->service->scopes, connection->announced);
    esi_part_end(connection);
    esi_element_close(connection);
    es_element_store_leave(connection->service->elements, &connection->share);
    es_run_close(connection->reading);
    free(connection);
}

int esi_service_run(struct es_service_connection *connection,
                    struct es_error *error,
                    struct es_run **ret_run)
{
    const char *name = connection->service->run;
    int code;

    if (!connection->reading)
        code = esi_run_open_shared(connection->service->segments, true, error,
                                   &connection->reading);
    else
        code = es_run_refresh(connection->reading);
    if (code < 0)
        return es_error_set(error, code, "run \"%s\": cannot be read: %s", name,
                            strerror(-code));
    *ret_run = connection->reading;
    return 0;
}

/* --- Requests ----------------------------------------------------------------- */

static const struct es_request *find_request(const char *name)
{
    for (const struct es_request *const *table = esi_request_tables; *table; table++)
        for (const struct es_request *row = *table; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

int esi_service_fail(struct es_service_connection *connection,
                     uint64_t id,
                     int code,
                     const struct es_error *error)
{
    return esi_rpc_fail(connection->link, id, code, error, SENDING_NS);
}

/* The one check of what the read-only key is not enough for. */
static int check_may_change(const struct es_service_connection *connection,
                            const char *what,
                            struct es_error *error)
{
    if (!es_link_is_read_only(connection->link))
        return 0;
    return es_error_set(error, -EACCES,
                        "\"%s\" changes something: it needs the run's key, this "
                        "connection has the read-only key",
                        what);
}

/* Finds the row and lets it write its reply. */
static int answer(struct es_service_connection *connection,
                  const struct es_member *request,
                  struct es_json_out *out,
                  struct es_error *error)
{
    const char *name;

    int code = es_member_text(request, "request", error, &name);
    if (code < 0)
        return code;
    const struct es_request *row = find_request(name);
    if (!row)
        return es_error_set(error, -ENOSYS,
                            "\"%.64s\" is no request that this tuple server knows",
                            name);
    if (row->changes)
        code = check_may_change(connection, name, error);
    return code < 0 ? code : row->serve(connection, request, out, error);
}

/* Writes the whole reply.  Caller frees *ret_text, also on failure. */
static int write_reply(struct es_service_connection *connection,
                       const struct es_member *request,
                       struct es_error *error,
                       char **ret_text,
                       size_t *ret_length)
{
    struct es_json_text json;

    if (es_json_text_begin(&json) < 0)
        return -ENOMEM;
    es_json_out_begin_object(&json.out, NULL);
    int code = answer(connection, request, &json.out, error);
    if (code >= 0)
        es_json_out_end(&json.out);
    int finished = es_json_text_finish(&json, ret_text, ret_length);
    if (code >= 0 && finished < 0)
        code = finished;
    if (code >= 0 && *ret_length > ES_FRAME_MAX_BYTES)
        code = es_error_set(error, -EMSGSIZE, "the reply has %zu bytes, too many",
                            *ret_length);
    return code;
}

static int serve_request(struct es_service_connection *connection,
                         const struct es_frame *frame)
{
    struct es_error error = {.text = ""};
    struct es_message *message;
    char *text = NULL;
    size_t length = 0;
    /* What a row does with the link must not touch the frame. */
    const uint64_t id = frame->id;

    int code =
        es_message_parse(frame->payload, frame->length, "request", &error, &message);
    if (code == 0) {
        code =
            write_reply(connection, es_message_root(message), &error, &text, &length);
        es_message_destroy(message);
    }
    if (code < 0) {
        code = esi_service_fail(connection, id, code, &error);
    } else {
        struct iovec part = {.iov_base = text, .iov_len = length};

        code = es_link_send(connection->link, ES_FRAME_REPLY, id, &part, 1, SENDING_NS);
    }
    free(text);
    if (connection->owes_answer)
        es_host_board_answered(connection->service->hosts);
    connection->owes_answer = false;
    return code;
}

static int serve_pull(struct es_service_connection *connection,
                      const struct es_frame *frame)
{
    struct es_error error = {.text = ""};

    if (connection->part)
        return es_part_pull(connection->part, frame);
    es_error_set(&error, -EPROTO, "a pull, but this connection has opened no part");
    return esi_service_fail(connection, frame->id, -EPROTO, &error);
}

static int serve_write(struct es_service_connection *connection,
                       const struct es_frame *frame)
{
    struct es_error error = {.text = ""};

    int code = check_may_change(connection, "write", &error);
    return code < 0 ? esi_service_fail(connection, frame->id, code, &error)
                    : esi_element_serve(connection, frame);
}

static int serve_frame(void *data, const struct es_frame *frame)
{
    struct es_service_connection *connection = data;

    switch (frame->type) {
    case ES_FRAME_REQUEST:
        return serve_request(connection, frame);
    case ES_FRAME_PULL:
        return serve_pull(connection, frame);
    case ES_FRAME_WRITE:
        return serve_write(connection, frame);
    case ES_FRAME_READ:
        return esi_element_serve(connection, frame);
    default:
        return -EPROTO;
    }
}

static void stop_waiting(void *data)
{
    struct es_service *service = data;

    atomic_store(&service->stops, true);
    es_element_store_stop(service->elements);
    es_scope_board_close(service->scopes);
}

void es_service_fill(struct es_service *service, struct es_server_service *ret_service)
{
    *ret_service = (struct es_server_service){
        .open = open_connection,
        .serve = serve_frame,
        .close = close_connection,
        .stop = stop_waiting,
        .data = service,
    };
}
