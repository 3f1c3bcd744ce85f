/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The service of a tuple server to its clients: a table of requests, and pulls. */
#include "config.h"

#include "scopes/server/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/rpc.h"
#include "scopes/server/element_store.h"
#include "scopes/server/host_registry.h"
#include "scopes/server/subtree.h"
#include "scopes/server/scope_registry.h"
#include "tuplespace/segment_set.h"

/* Time after which the connection of a client that does not receive its reply is
 * closed. */
#define SENDING_NS UINT64_C(30000000000)

/* One per module. */
const struct esi_request_row *const esi_request_tables[] = {
    esi_run_requests,   esi_host_requests,    esi_subtree_requests,
    esi_scope_requests, esi_element_requests, NULL,
};

static int fail_init(struct esi_service *service,
                     const char *what,
                     int code,
                     struct es_error *error)
{
    esi_service_fini(service);
    return es_error_set(error, code, "%s: %s", what, strerror(-code));
}

int esi_service_init(struct esi_service *service, struct es_error *error)
{
    int code = esi_segment_set_create(service->run, &service->segments);

    if (code < 0)
        return fail_init(service, "the run's segments", code, error);
    code = esi_scope_registry_create(&service->scopes);
    if (code < 0)
        return fail_init(service, "the registry of scopes", code, error);
    code = esi_clock_registry_create(&service->clocks);
    if (code < 0)
        return fail_init(service, "the registry of clocks", code, error);
    code =
        esi_element_store_create(service->segments, service->host, &service->elements);
    return code < 0 ? fail_init(service, "the store of elements", code, error) : 0;
}

void esi_service_fini(struct esi_service *service)
{
    esi_scope_registry_destroy(service->scopes);
    esi_element_store_destroy(service->elements);
    esi_clock_registry_destroy(service->clocks);
    esi_segment_set_destroy(service->segments);
    service->scopes = NULL;
    service->elements = NULL;
    service->clocks = NULL;
    service->segments = NULL;
}

void esi_service_abandon(struct esi_service *service)
{
    esi_element_store_unlink(service->elements);
}

bool esi_service_is_read(struct esi_service *service)
{
    return atomic_load(&service->subtrees) > 0;
}

/* --- Connections -------------------------------------------------------------- */

static int open_connection(void *data, struct es_link *link, void **ret_connection)
{
    struct esi_service_connection *connection = calloc(1, sizeof *connection);

    if (!connection)
        return -ENOMEM;
    connection->service = data;
    connection->link = link;
    *ret_connection = connection;
    return 0;
}

static void close_connection(void *data)
{
    struct esi_service_connection *connection = data;

    esi_host_registry_leave(connection->service->hosts, connection);
    if (connection->scope)
        esi_scope_registry_deregister(connection->service->scopes, connection->scope);
    esi_subtree_end(connection);
    esi_element_close(connection);
    esi_element_store_leave(connection->service->elements, &connection->share);
    es_run_close(connection->reading);
    free(connection);
}

/* --- Requests ----------------------------------------------------------------- */

const char *esi_service_text(struct esi_service_call *call, const char *name)
{
    const char *text = NULL;

    if (call->code == 0)
        call->code = esi_member_text(call->body, name, call->error, &text);
    return text;
}

int64_t esi_service_integer(struct esi_service_call *call,
                            const char *name,
                            int64_t minimum,
                            int64_t maximum)
{
    int64_t value = minimum;

    if (call->code == 0)
        call->code =
            esi_member_integer(call->body, name, minimum, maximum, call->error, &value);
    return value;
}

bool esi_service_boolean(struct esi_service_call *call, const char *name)
{
    bool value = false;

    if (call->code == 0)
        call->code = esi_member_boolean(call->body, name, call->error, &value);
    return value;
}

struct es_run *esi_service_run(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;
    struct esi_service *service = connection->service;
    int code;

    if (call->code < 0)
        return NULL;
    code = connection->reading ? es_run_refresh(connection->reading)
                               : esi_run_open_shared(service->segments, true,
                                                     call->error, &connection->reading);
    if (code >= 0)
        return connection->reading;
    call->code = es_error_set(call->error, code, "run '%s': cannot be read: %s",
                              service->run, strerror(-code));
    return NULL;
}

static const struct esi_request_row *find_request(const char *name)
{
    for (const struct esi_request_row *const *table = esi_request_tables; *table;
         table++)
        for (const struct esi_request_row *row = *table; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row;
    return NULL;
}

int esi_service_fail(struct esi_service_connection *connection,
                     uint64_t id,
                     int code,
                     const struct es_error *error)
{
    return esi_rpc_fail(connection->link, id, code, error, SENDING_NS);
}

/* The only check of the read-only key. */
static int check_may_change(const struct esi_service_connection *connection,
                            const char *what,
                            struct es_error *error)
{
    if (!esi_link_is_read_only(connection->link))
        return 0;
    return es_error_set(error, -EACCES,
                        "'%s' changes something: it needs the run's key, this "
                        "connection has the read-only key",
                        what);
}

/* Finds the row and lets it write its reply. */
static int service_answer(struct esi_service_call *call)
{
    const char *name = esi_service_text(call, "request");
    const struct esi_request_row *row = name ? find_request(name) : NULL;

    if (!name)
        return call->code;
    if (!row)
        return es_error_set(call->error, -ENOSYS,
                            "'%.64s' is not a request that this tuple server knows",
                            name);
    int code = row->changes ? check_may_change(call->connection, name, call->error) : 0;
    return code < 0 ? code : row->serve(call);
}

/* Writes the whole reply.  The caller frees *ret_text, even on failure. */
static int write_reply(struct esi_service_connection *connection,
                       const struct es_member *body,
                       struct es_error *error,
                       char **ret_text,
                       size_t *ret_length)
{
    struct esi_json_text json;
    struct esi_service_call call = {
        .connection = connection, .body = body, .reply = &json.out, .error = error};

    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    esi_json_out_begin_object(&json.out, NULL);
    int code = service_answer(&call);
    if (code >= 0)
        esi_json_out_end(&json.out);
    int finished = esi_json_text_finish(&json, ret_text, ret_length);
    if (code >= 0 && finished < 0)
        code = finished;
    if (code >= 0 && *ret_length > ES_FRAME_MAX_BYTES)
        code = es_error_set(error, -EMSGSIZE, "the reply has %zu bytes, too many",
                            *ret_length);
    return code;
}

static int serve_request(struct esi_service_connection *connection,
                         const struct esi_frame *frame)
{
    struct es_error error = {.text = ""};
    struct es_message *message;
    char *text = NULL;
    size_t length = 0;
    /* Copied, because a row that uses the link invalidates the frame. */
    const uint64_t id = frame->id;

    int code =
        esi_message_parse(frame->payload, frame->length, "request", &error, &message);
    if (code == 0) {
        code =
            write_reply(connection, esi_message_root(message), &error, &text, &length);
        esi_message_destroy(message);
    }
    if (code < 0) {
        code = esi_service_fail(connection, id, code, &error);
    } else {
        struct iovec subtree = {.iov_base = text, .iov_len = length};

        code = esi_link_send(connection->link, ES_FRAME_REPLY, id, &subtree, 1,
                             SENDING_NS);
    }
    free(text);
    if (connection->owes_answer)
        esi_host_registry_answered(connection->service->hosts);
    connection->owes_answer = false;
    return code;
}

static int serve_pull(struct esi_service_connection *connection,
                      const struct esi_frame *frame)
{
    struct es_error error = {.text = ""};

    if (connection->subtree)
        return esi_subtree_pull(connection->subtree, frame);
    es_error_set(&error, -EPROTO, "a pull, but this connection has opened no subtree");
    return esi_service_fail(connection, frame->id, -EPROTO, &error);
}

static int serve_write(struct esi_service_connection *connection,
                       const struct esi_frame *frame)
{
    struct es_error error = {.text = ""};

    int code = check_may_change(connection, "write", &error);
    return code < 0 ? esi_service_fail(connection, frame->id, code, &error)
                    : esi_element_serve(connection, frame);
}

static int serve_frame(void *data, const struct esi_frame *frame)
{
    struct esi_service_connection *connection = data;

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
    struct esi_service *service = data;

    atomic_store(&service->stops, true);
    esi_element_store_stop(service->elements);
    esi_scope_registry_close(service->scopes);
}

void esi_service_fill(struct esi_service *service,
                      struct esi_server_service *ret_service)
{
    *ret_service = (struct esi_server_service){
        .open = open_connection,
        .serve = serve_frame,
        .close = close_connection,
        .stop = stop_waiting,
        .data = service,
    };
}
