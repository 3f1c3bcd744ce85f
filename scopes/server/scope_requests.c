/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Requests about live scopes.
 *
 *   {"request": "announce", "name": NAME, "host":, "program":, "pid":, "view":}
 *   {"request": "poll", "pulls":, "tuples":, "lost":, "failures":, "rate":, "shape":}
 *   {"request": "answer", "id": ID, "answer": {...}}     these three: consumers
 *   {"request": "scopes"}                                which scopes there are
 *   {"request": "scope.command", "name": NAME, "command": {...}}
 */
#include "config.h"

#include <errno.h>

#include "scopes/server/scope_registry.h"
#include "scopes/server/service.h"

/* How long a consumer may take to pull, and with it to answer. */
#define COMMAND_NS UINT64_C(10000000000)

static int serve_announce(struct esi_service_connection *connection,
                          const struct es_member *request,
                          struct esi_json_out *reply,
                          struct es_error *error)
{
    struct esi_scope_entry *entry;
    int result;

    if (connection->announced)
        return es_error_set(error, -EBUSY, "this connection has announced a scope");
    result = esi_scope_registry_register(connection->service->scopes, request, error,
                                         &entry);
    if (result < 0)
        return result;
    connection->announced = entry;
    esi_json_out_string(reply, "name", esi_scope_entry_name(entry));
    return 0;
}

static int check_announced(const struct esi_service_connection *connection,
                           struct es_error *error)
{
    return connection->announced
               ? 0
               : es_error_set(error, -EINVAL, "no scope was announced before");
}

static int serve_poll(struct esi_service_connection *connection,
                      const struct es_member *request,
                      struct esi_json_out *reply,
                      struct es_error *error)
{
    int result = check_announced(connection, error);

    if (result == 0)
        esi_scope_registry_poll(connection->service->scopes, connection->announced,
                                request, reply);
    return result;
}

static int serve_answer(struct esi_service_connection *connection,
                        const struct es_member *request,
                        struct esi_json_out *reply,
                        struct es_error *error)
{
    int result = check_announced(connection, error);

    (void)reply;
    return result < 0
               ? result
               : esi_scope_registry_answer(connection->service->scopes,
                                           connection->announced, request, error);
}

static int serve_scopes(struct esi_service_connection *connection,
                        const struct es_member *request,
                        struct esi_json_out *reply,
                        struct es_error *error)
{
    (void)request;
    (void)error;
    esi_scope_registry_list(connection->service->scopes, reply);
    return 0;
}

static int serve_command(struct esi_service_connection *connection,
                         const struct es_member *request,
                         struct esi_json_out *reply,
                         struct es_error *error)
{
    const char *name;
    struct es_message *answer;
    int result = esi_member_text(request, "name", error, &name);

    if (result == 0)
        result = esi_scope_registry_command(connection->service->scopes, name,
                                            esi_member_find(request, "command"),
                                            COMMAND_NS, error, &answer);
    if (result < 0)
        return result;
    esi_member_write(esi_message_root(answer), reply, "answer");
    esi_message_destroy(answer);
    return 0;
}

const struct es_request esi_scope_requests[] = {
    {"announce", serve_announce, false},    {"poll", serve_poll, false},
    {"answer", serve_answer, false},        {"scopes", serve_scopes, false},
    {"scope.command", serve_command, true}, {NULL, NULL, false},
};
