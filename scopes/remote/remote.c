/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote.c - the proxy of a subtree in another process.
 *
 * Most replies are decoded directly into the batch of the pull that waits for them.
 * Replies that arrive early are queued undecoded.  A reply that exceeds the rest of the
 * limit is decoded into a separate batch and passed on in parts.  If it must stay
 * whole, it waits for a pull with a sufficient limit; if there is none for some pulls,
 * the connection is closed, and the subtree is asked for less.
 *
 * The places of the origins advance as tuples are passed on.  Tuples that were not
 * passed on are discarded with the connection, and read again from there. */
#include "config.h"

#include "scopes/remote/remote.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "scopes/remote/remote_private.h"
#include "scopes/remote/rpc.h"

enum { PROPERTY_HOST, PROPERTY_LIMIT, PROPERTY_AHEAD };

/* The wait for a server that has missed its limit: the tree continues without it, but
 * does not spin. */
#define SILENT_WAIT_NS UINT64_C(1000000)
/* A connection without an answer for this number of limits, and for at least a minimum
 * time, is reopened: packets may have been lost for good. */
enum { GIVE_UP_LIMITS = 10 };
#define GIVE_UP_NS UINT64_C(10000000000)

static const struct es_property_schema properties[] = {
    [PROPERTY_HOST] = {.name = "host",
                       .type = ES_PROPERTY_TEXT,
                       .minimum = 1,
                       .maximum = 255,
                       .help = "host of the tuple server"},
    [PROPERTY_LIMIT] = {.name = "limit",
                        .type = ES_PROPERTY_DURATION,
                        .fallback = "5s",
                        .minimum = 1000000,
                        .maximum = INT64_C(3600000000000),
                        .help = "how long the server may take to answer"},
    [PROPERTY_AHEAD] = {.name = "ahead",
                        .type = ES_PROPERTY_INTEGER,
                        .fallback = "0",
                        .maximum = 1000,
                        .help = "pulls under way beyond the one that is waited for"},
};

/* Consecutive pulls for which a reply may be too large. */
enum { REFUSED_MOST = 8 };

/* --- Opening ----------------------------------------------------------------- */

static void destroy_remote(struct esi_remote *remote)
{
    esi_remote_hang_up(remote);
    for (size_t i = 0; i < remote->host_count; i++)
        free(remote->hosts[i]);
    esi_remote_forget(remote);
    es_batch_fini(&remote->rest);
    esi_wire_moves_fini(&remote->moves);
    esi_wire_state_fini(&remote->wire_state);
    free(remote->acknowledged);
    free(remote->acknowledgment);
    free(remote->hosts);
    free(remote->host);
    free(remote->tree);
    free(remote->origins);
    free(remote);
}

/* The request or this process is at fault: waiting does not help. */
static bool is_hopeless(int code)
{
    return code == -EINVAL || code == -EACCES || code == -EPERM || code == -ENOENT ||
           code == -ENOSYS || code == -ENOMEM || code == -EPROTO || code == -E2BIG;
}

static int remote_begin(struct es_stage *stage, struct es_error *error)
{
    struct esi_remote *remote = stage->state;
    struct es_error fault = {.text = ""};
    int result = esi_remote_take_tree(remote, stage->data);

    if (result < 0)
        return result;
    result = esi_remote_connect(stage, remote->limit_ns, &fault);
    if (is_hopeless(result))
        return es_error_set(error, result, "host %s: %s", remote->host, fault.text);
    if (result < 0) {
        remote->wire.lost_ns = esi_now_ns(CLOCK_MONOTONIC);
        remote->wire.code = result;
    }
    remote->opened = true;
    return 0;
}

static int open_remote(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct esi_remote *remote;
    int result;

    if (!stage->data)
        return es_error_set(error, -EINVAL,
                            "remote: marks where a tree continues on another host, and "
                            "cannot be requested");
    remote = calloc(1, sizeof *remote);
    if (!remote)
        return -ENOMEM;
    stage->state = remote;
    remote->limit_ns = (uint64_t)values[PROPERTY_LIMIT].integer;
    remote->ahead = (unsigned)values[PROPERTY_AHEAD].integer;
    remote->host = strdup(values[PROPERTY_HOST].text);
    result = remote->host ? remote_begin(stage, error) : -ENOMEM;
    if (result < 0)
        destroy_remote(remote);
    return result;
}

static void close_remote(struct es_stage *stage)
{
    destroy_remote(stage->state);
}

/* --- Places ----------------------------------------------------------------------- */

static struct esi_read_state *place_of(const struct es_stage *stage, uint32_t origin)
{
    return &stage->context->places->items[origin];
}

/* Advances the places past the tuples of the batch, starting at `first`. */
static void move_behind(const struct es_stage *stage,
                        const struct es_batch *batch,
                        size_t first)
{
    if (stage->context->places->fixed)
        return;
    for (size_t i = first; i < batch->count; i++)
        if (batch->marks[i].flags == 0 && !es_batch_is_open(batch, i))
            place_of(stage, batch->marks[i].origin)->read.position =
                batch->marks[i].position + 1;
}

/* Applies the moves of a reply that was passed on completely. */
static void apply_moves(const struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;

    for (size_t i = 0; i < remote->moves.count; i++) {
        const struct esi_wire_move *move = &remote->moves.items[i];

        place_of(stage, remote->origins[move->origin])->read.position = move->position;
    }
}

/* --- Decoding --------------------------------------------------------------------- */

/* Appends the tuples of a reply to the batch and updates the counters. */
static int decode_reply(struct es_stage *stage,
                        const struct esi_frame *frame,
                        struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct esi_wire_source source = {.swapped = remote->wire.swapped,
                                     .origins = remote->origins};
    size_t first = batch->report_count;
    int result =
        esi_batch_decode(&remote->wire_state, &source, frame->payload, frame->length,
                         batch, &remote->moves, &remote->spent, NULL);

    if (result < 0)
        return result;
    for (size_t i = first; i < batch->report_count; i++) {
        stage->cost.lost += batch->reports[i].lost;
        place_of(stage, batch->reports[i].origin)->read.lost += batch->reports[i].lost;
    }
    remote->answered++;
    remote->server_cpu_ns += remote->spent.cpu_ns;
    remote->server_wall_ns += remote->spent.wall_ns;
    return 0;
}

static bool has_rest(const struct esi_remote *remote)
{
    return remote->replies || remote->handed < remote->rest.count;
}

/* --- Handing up ------------------------------------------------------------------- */

/* Passes on `count` more tuples of the separately decoded reply. */
static int hand_rest(struct es_stage *stage, size_t count, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct es_batch *rest = &remote->rest;
    size_t first = batch->count;
    int result = esi_batch_append(batch, rest, remote->handed, count);

    if (result < 0)
        return result;
    remote->handed += count;
    rest->report_count = rest->notice_count = 0;
    move_behind(stage, batch, first);
    if (remote->handed < rest->count) {
        batch->more = true;
        return 0;
    }
    batch->more |= rest->more;
    es_batch_clear(rest);
    remote->handed = 0;
    apply_moves(stage);
    return 0;
}

/* Called when a reply that cannot be divided does not fit. */
static void refuse_reply(struct es_stage *stage, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;

    batch->more = true;
    if (++remote->refused > REFUSED_MOST)
        esi_remote_drop(stage, -EMSGSIZE);
}

static int hand_up_reply(struct es_stage *stage,
                         const struct esi_frame *frame,
                         size_t max,
                         struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    size_t first = batch->count;
    struct esi_wire_size size;
    int result = esi_batch_wire_size(frame->payload, frame->length, &size);

    if (result < 0)
        return result;
    if (size.tuples > max && !size.whole) {
        result = decode_reply(stage, frame, &remote->rest);
        return result < 0 ? result : hand_rest(stage, max, batch);
    }
    if (size.tuples > max) {
        result = esi_remote_store(remote, frame);
        if (result == 0)
            refuse_reply(stage, batch);
        return result;
    }
    result = decode_reply(stage, frame, batch);
    if (result < 0)
        return result;
    move_behind(stage, batch, first);
    apply_moves(stage);
    return 0;
}

/* Passes on the oldest queued replies, as far as the limit allows. */
static int hand_up_waiting(struct es_stage *stage, size_t max, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    size_t left = remote->rest.count - remote->handed;
    struct esi_wire_size size;
    int result;

    if (left > 0)
        return hand_rest(stage, left < max ? left : max, batch);
    result = esi_batch_wire_size(remote->replies->frame.payload,
                                 remote->replies->frame.length, &size);
    if (result < 0)
        return result;
    if (size.whole && size.tuples > max) {
        refuse_reply(stage, batch);
        return -EAGAIN;
    }
    remote->refused = 0;
    result = hand_up_reply(stage, &remote->replies->frame, max, batch);
    if (result == 0)
        esi_remote_drop_reply(remote);
    return result;
}

static int emit_waiting(struct es_stage *stage, size_t max, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    size_t first = batch->count;
    int result = 0;

    while (result == 0 && has_rest(remote)) {
        size_t left = max - (batch->count - first);

        if (left == 0) {
            batch->more = true;
            return 0;
        }
        result = hand_up_waiting(stage, left, batch);
    }
    return result == -EAGAIN ? 0 : result;
}

/* --- Asking and waiting ------------------------------------------------------ */

/* Sends pulls until the intended number is under way. */
static void send_pulls(struct es_stage *stage, const struct es_pull *pull)
{
    struct esi_remote *remote = stage->state;
    struct esi_remote_wire *wire = &remote->wire;
    bool drain = pull->drain;

    while (wire->link && (drain || wire->sent - wire->received <= remote->ahead)) {
        if (esi_remote_send(stage, pull) < 0)
            return;
        drain = false;
    }
}

static void ask_remote(struct es_stage *stage, const struct es_pull *pull)
{
    struct esi_remote *remote = stage->state;

    if (pull->max == 0 || remote->asked == pull->serial)
        return;
    remote->asked = pull->serial;
    remote->asked_ns = esi_now_ns(CLOCK_MONOTONIC);
    if (!has_rest(remote) || pull->drain)
        send_pulls(stage, pull);
}

/* Adds a notice that the subtree has not delivered. */
static int report_silence(struct es_stage *stage, int code, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct es_notice notice = {.code = code};
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t since = remote->wire.link ? remote->silent_ns : remote->wire.lost_ns;

    snprintf(notice.part, sizeof notice.part, "%s", stage->label);
    notice.silent_ns = since && since < now ? now - since : 0;
    return es_batch_notice(batch, &notice);
}

/* Waits for the next batch.  Returns -ETIMEDOUT, the error of the server, or another
 * error after which the connection was closed. */
static int await_batch(struct es_stage *stage,
                       uint64_t deadline_ns,
                       struct esi_frame *ret_frame)
{
    struct esi_remote *remote = stage->state;
    int result;

    do {
        result = esi_remote_receive(stage, deadline_ns, ret_frame);
        if (result < 0)
            return result;
        /* Otherwise it is a reply for which nobody waits any more. */
    } while (
        ret_frame->id != remote->wire.received + 1 ||
        (ret_frame->type != ES_FRAME_BATCH && (ret_frame->type != ES_FRAME_FAILURE)));
    remote->wire.received++;
    remote->silent_ns = 0;
    if (ret_frame->type == ES_FRAME_BATCH)
        return 0;
    /* A FAILURE: the stages of the subtree failed, and it has ended. */
    result = esi_rpc_check(ret_frame, ES_FRAME_BATCH, NULL);
    remote->failed = true;
    esi_remote_drop(stage, result);
    return result;
}

static void note_silence(struct es_stage *stage, uint64_t limit_ns)
{
    struct esi_remote *remote = stage->state;
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    if (!remote->silent_ns)
        remote->silent_ns = remote->asked_ns;
    if (now - remote->silent_ns > GIVE_UP_NS &&
        now - remote->silent_ns > GIVE_UP_LIMITS * limit_ns)
        esi_remote_drop(stage, -ETIMEDOUT);
}

/* Reopens the connection if it was lost, and waits for one reply. */
static int remote_fetch(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct esi_frame *ret_frame)
{
    struct esi_remote *remote = stage->state;
    uint64_t limit_ns = esi_remote_limit_ns(remote, pull);
    uint64_t deadline_ns = remote->asked_ns + limit_ns;
    int result = -ENOTCONN;

    for (int attempt = 0; attempt < 2; attempt++) {
        if (!esi_remote_restore(stage, esi_now_left_ns(deadline_ns)))
            return remote->wire.code;
        if (remote->wire.sent == remote->wire.received)
            send_pulls(stage, pull);
        if (!remote->wire.link)
            continue;
        result =
            await_batch(stage,
                        remote->silent_ns ? esi_now_ns(CLOCK_MONOTONIC) + SILENT_WAIT_NS
                                          : deadline_ns,
                        ret_frame);
        if (result == -ETIMEDOUT && remote->wire.link)
            note_silence(stage, limit_ns);
        if (remote->wire.link || result == -ETIMEDOUT)
            return result;
    }
    return result;
}

/* Fetches a reply and passes it on.  A pull that drains fetches all replies up to that
 * of the draining pull, as far as the limit allows. */
static int pull_new(struct es_stage *stage,
                    const struct es_pull *pull,
                    size_t first,
                    struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct esi_frame frame;
    int result;

    do {
        size_t left = pull->max - (batch->count - first);

        if (left == 0) {
            batch->more = true;
            return 0;
        }
        result = remote_fetch(stage, pull, &frame);
        if (result == 0)
            result = hand_up_reply(stage, &frame, left, batch);
    } while (result == 0 && pull->drain && !has_rest(remote) &&
             remote->wire.received < remote->wire.drained);
    return result;
}

static int pull_remote(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    size_t first = batch->count;
    bool waits = has_rest(remote);
    int result;

    if (pull->max == 0)
        return 0;
    ask_remote(stage, pull);
    result = emit_waiting(stage, pull->max, batch);
    if (result == 0 && !has_rest(remote) && (!waits || pull->drain))
        result = pull_new(stage, pull, first, batch);
    if (remote->wire.link)
        esi_remote_count_bytes(stage);
    /* A reply that could not be stored is read again. */
    if (result == -EPROTO || result == -ENOMEM)
        esi_remote_drop(stage, result);
    return result < 0 && result != -ENOMEM ? report_silence(stage, result, batch)
                                           : result;
}

const struct es_stage_ops esi_stage_remote = {
    .name = "remote",
    .help = "stands for stages that run in another host's tuple server",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .open = open_remote,
    .pull = pull_remote,
    .ask = ask_remote,
    .close = close_remote,
};

/* --- Making one -------------------------------------------------------------- */

static void add_to_registry(void)
{
    (void)es_stage_register(&esi_stage_remote);
}

/* Adds the type to the registry of stages; so does esi_remote_open(). */
static void remote_register(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, add_to_registry);
}

int esi_remote_open(const struct esi_stage_node *node,
                    const struct es_stage_context *context,
                    struct es_error *error,
                    struct es_stage **ret_stage)
{
    char limit[32], ahead[16], label[96];
    struct es_property written[3] = {
        {.name = "host", .value = node->host},
        {.name = "ahead", .value = ahead},
        {.name = "limit", .value = limit},
    };
    struct es_stage_spec spec = {.type = "remote",
                                 .properties = written,
                                 .property_count = node->limit_ns ? 3 : 2,
                                 .origin = ES_STAGE_NO_ORIGIN,
                                 .label = label,
                                 .context = context,
                                 .data = node};

    remote_register();
    snprintf(ahead, sizeof ahead, "%u", node->ahead);
    snprintf(limit, sizeof limit, "%lluns", (unsigned long long)node->limit_ns);
    snprintf(label, sizeof label, "host %s", node->host);
    return es_stage_open(&spec, error, ret_stage);
}

/* --- What is known of it ----------------------------------------------------- */

bool esi_stage_is_remote(const struct es_stage *stage)
{
    return stage->ops == &esi_stage_remote;
}

void esi_remote_status(const struct es_stage *stage,
                       struct esi_remote_status *ret_status)
{
    const struct esi_remote *remote = stage->state;
    uint64_t since = remote->wire.link ? remote->silent_ns : remote->wire.lost_ns;

    *ret_status = (struct esi_remote_status){
        .host = remote->host,
        .silent = since != 0,
        .silent_ns = since ? esi_now_ns(CLOCK_MONOTONIC) - since : 0,
        .pulls = remote->answered,
        .reopened = remote->reopened,
        .server_cpu_ns = remote->server_cpu_ns,
        .server_wall_ns = remote->server_wall_ns,
    };
}

/* --- Rows of costs ---------------------------------------------------------------- */

/* Fills in the current costs of one stage; texts are borrowed from the stage. */
static void stage_row_fill(const struct es_stage *stage,
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

/* The counters of a row as members of an object. */
static const struct {
    const char *name;
    size_t offset; /* of a uint64_t */
} row_counters[] = {
    {"calls", offsetof(struct esi_stage_row, calls)},
    {"tuples", offsetof(struct esi_stage_row, tuples)},
    {"failures", offsetof(struct esi_stage_row, failures)},
    {"bytes", offsetof(struct esi_stage_row, bytes)},
    {"lost", offsetof(struct esi_stage_row, lost)},
    {"late", offsetof(struct esi_stage_row, late)},
    {"time_ns", offsetof(struct esi_stage_row, time_ns)},
    {"cpu_ns", offsetof(struct esi_stage_row, cpu_ns)},
};
enum { ROW_COUNTERS = sizeof row_counters / sizeof *row_counters };

void esi_stage_row_write(const struct esi_stage_row *row, struct esi_json_out *out)
{
    esi_json_out_signed(out, "depth", row->depth);
    esi_json_out_string(out, "type", row->type);
    esi_json_out_string(out, "label", row->label);
    if (row->host)
        esi_json_out_string(out, "host", row->host);
    for (size_t i = 0; i < ROW_COUNTERS; i++) {
        uint64_t value;

        memcpy(&value, (const char *)row + row_counters[i].offset, sizeof value);
        esi_json_out_unsigned(out, row_counters[i].name, value);
    }
}

void esi_stage_row_read(const struct es_member *member,
                        int depth,
                        const char *host,
                        struct esi_stage_row *ret_row)
{
    int64_t deeper = esi_member_integer_or(member, "depth", 0);
    struct esi_stage_row row = {
        .depth = depth + (deeper > 0 && deeper < 1000 ? (int)deeper : 0),
        .type = esi_member_text_or(member, "type", ""),
        .label = esi_member_text_or(member, "label", ""),
        .host = esi_member_text_or(member, "host", deeper == 0 ? host : NULL),
        .silent = esi_member_boolean_or(member, "silent", false),
    };

    for (size_t i = 0; i < ROW_COUNTERS; i++) {
        uint64_t value = esi_member_counter(member, row_counters[i].name);

        memcpy((char *)&row + row_counters[i].offset, &value, sizeof value);
    }
    *ret_row = row;
}

int esi_stage_rows_print(const struct es_member *members,
                         const char *format,
                         FILE *stream,
                         const struct esi_show_options *options)
{
    size_t count = esi_member_count(members);
    struct esi_stage_row *rows = calloc(count + 1, sizeof *rows);
    int result;

    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        esi_stage_row_read(esi_member_at(members, i), 0, NULL, &rows[i]);
    result = esi_show_print(format, stream, rows, count, options);
    free(rows);
    return result;
}

void esi_stage_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data)
{
    struct esi_stage_row row;

    stage_row_fill(stage, depth, &row);
    visit(data, &row);
    if (esi_stage_is_remote(stage))
        (void)esi_remote_foreach_row(stage, depth + 1, timeout_ns, visit, data);
    for (size_t i = 0; i < stage->child_count; i++)
        esi_stage_foreach_row(stage->children[i], depth + 1, timeout_ns, visit, data);
}
