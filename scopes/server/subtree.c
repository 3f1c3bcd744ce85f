/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree.c - opens parts and answers their pulls.
 *
 * What the stages of a part gave is sent, or the connection ends, and then the part
 * ends with it.  Only writers that wait for a lossless scope wait until its consumer
 * has used their tuples.
 */
#include "config.h"

#include "scopes/server/subtree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/host_clock.h"
#include "base/now.h"
#include "scopes/server/subtree_private.h"
#include "tuplespace/transport/run_key.h"

/* A client that does not take its batch for so long is given up. */
#define SENDING_NS UINT64_C(30000000000)
/* How often the CPU time of a part is looked at, at most. */
#define CPU_EVERY_NS UINT64_C(1000000)

/* --- What stages may look at ------------------------------------------------- */

static const char *communicator_name(void *data, uint32_t origin, uint16_t communicator)
{
    struct es_part *part = data;
    const struct es_element_view *element = part->origins.items[origin].element;
    struct es_communicator_info info;

    if (!element || es_segment_view_communicator(es_element_view_segment(element),
                                                 communicator, &info) < 0)
        return "";
    memcpy(part->communicator, info.name, sizeof part->communicator);
    part->communicator[sizeof part->communicator - 1] = '\0';
    return part->communicator;
}

static int connect_to(void *data,
                      const char *host,
                      uint64_t timeout_ns,
                      struct es_error *error,
                      struct es_link **ret_link)
{
    struct es_part *part = data;

    return es_servers_connect(part->servers, host, timeout_ns, error, ret_link);
}

static int address_of(void *data, const char *host, char *out, size_t size)
{
    struct es_part *part = data;

    return es_servers_address(part->servers, host, out, size);
}

/* One host of the request. */
static int add_host(void *data, const char *host, const struct es_member *value)
{
    struct es_part *part = data;
    const char *address = es_member_as_text(value);

    return address ? es_servers_add(part->servers, host, address) : -EINVAL;
}

static int open_servers(struct es_part *part,
                        const struct es_member *request,
                        struct es_error *error)
{
    const char *run = part->connection->service->run;
    const struct es_member *hosts = es_member_find(request, "hosts");
    struct es_run_key key;
    bool has_key = es_run_key_load(run, NULL, &key) == 0;

    /* What may change nothing here may not do so elsewhere. */
    if (has_key && es_link_is_read_only(part->connection->link))
        has_key = es_run_key_derive_read(&key, &key) == 0;
    int result = es_servers_create(run, has_key ? &key : NULL, &part->servers);

    explicit_bzero(&key, sizeof key);
    if (result == 0)
        result = es_member_foreach(hosts, add_host, part);
    if (result == -EINVAL)
        return es_error_set(error, result, "a host without an address");
    return result;
}

/* --- Opening ----------------------------------------------------------------- */

/* Latest tuples are read without a position: what a pull need not look for is found out
 * once. */
static void look_at(struct es_part *part, const struct es_stage_node *node)
{
    bool latest = false;

    for (size_t i = 0; i < node->property_count; i++)
        latest |= strcmp(node->properties[i].name, "read") == 0 &&
                  node->properties[i].value &&
                  strcmp(node->properties[i].value, "latest") == 0;
    part->moves |= node->origin != ES_STAGE_NO_ORIGIN && !latest;
    for (size_t i = 0; i < node->child_count; i++)
        look_at(part, node->children[i]);
}

/* An element that is not here gives nothing: a gather without children stands for it.
 * It may be there when the part is opened again. */
static void blank_missing(const struct es_part *part,
                          struct es_stage_node *node,
                          const char *here)
{
    if (node->host && strcmp(node->host, here) != 0)
        return;
    if (node->origin != ES_STAGE_NO_ORIGIN &&
        !part->origins.items[node->origin].element) {
        while (node->property_count > 0)
            free(node->properties[--node->property_count].value);
        node->type = "gather";
        node->origin = ES_STAGE_NO_ORIGIN;
    }
    for (size_t i = 0; i < node->child_count; i++)
        blank_missing(part, node->children[i], here);
}

static int open_tree(struct es_part *part,
                     const struct es_member *request,
                     struct es_error *error)
{
    struct es_stage_node *node;
    const char *here;
    int result = es_stage_node_read(es_member_find(request, "tree"),
                                    (uint32_t)part->origins.count, error, &node);

    if (result < 0)
        return result;
    here = node->host ? node->host : "";
    look_at(part, node);
    part->places.fixed = !part->moves;
    blank_missing(part, node, here);
    part->context = (struct es_stage_context){
        .origins = &part->origins,
        .places = &part->places,
        .communicator_name = communicator_name,
        .connect = connect_to,
        .address = address_of,
        .data = part,
        .run = part->connection->service->run,
        .reads_placed = es_member_boolean_or(request, "placed", false)};
    result = es_stage_node_open(node, here, &part->context, error, &part->root);
    es_stage_node_destroy(node);
    return result;
}

/* An element for which another process is registered is read without. */
static int join_readers(struct es_part *part)
{
    int result = 0;

    part->readers = calloc(part->origins.count + 1, sizeof(struct es_part_reader *));
    if (!part->readers)
        return -ENOMEM;
    for (size_t i = 0; i < part->origins.count && result != -ENOMEM; i++) {
        const struct es_element_view *element = part->origins.items[i].element;
        struct es_element_info info;

        if (!element) {
            part->places.items[i].registered = true; /* another server joins */
            continue;
        }
        es_element_view_info(element, &info);
        /* Writers would wait for a reader that is to change nothing. */
        if (info.block && !es_link_is_read_only(part->connection->link))
            result = es_part_reader_join(element, part->places.items[i].acknowledged,
                                         &part->readers[i]);
    }
    return result == -ENOMEM ? result : 0;
}

/* Both ends begin with the positions that the reply tells. */
static int begin_positions(struct es_part *part)
{
    size_t count = part->origins.count;

    part->positions = calloc(count + 1, sizeof *part->positions);
    part->wire.next = calloc(count + 1, sizeof *part->wire.next);
    part->wire.count = (uint32_t)count;
    if (!part->positions || !part->wire.next)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint64_t given = part->places.items[i].given;

        part->wire.next[i] = given == ES_POSITION_END ? 0 : given;
    }
    return 0;
}

/* Missing are elements that are to be read from their end and are not there. */
static void write_reply(const struct es_part *part, struct es_json_out *reply)
{
    es_json_out_unsigned(reply, "origins", part->origins.count);
    es_json_out_begin_array(reply, "positions");
    for (size_t i = 0; i < part->origins.count; i++)
        es_json_out_unsigned(reply, NULL, part->wire.next[i]);
    es_json_out_end(reply);
    es_json_out_begin_array(reply, "missing");
    for (size_t i = 0; i < part->origins.count; i++)
        if (!part->origins.items[i].element &&
            part->places.items[i].given == ES_POSITION_END)
            es_json_out_unsigned(reply, NULL, i);
    es_json_out_end(reply);
}

int es_part_open(struct es_service_connection *connection,
                 const struct es_member *request,
                 struct es_json_out *reply,
                 struct es_error *error,
                 struct es_part **ret_part)
{
    struct es_part *part = calloc(1, sizeof *part);
    int result;

    if (!part)
        return -ENOMEM;
    part->connection = connection;
    result = esi_service_run(connection, error, &part->run);
    if (result == 0)
        result = esi_part_read_origins(part, request, error);
    if (result == 0 && es_member_boolean_or(request, "lossless", false))
        result = join_readers(part);
    if (result == 0)
        result = open_servers(part, request, error);
    if (result == 0)
        result = open_tree(part, request, error);
    if (result == 0)
        result = begin_positions(part);
    if (result < 0) {
        es_part_close(part);
        return result;
    }
    write_reply(part, reply);
    *ret_part = part;
    return 0;
}

void es_part_close(struct es_part *part)
{
    int saved_errno = errno;

    if (!part)
        return;
    es_stage_close(part->root);
    for (size_t i = 0; part->readers && i < part->origins.count; i++)
        es_part_reader_leave(part->readers[i]);
    es_servers_close(part->servers);
    es_batch_fini(&part->batch);
    es_wire_buffer_fini(&part->buffer);
    esi_part_free_origins(part);
    free(part->readers);
    free(part->positions);
    free(part->wire.next);
    free(part);
    errno = saved_errno;
}

/* --- Positions --------------------------------------------------------------- */

/* Finds the first tuple of each origin that has not been given. */
static void find_positions(struct es_part *part)
{
    for (size_t i = 0; i < part->places.count; i++) {
        uint64_t position = esi_place_position(&part->places.items[i]);

        part->positions[i] =
            position == ES_POSITION_END ? part->wire.next[i] : position;
    }
}

/* Lets writers go on whose tuples the consumer has used; servers beyond this one hear
 * of it in the next pull. */
static int acknowledge(struct es_part *part, const struct es_part_pull *pull)
{
    for (uint32_t i = 0; i < pull->acknowledged_count; i++) {
        struct es_part_acknowledged item = es_part_acknowledged_at(pull, i);

        if (item.origin >= part->places.count)
            return -EPROTO;
        part->places.items[item.origin].acknowledged = item.position;
        if (part->readers && part->readers[item.origin])
            es_part_reader_acknowledge(part->readers[item.origin], item.position);
    }
    return 0;
}

/* --- Pulls ------------------------------------------------------------------- */

/* CPU time since it was told last: of receiving and sending, too.  Asking the kernel
 * for it costs as much as a small pull, so it is told once in a while. */
static uint64_t spent_cpu_ns(struct es_part *part, uint64_t monotonic_ns)
{
    uint64_t now, spent;

    if (monotonic_ns - part->cpu_told_ns < CPU_EVERY_NS)
        return 0;
    part->cpu_told_ns = monotonic_ns;
    now = es_now_ns(CLOCK_THREAD_CPUTIME_ID);
    spent = now - part->cpu_ns;
    part->cpu_ns = now;
    return spent;
}

static int send_batch(struct es_part *part,
                      uint64_t id,
                      const struct es_wire_cost *cost)
{
    const struct es_batch *batch = &part->batch;
    struct es_wire_buffer *buffer = &part->buffer;
    int result = es_batch_encode(&part->wire, batch,
                                 part->moves ? part->positions : NULL, cost, buffer);
    struct iovec pieces[] = {
        {.iov_base = buffer->head, .iov_len = sizeof buffer->head},
        {.iov_base = batch->tuples, .iov_len = batch->count * sizeof *batch->tuples},
        {.iov_base = buffer->tail, .iov_len = buffer->tail_bytes},
    };

    if (result < 0)
        return result;
    return es_link_send(part->connection->link, ES_FRAME_BATCH, id, pieces, 3,
                        SENDING_NS);
}

static int pull_stages(struct es_part *part, const struct es_part_pull *asked)
{
    struct es_pull pull = {
        .serial = ++part->serial,
        .max = asked->max < ES_WIRE_TUPLES_MAX ? asked->max : ES_WIRE_TUPLES_MAX,
        .realtime_ns = es_host_clock_now_ns(part->own_clock),
        .timeout_ns = asked->timeout_ns,
        .drain = asked->drain,
        .careful = asked->careful,
        .measure = asked->measure,
    };

    es_batch_clear(&part->batch);
    es_stage_ask(part->root, &pull);
    return es_stage_pull(part->root, &pull, &part->batch);
}

/* Where stages fail, or memory, the connection ends: what was read and not sent is read
 * again when the part is opened anew. */
int es_part_pull(struct es_part *part, const struct es_frame *frame)
{
    uint64_t begun_ns = es_now_ns(CLOCK_MONOTONIC), ended_ns;
    struct es_part_pull pull;
    struct es_wire_cost cost;
    int result = es_part_pull_decode(frame, NULL, &pull);

    if (result < 0)
        return result;
    result = acknowledge(part, &pull);
    if (result < 0)
        return result;
    result = pull_stages(part, &pull);
    if (result < 0) {
        (void)esi_service_fail(part->connection, pull.serial, result, NULL);
        return result;
    }
    if (part->moves)
        find_positions(part);
    ended_ns = es_now_ns(CLOCK_MONOTONIC);
    cost.cpu_ns = spent_cpu_ns(part, ended_ns);
    cost.wall_ns = ended_ns - begun_ns;
    return send_batch(part, pull.serial, &cost);
}
