/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* part_requests.c - the requests that are about a connection's part. */
#include "config.h"

#include <errno.h>
#include <stdint.h>

#include "scopes/part_private.h"

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
    {"open", serve_open},
    {"close", serve_close},
    {"costs", serve_costs},
    {NULL, NULL},
};

/* --- Costs ------------------------------------------------------------------- */

static void write_row(void *data, const struct es_stage_row *row)
{
    struct es_json_out *out = data;

    es_json_out_begin_object(out, NULL);
    es_json_out_signed(out, "depth", row->depth);
    es_json_out_string(out, "type", row->type);
    es_json_out_string(out, "label", row->label);
    if (row->host)
        es_json_out_string(out, "host", row->host);
    es_json_out_unsigned(out, "calls", row->calls);
    es_json_out_unsigned(out, "tuples", row->tuples);
    es_json_out_unsigned(out, "failures", row->failures);
    es_json_out_unsigned(out, "bytes", row->bytes);
    es_json_out_unsigned(out, "lost", row->lost);
    es_json_out_unsigned(out, "late", row->late);
    es_json_out_unsigned(out, "time_ns", row->time_ns);
    es_json_out_unsigned(out, "cpu_ns", row->cpu_ns);
    if (row->silent)
        es_json_out_bool(out, "silent", true);
    es_json_out_end(out);
}

static void write_stage(struct es_stage *stage, int depth, struct es_json_out *out)
{
    struct es_stage_row row;

    es_stage_row_fill(stage, depth, &row);
    write_row(out, &row);
    if (es_stage_is_remote(stage))
        (void)es_remote_foreach_row(stage, depth + 1, COSTS_NS, write_row, out);
    for (size_t i = 0; i < stage->child_count; i++)
        write_stage(stage->children[i], depth + 1, out);
}

void es_part_write_costs(const struct es_part *part, struct es_json_out *reply)
{
    es_json_out_begin_array(reply, "stages");
    write_stage(part->root, 0, reply);
    es_json_out_end(reply);
}
