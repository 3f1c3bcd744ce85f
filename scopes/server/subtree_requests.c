/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_requests.c - the requests that are about a connection's part. */
#include "config.h"

#include <errno.h>
#include <stdint.h>

#include "scopes/server/subtree_private.h"

/* How long servers further down may take to tell their costs. */
#define COSTS_NS UINT64_C(1000000000)

static int serve_open(struct es_service_connection *connection,
                      const struct es_member *request,
                      struct es_json_out *reply,
                      struct es_error *error)
{
    if (connection->part)
        return es_error_set(error, -EEXIST,
                            "this connection has opened a part already");
    int code = es_part_open(connection, request, reply, error, &connection->part);
    if (code == 0)
        atomic_fetch_add(&connection->service->parts, 1);
    return code;
}

void esi_part_end(struct es_service_connection *connection)
{
    if (!connection->part)
        return;
    es_part_close(connection->part);
    connection->part = NULL;
    atomic_fetch_sub(&connection->service->parts, 1);
}

static int serve_close(struct es_service_connection *connection,
                       const struct es_member *request,
                       struct es_json_out *reply,
                       struct es_error *error)
{
    (void)request;
    (void)reply;
    (void)error;
    esi_part_end(connection);
    return 0;
}

static int serve_costs(struct es_service_connection *connection,
                       const struct es_member *request,
                       struct es_json_out *reply,
                       struct es_error *error)
{
    (void)request;
    if (!connection->part)
        return es_error_set(error, -ENOENT, "this connection has not opened a part");
    es_part_write_costs(connection->part, reply);
    return 0;
}

const struct es_request esi_part_requests[] = {
    {"open", serve_open, false},
    {"close", serve_close, false},
    {"costs", serve_costs, false},
    {NULL, NULL, false},
};

/* --- Costs ------------------------------------------------------------------- */

static void write_row(void *data, const struct es_stage_row *row)
{
    struct es_json_out *out = data;

    es_json_out_begin_object(out, NULL);
    es_stage_row_write(row, out);
    if (row->silent)
        es_json_out_bool(out, "silent", true);
    es_json_out_end(out);
}

void es_part_write_costs(const struct es_part *part, struct es_json_out *reply)
{
    es_json_out_begin_array(reply, "stages");
    es_stage_foreach_row(part->root, 0, COSTS_NS, write_row, reply);
    es_json_out_end(reply);
}
