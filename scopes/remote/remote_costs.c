/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote_costs.c - what the stages of a part have cost, asked over its connection. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "scopes/remote/remote_private.h"
#include "scopes/remote/rpc.h"

void esi_stage_row_fill(const struct es_stage *stage,
                        int depth,
                        struct esi_stage_row *ret_row)
{
    struct es_stage_cost cost;

    es_stage_cost(stage, &cost);
    *ret_row = (struct esi_stage_row){
        .depth = depth,
        .type = stage->ops->name,
        .label = stage->label,
        .calls = cost.calls,
        .tuples = cost.tuples,
        .failures = cost.failures,
        .bytes = cost.bytes,
        .lost = cost.lost,
        .late = cost.late,
        .time_ns = es_stage_cost_time_ns(&cost),
        .cpu_ns = es_stage_cost_cpu_ns(&cost),
    };
    if (esi_stage_is_remote(stage)) {
        struct esi_remote_status status;

        esi_remote_status(stage, &status);
        ret_row->silent = status.silent;
    }
}

static uint64_t remote_costs_counter(const struct es_member *member, const char *name)
{
    int64_t value = esi_member_integer_or(member, name, 0);

    return value > 0 ? (uint64_t)value : 0;
}

void esi_stage_row_read(const struct es_member *member,
                        int depth,
                        const char *host,
                        struct esi_stage_row *ret_row)
{
    int64_t deeper = esi_member_integer_or(member, "depth", 0);

    *ret_row = (struct esi_stage_row){
        .depth = depth + (deeper > 0 && deeper < 1000 ? (int)deeper : 0),
        .type = esi_member_text_or(member, "type", ""),
        .label = esi_member_text_or(member, "label", ""),
        .host = esi_member_text_or(member, "host", deeper == 0 ? host : NULL),
        .calls = remote_costs_counter(member, "calls"),
        .tuples = remote_costs_counter(member, "tuples"),
        .failures = remote_costs_counter(member, "failures"),
        .bytes = remote_costs_counter(member, "bytes"),
        .lost = remote_costs_counter(member, "lost"),
        .late = remote_costs_counter(member, "late"),
        .time_ns = remote_costs_counter(member, "time_ns"),
        .cpu_ns = remote_costs_counter(member, "cpu_ns"),
        .silent = esi_member_boolean_or(member, "silent", false),
    };
}

static int send_request(struct es_stage *stage, uint64_t timeout_ns, uint64_t *ret_id)
{
    const struct esi_rpc_request request = {.name = "costs"};
    struct esi_remote *remote = stage->state;
    int result;

    if (!remote->wire.link)
        return -EPIPE;
    *ret_id = remote->wire.requests++;
    result = esi_rpc_send(remote->wire.link, *ret_id, &request, timeout_ns);
    if (result < 0)
        esi_remote_drop(stage, result);
    return result;
}

/* Waits for the reply; batches that come before it are kept. */
static int await_reply(struct es_stage *stage,
                       uint64_t id,
                       uint64_t deadline_ns,
                       struct esi_frame *ret_frame)
{
    struct esi_remote *remote = stage->state;
    int result;

    for (;;) {
        result = esi_remote_receive(stage, deadline_ns, ret_frame);
        if (result < 0)
            return result;
        if (ret_frame->id == id)
            return 0;
        if (ret_frame->id != remote->wire.received + 1)
            continue;
        remote->wire.received++;
        if (ret_frame->type == ES_FRAME_BATCH)
            result = esi_remote_store(remote, ret_frame);
        if (result < 0) {
            esi_remote_drop(stage, result);
            return result;
        }
    }
}

int esi_remote_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data)
{
    const struct esi_remote *remote = stage->state;
    uint64_t deadline_ns = esi_remote_now_ns() + timeout_ns;
    const struct es_member *stages;
    struct es_message *message;
    struct esi_frame frame;
    uint64_t id;
    int result = send_request(stage, timeout_ns, &id);

    if (result == 0)
        result = await_reply(stage, id, deadline_ns, &frame);
    if (result == 0)
        result = esi_rpc_read(&frame, NULL, &message);
    if (result < 0)
        return result;
    stages = esi_member_find(esi_message_root(message), "stages");
    for (size_t i = 0; i < esi_member_count(stages); i++) {
        struct esi_stage_row row;

        esi_stage_row_read(esi_member_at(stages, i), depth, remote->host, &row);
        visit(data, &row);
    }
    esi_message_destroy(message);
    return 0;
}

void esi_stage_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data)
{
    struct esi_stage_row row;

    esi_stage_row_fill(stage, depth, &row);
    visit(data, &row);
    if (esi_stage_is_remote(stage))
        (void)esi_remote_foreach_row(stage, depth + 1, timeout_ns, visit, data);
    for (size_t i = 0; i < stage->child_count; i++)
        esi_stage_foreach_row(stage->children[i], depth + 1, timeout_ns, visit, data);
}

void esi_stage_row_write(const struct esi_stage_row *row, struct esi_json_out *out)
{
    esi_json_out_signed(out, "depth", row->depth);
    esi_json_out_string(out, "type", row->type);
    esi_json_out_string(out, "label", row->label);
    if (row->host)
        esi_json_out_string(out, "host", row->host);
    esi_json_out_unsigned(out, "calls", row->calls);
    esi_json_out_unsigned(out, "tuples", row->tuples);
    esi_json_out_unsigned(out, "failures", row->failures);
    esi_json_out_unsigned(out, "bytes", row->bytes);
    esi_json_out_unsigned(out, "lost", row->lost);
    esi_json_out_unsigned(out, "late", row->late);
    esi_json_out_unsigned(out, "time_ns", row->time_ns);
    esi_json_out_unsigned(out, "cpu_ns", row->cpu_ns);
}
