/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote_request.c - the request that opens a part. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/remote_private.h"

/* --- The tree ----------------------------------------------------------------- */

static size_t count_origins(const struct esi_stage_node *node)
{
    size_t count = node->origin != ES_STAGE_NO_ORIGIN;

    for (size_t i = 0; i < node->child_count; i++)
        count += count_origins(node->children[i]);
    return count;
}

static void list_origins(struct esi_remote *remote, const struct esi_stage_node *node)
{
    if (node->origin != ES_STAGE_NO_ORIGIN)
        remote->origins[remote->origin_count++] = node->origin;
    for (size_t i = 0; i < node->child_count; i++)
        list_origins(remote, node->children[i]);
}

/* Origins are numbered in the order in which the tree is written. */
static uint32_t number_next(void *data, uint32_t origin)
{
    uint32_t *next = data;

    (void)origin;
    return (*next)++;
}

static int write_tree(struct esi_remote *remote, const struct esi_stage_node *node)
{
    struct esi_json_out out;
    uint32_t next = 0;
    size_t length;
    FILE *stream = open_memstream(&remote->tree, &length);
    int result;

    if (!stream)
        return -ENOMEM;
    esi_json_out_init(&out, stream);
    result = esi_stage_node_write(node, number_next, &next, &out, NULL);
    if (fclose(stream) != 0)
        result = -ENOMEM;
    return result;
}

static int add_host(struct esi_remote *remote, const char *host)
{
    char **hosts;

    for (size_t i = 0; i < remote->host_count; i++)
        if (strcmp(remote->hosts[i], host) == 0)
            return 0;
    hosts = realloc(remote->hosts, (remote->host_count + 1) * sizeof *hosts);
    if (!hosts)
        return -ENOMEM;
    remote->hosts = hosts;
    hosts[remote->host_count] = strdup(host);
    if (!hosts[remote->host_count])
        return -ENOMEM;
    remote->host_count++;
    return 0;
}

static int list_hosts(struct esi_remote *remote, const struct esi_stage_node *node)
{
    int result = 0;

    if (node->host && strcmp(node->host, remote->host) != 0)
        result = add_host(remote, node->host);
    for (size_t i = 0; i < node->child_count && result == 0; i++)
        result = list_hosts(remote, node->children[i]);
    return result;
}

int esi_remote_take_tree(struct esi_remote *remote, const struct esi_stage_node *node)
{
    size_t count = count_origins(node);
    int result;

    remote->origins = calloc(count + 1, sizeof *remote->origins);
    remote->wire_state.next = calloc(count + 1, sizeof *remote->wire_state.next);
    if (!remote->origins || !remote->wire_state.next)
        return -ENOMEM;
    list_origins(remote, node);
    remote->wire_state.count = remote->origin_count;
    result = list_hosts(remote, node);
    return result < 0 ? result : write_tree(remote, node);
}

/* --- The request ------------------------------------------------------------- */

static bool is_same_process(const struct es_origin *a, const struct es_origin *b)
{
    return a->pid == b->pid && strcmp(a->host, b->host) == 0;
}

static void write_hosts(const struct es_stage *stage, struct esi_json_out *out)
{
    const struct esi_remote *remote = stage->state;
    const struct es_stage_context *context = stage->context;
    char address[ES_ADDRESS_BYTES];

    esi_json_out_begin_object(out, "hosts");
    for (size_t i = 0; i < remote->host_count && context->address; i++)
        if (context->address(context->data, remote->hosts[i], address,
                             sizeof address) == 0)
            esi_json_out_string(out, remote->hosts[i], address);
    esi_json_out_end(out);
}

static const struct es_origin *origin_at(const struct es_stage *stage, uint32_t index)
{
    const struct esi_remote *remote = stage->state;

    return &stage->context->origins->items[remote->origins[index]];
}

/* Elements of one process follow each other in trees, so a process is written once
 * unless the tree was made otherwise, which does no harm. */
static void write_processes(const struct es_stage *stage, struct esi_json_out *out)
{
    const struct esi_remote *remote = stage->state;

    esi_json_out_begin_array(out, "processes");
    for (uint32_t i = 0; i < remote->origin_count; i++) {
        const struct es_origin *origin = origin_at(stage, i);

        if (i > 0 && is_same_process(origin, origin_at(stage, i - 1)))
            continue;
        esi_json_out_begin_object(out, NULL);
        esi_json_out_signed(out, "pid", origin->pid);
        esi_json_out_signed(out, "rank", origin->rank);
        esi_json_out_string(out, "host", origin->host);
        esi_clock_write(origin->clock, out, "clock");
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static void write_origin(const struct es_origin *origin,
                         uint32_t process,
                         uint64_t position,
                         const uint64_t *acknowledged,
                         struct esi_json_out *out)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_unsigned(out, "process", process);
    esi_json_out_string(out, "name", origin->name);
    esi_json_out_string(out, "collector", origin->collector);
    esi_json_out_signed(out, "thread", origin->thread);
    esi_json_out_unsigned(out, "classes", origin->classes);
    esi_json_out_signed(out, "peer", origin->peer);
    esi_json_out_unsigned(out, "communicator", origin->communicator);
    if (position == ES_POSITION_END)
        esi_json_out_bool(out, "end", true);
    else
        esi_json_out_unsigned(out, "position", position);
    if (acknowledged && *acknowledged != ES_POSITION_END)
        esi_json_out_unsigned(out, "acknowledged", *acknowledged);
    esi_json_out_end(out);
}

static struct esi_place *place_at(const struct es_stage *stage, uint32_t index)
{
    const struct esi_remote *remote = stage->state;

    return &stage->context->places->items[remote->origins[index]];
}

/* Where reading is to begin.  While a new tree is opened, the one that it replaces
 * still reads. */
static uint64_t position_at(const struct es_stage *stage, uint32_t index)
{
    const struct esi_remote *remote = stage->state;
    const struct esi_place *place = place_at(stage, index);

    return remote->opened ? place->read.position : place->given;
}

static void write_origins(const struct es_stage *stage, struct esi_json_out *out)
{
    const struct esi_remote *remote = stage->state;
    uint32_t process = 0;

    esi_json_out_begin_array(out, "origins");
    for (uint32_t i = 0; i < remote->origin_count; i++) {
        const struct es_origin *origin = origin_at(stage, i);

        if (i > 0 && !is_same_process(origin, origin_at(stage, i - 1)))
            process++;
        write_origin(origin, process, position_at(stage, i),
                     remote->acknowledged ? &remote->acknowledged[i] : NULL, out);
    }
    esi_json_out_end(out);
}

/* Where the scope is to wait for. */
static bool is_lossless(const struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;

    for (uint32_t i = 0; i < remote->origin_count; i++)
        if (place_at(stage, i)->registered)
            return true;
    return false;
}

int esi_remote_begin_acknowledging(const struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;
    size_t count = remote->origin_count;

    if (!is_lossless(stage))
        return 0;
    if (!remote->acknowledged)
        remote->acknowledged = calloc(count + 1, sizeof *remote->acknowledged);
    if (!remote->acknowledgment)
        remote->acknowledgment = calloc(count + 1, ES_PART_ACKNOWLEDGED_BYTES);
    if (!remote->acknowledged || !remote->acknowledgment)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        remote->acknowledged[i] = place_at(stage, i)->acknowledged;
    return 0;
}

uint32_t esi_remote_acknowledge(const struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;
    uint32_t count = 0;

    for (uint32_t i = 0; remote->acknowledged && i < remote->origin_count; i++) {
        uint64_t position = place_at(stage, i)->acknowledged;

        if (position == remote->acknowledged[i] || position == ES_POSITION_END)
            continue;
        remote->acknowledged[i] = position;
        esi_subtree_acknowledged_encode(
            &(struct esi_subtree_acknowledged){.origin = i, .position = position},
            remote->acknowledgment + (size_t)count++ * ES_PART_ACKNOWLEDGED_BYTES);
    }
    return count;
}

void esi_remote_write_open(struct esi_json_out *out, void *data)
{
    const struct es_stage *stage = data;
    const struct esi_remote *remote = stage->state;

    esi_json_out_bool(out, "lossless", is_lossless(stage));
    if (stage->context->reads_placed)
        esi_json_out_bool(out, "placed", true);
    write_hosts(stage, out);
    write_processes(stage, out);
    write_origins(stage, out);
    esi_json_out_raw(out, "tree", remote->tree);
}

/* --- The reply --------------------------------------------------------------- */

static void take_position(struct es_stage *stage, uint32_t index, uint64_t position)
{
    struct esi_remote *remote = stage->state;
    struct esi_place *place = place_at(stage, index);

    remote->wire_state.next[index] = position;
    /* Only where the server had to find it is it news. */
    if (position_at(stage, index) == ES_POSITION_END)
        place->read.position = place->given = place->acknowledged = position;
}

int esi_remote_take_positions(struct es_stage *stage,
                              const struct es_member *reply,
                              struct es_error *error)
{
    struct esi_remote *remote = stage->state;
    const struct es_member *positions = esi_member_find(reply, "positions");
    const struct es_member *missing = esi_member_find(reply, "missing");
    size_t next_missing = 0;

    if (esi_member_count(positions) != remote->origin_count)
        return es_error_set(error, -EPROTO,
                            "the server of host %s has opened something else",
                            remote->host);
    for (uint32_t i = 0; i < remote->origin_count; i++) {
        int64_t position = esi_member_as_integer(esi_member_at(positions, i));
        const struct es_member *lacking = esi_member_at(missing, next_missing);

        if (lacking && esi_member_as_integer(lacking) == (int64_t)i) {
            remote->wire_state.next[i] = (uint64_t)position;
            next_missing++;
            continue;
        }
        take_position(stage, i, (uint64_t)position);
    }
    return 0;
}
