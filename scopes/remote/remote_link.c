/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote_link.c - opens, uses and reopens the connection of a remote stage.
 *
 * The "open" request contains the subtree, its origins and their positions.  A lost
 * connection is reopened at the positions reached.
 *
 * An attempt to connect delays the whole tree.  Therefore the first attempt after a
 * loss may take the rest of the pull's limit, and later ones take at most a fifth of
 * the time. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/json_out.h"
#include "base/now.h"
#include "scopes/origin_process.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/remote_private.h"
#include "scopes/remote/rpc.h"
#include "scopes/remote/subtree_pull.h"

#define PAUSE_LEAST_NS UINT64_C(10000000)
#define PAUSE_MOST_NS UINT64_C(1000000000)
#define TRY_LEAST_NS UINT64_C(20000000)

/* A pause is this many times as long as the attempt before it. */
enum { PAUSE_FACTOR = 4 };

/* Requests are numbered separately from pulls, to distinguish their replies. */
#define REQUEST_IDS (UINT64_C(1) << 62)

/* --- The tree ----------------------------------------------------------------- */

static int list_origins(struct esi_remote *remote, const struct esi_stage_node *node)
{
    int result = 0;

    if (node->origin != ES_STAGE_NO_ORIGIN) {
        if (ESI_ARRAY_RESERVE(remote->origins, remote->origin_capacity,
                              (size_t)remote->origin_count + 1) < 0)
            return -ENOMEM;
        remote->origins[remote->origin_count++] = node->origin;
    }
    for (size_t i = 0; i < node->child_count && result == 0; i++)
        result = list_origins(remote, node->children[i]);
    return result;
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
    struct esi_json_text json;
    uint32_t next = 0;
    int result, finished;

    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    result = esi_stage_node_write(node, number_next, &next, &json.out, NULL);
    finished = esi_json_text_finish(&json, &remote->tree, NULL);
    return result < 0 ? result : finished;
}

static int add_host(struct esi_remote *remote, const char *host)
{
    char *copy;

    for (size_t i = 0; i < remote->host_count; i++)
        if (strcmp(remote->hosts[i], host) == 0)
            return 0;
    if (ESI_ARRAY_RESERVE(remote->hosts, remote->host_capacity,
                          remote->host_count + 1) < 0)
        return -ENOMEM;
    copy = strdup(host);
    if (!copy)
        return -ENOMEM;
    remote->hosts[remote->host_count++] = copy;
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
    int result = list_origins(remote, node);

    if (result == 0)
        result = list_hosts(remote, node);
    if (result == 0)
        result = esi_wire_state_init(&remote->wire_state, remote->origin_count);
    return result < 0 ? result : write_tree(remote, node);
}

/* --- The request ------------------------------------------------------------- */

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

/* Elements of a process are adjacent in trees, so that each process is usually written
 * once; writing it again does no harm. */
static void write_processes(const struct es_stage *stage, struct esi_json_out *out)
{
    const struct esi_remote *remote = stage->state;

    esi_json_out_begin_array(out, "processes");
    for (uint32_t i = 0; i < remote->origin_count; i++) {
        const struct es_origin *origin = origin_at(stage, i);

        if (i > 0 && esi_origin_is_same_process(origin, origin_at(stage, i - 1)))
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

static struct esi_read_state *place_at(const struct es_stage *stage, uint32_t index)
{
    const struct esi_remote *remote = stage->state;

    return &stage->context->places->items[remote->origins[index]];
}

/* The position at which reading begins.  While a new tree is opened, the tree that it
 * replaces still reads. */
static uint64_t position_at(const struct es_stage *stage, uint32_t index)
{
    const struct esi_remote *remote = stage->state;
    const struct esi_read_state *place = place_at(stage, index);

    return remote->opened ? place->read.position : place->delivered;
}

static void write_origins(const struct es_stage *stage, struct esi_json_out *out)
{
    const struct esi_remote *remote = stage->state;
    uint32_t process = 0;

    esi_json_out_begin_array(out, "origins");
    for (uint32_t i = 0; i < remote->origin_count; i++) {
        const struct es_origin *origin = origin_at(stage, i);

        if (i > 0 && !esi_origin_is_same_process(origin, origin_at(stage, i - 1)))
            process++;
        write_origin(origin, process, position_at(stage, i),
                     remote->acknowledged ? &remote->acknowledged[i] : NULL, out);
    }
    esi_json_out_end(out);
}

/* Returns true if writers wait for the scope. */
static bool is_lossless(const struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;

    for (uint32_t i = 0; i < remote->origin_count; i++)
        if (place_at(stage, i)->registered)
            return true;
    return false;
}

static int begin_acknowledging(const struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;
    size_t count = remote->origin_count;

    if (!is_lossless(stage))
        return 0;
    if (!remote->acknowledged)
        remote->acknowledged = calloc(count + 1, sizeof *remote->acknowledged);
    if (!remote->acknowledgment)
        remote->acknowledgment = calloc(count + 1, ES_SUBTREE_ACKNOWLEDGED_BYTES);
    if (!remote->acknowledged || !remote->acknowledgment)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        remote->acknowledged[i] = place_at(stage, i)->acknowledged;
    return 0;
}

static uint32_t put_acknowledgment(const struct es_stage *stage)
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
            remote->acknowledgment + (size_t)count++ * ES_SUBTREE_ACKNOWLEDGED_BYTES);
    }
    return count;
}

static void write_open(struct esi_json_out *out, void *data)
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
    struct esi_read_state *place = place_at(stage, index);

    remote->wire_state.next[index] = position;
    /* Other positions are already known here. */
    if (position_at(stage, index) == ES_POSITION_END)
        place->read.position = place->delivered = place->acknowledged = position;
}

static int take_positions(struct es_stage *stage,
                          const struct es_member *reply,
                          struct es_error *error)
{
    struct esi_remote *remote = stage->state;
    const struct es_member *positions = esi_member_find(reply, "positions");
    const struct es_member *missing = esi_member_find(reply, "missing");
    size_t next_missing = 0;

    memset(remote->wire_state.last, 0,
           remote->origin_count * sizeof *remote->wire_state.last);
    if (esi_member_count(positions) != remote->origin_count)
        return es_error_set(
            error, -EPROTO,
            "the server of host %s has opened a different number of elements",
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

/* --- Making it --------------------------------------------------------------- */

static int open_subtree(struct es_stage *stage,
                        struct es_link *link,
                        uint64_t deadline_ns,
                        struct es_error *error)
{
    const struct esi_rpc_request request = {"open", write_open, stage};
    struct es_message *reply;
    struct esi_frame frame;
    int result = begin_acknowledging(stage);

    if (result < 0)
        return result;
    result = esi_rpc_send(link, REQUEST_IDS, &request, esi_now_left_ns(deadline_ns));
    if (result == 0)
        result = esi_rpc_receive(link, REQUEST_IDS, esi_now_left_ns(deadline_ns), error,
                                 &frame);
    if (result < 0)
        return es_error_set(error, result, "the tuple server does not answer: %s",
                            strerror(-result));
    result = esi_rpc_read(&frame, error, &reply);
    if (result < 0)
        return result;
    result = take_positions(stage, esi_message_root(reply), error);
    esi_message_destroy(reply);
    return result;
}

int esi_remote_connect(struct es_stage *stage,
                       uint64_t timeout_ns,
                       struct es_error *error)
{
    struct esi_remote *remote = stage->state;
    const struct es_stage_context *context = stage->context;
    uint64_t deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    struct es_link *link;
    int result;

    if (!context->connect)
        return es_error_set(error, -ENOTCONN, "no tuple servers are known here");
    result = context->connect(context->data, remote->host, timeout_ns, error, &link);
    if (result < 0)
        return result;
    result = open_subtree(stage, link, deadline_ns, error);
    if (result < 0) {
        esi_link_close(link);
        return result;
    }
    remote->wire = (struct esi_remote_wire){.link = link,
                                            .swapped = esi_link_peer(link)->swapped,
                                            .requests = REQUEST_IDS + 1};
    return 0;
}

/* --- Replies that wait ------------------------------------------------------------ */

int esi_remote_store(struct esi_remote *remote, const struct esi_frame *frame)
{
    struct esi_remote_reply *reply = malloc(sizeof *reply + frame->length);
    struct esi_remote_reply **end = &remote->replies;

    if (!reply)
        return -ENOMEM;
    *reply = (struct esi_remote_reply){.frame = *frame};
    reply->frame.payload = reply->payload;
    if (frame->length > 0)
        memcpy(reply->payload, frame->payload, frame->length);
    while (*end)
        end = &(*end)->next;
    *end = reply;
    return 0;
}

void esi_remote_drop_reply(struct esi_remote *remote)
{
    struct esi_remote_reply *reply = remote->replies;

    remote->replies = reply->next;
    free(reply);
}

void esi_remote_forget(struct esi_remote *remote)
{
    while (remote->replies)
        esi_remote_drop_reply(remote);
    es_batch_clear(&remote->rest);
    remote->handed = 0;
    remote->refused = 0;
}

/* --- Ending it --------------------------------------------------------------- */

void esi_remote_hang_up(struct esi_remote *remote)
{
    if (remote->wire.link)
        esi_link_shut(remote->wire.link);
    esi_link_close(remote->wire.link);
    remote->wire.link = NULL;
}

void esi_remote_drop(struct es_stage *stage, int code)
{
    struct esi_remote *remote = stage->state;

    esi_remote_forget(remote);
    if (remote->wire.link)
        esi_remote_count_bytes(stage);
    esi_remote_hang_up(remote);
    remote->wire = (struct esi_remote_wire){
        .lost_ns = remote->silent_ns ? remote->silent_ns : esi_now_ns(CLOCK_MONOTONIC),
        .code = code};
    stage->cost.failures++;
}

bool esi_remote_restore(struct es_stage *stage, uint64_t timeout_ns)
{
    struct esi_remote *remote = stage->state;
    struct esi_remote_wire *wire = &remote->wire;
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t spent_ns;
    int result;

    if (wire->link)
        return true;
    if (begun_ns < wire->attempt_ns)
        return false;
    if (wire->pause_ns > 0 && timeout_ns > 2 * wire->pause_ns)
        timeout_ns = 2 * wire->pause_ns;
    if (timeout_ns < TRY_LEAST_NS)
        timeout_ns = TRY_LEAST_NS;
    result = esi_remote_connect(stage, timeout_ns, NULL);
    if (result == 0) {
        remote->reopened++;
        remote->silent_ns = 0;
        return true;
    }
    spent_ns = esi_now_ns(CLOCK_MONOTONIC) - begun_ns;
    wire->code = result;
    wire->pause_ns = wire->pause_ns ? wire->pause_ns * 2 : PAUSE_LEAST_NS;
    if (wire->pause_ns > PAUSE_MOST_NS)
        wire->pause_ns = PAUSE_MOST_NS;
    wire->attempt_ns = begun_ns + spent_ns + wire->pause_ns;
    if (spent_ns * PAUSE_FACTOR > wire->pause_ns)
        wire->attempt_ns = begun_ns + spent_ns * (1 + PAUSE_FACTOR);
    return false;
}

/* --- Using it ---------------------------------------------------------------- */

int esi_remote_send(struct es_stage *stage, const struct es_pull *pull)
{
    struct esi_remote *remote = stage->state;
    struct esi_remote_wire *wire = &remote->wire;
    uint64_t limit_ns = esi_remote_limit_ns(remote, pull);
    struct esi_subtree_pull asked = {
        .serial = wire->sent + 1,
        .max = pull->max,
        /* Servers further down must answer before this stage stops waiting. */
        .timeout_ns = limit_ns - limit_ns / 4,
        .drain = pull->drain,
        .careful = pull->careful || remote->failed,
        .measure = pull->measure,
        .acknowledged_count = put_acknowledgment(stage),
    };
    unsigned char payload[ES_SUBTREE_PULL_BYTES];
    struct iovec pieces[] = {
        {.iov_base = payload, .iov_len = sizeof payload},
        {.iov_base = remote->acknowledgment,
         .iov_len = (size_t)asked.acknowledged_count * ES_SUBTREE_ACKNOWLEDGED_BYTES},
    };
    int count = asked.acknowledged_count > 0 ? 2 : 1;
    int result;

    esi_subtree_pull_encode(&asked, payload);
    result =
        esi_link_send(wire->link, ES_FRAME_PULL, asked.serial, pieces, count, limit_ns);
    if (result < 0) {
        esi_remote_drop(stage, result);
        return result;
    }
    remote->failed = false;
    wire->sent++;
    if (pull->drain)
        wire->drained = wire->sent;
    return 0;
}

int esi_remote_receive(struct es_stage *stage,
                       uint64_t deadline_ns,
                       struct esi_frame *ret_frame)
{
    struct esi_remote *remote = stage->state;
    int result = esi_link_receive(remote->wire.link, esi_now_left_ns(deadline_ns), NULL,
                                  ret_frame);

    if (result < 0 && result != -ETIMEDOUT)
        esi_remote_drop(stage, result);
    return result;
}

void esi_remote_count_bytes(struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;
    struct esi_link_traffic *counted = &remote->wire.counted;
    struct esi_link_traffic traffic;

    esi_link_traffic(remote->wire.link, &traffic);
    stage->cost.bytes += traffic.sent_bytes - counted->sent_bytes +
                         traffic.received_bytes - counted->received_bytes;
    *counted = traffic;
}

/* --- Costs ------------------------------------------------------------------------ */

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

/* Waits for the reply; queues batches that arrive before it. */
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
    uint64_t deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
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
