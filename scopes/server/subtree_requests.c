/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_requests.c - the requests that are about a connection's subtree. */
#include "config.h"

#include <errno.h>
#include <stdint.h>

#include "scopes/server/subtree_private.h"

/* How long servers further down may take to tell their costs. */
#define COSTS_NS UINT64_C(1000000000)

static int serve_open(struct esi_service_connection *connection,
                      const struct es_member *request,
                      struct esi_json_out *reply,
                      struct es_error *error)
{
    if (connection->subtree)
        return es_error_set(error, -EEXIST,
                            "this connection has opened a subtree already");
    int code =
        esi_subtree_open(connection, request, reply, error, &connection->subtree);
    if (code == 0)
        atomic_fetch_add(&connection->service->subtrees, 1);
    return code;
}

void esi_subtree_end(struct esi_service_connection *connection)
{
    if (!connection->subtree)
        return;
    esi_subtree_close(connection->subtree);
    connection->subtree = NULL;
    atomic_fetch_sub(&connection->service->subtrees, 1);
}

static int serve_close(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    (void)request;
    (void)reply;
    (void)error;
    esi_subtree_end(connection);
    return 0;
}

static int serve_costs(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    (void)request;
    if (!connection->subtree)
        return es_error_set(error, -ENOENT, "this connection has not opened a part");
    esi_subtree_write_costs(connection->subtree, reply);
    return 0;
}

const struct es_request esi_subtree_requests[] = {
    {"open", serve_open, false},
    {"close", serve_close, false},
    {"costs", serve_costs, false},
    {NULL, NULL, false},
};

/* --- Costs ------------------------------------------------------------------- */

static void write_row(void *data, const struct esi_stage_row *row)
{
    struct esi_json_out *out = data;

    esi_json_out_begin_object(out, NULL);
    esi_stage_row_write(row, out);
    if (row->silent)
        esi_json_out_bool(out, "silent", true);
    esi_json_out_end(out);
}

void esi_subtree_write_costs(const struct esi_subtree *subtree,
                             struct esi_json_out *reply)
{
    esi_json_out_begin_array(reply, "stages");
    esi_stage_foreach_row(subtree->root, 0, COSTS_NS, write_row, reply);
    esi_json_out_end(reply);
}
