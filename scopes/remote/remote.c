/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote.c - the stage that stands for a part of the tree in another process.
 *
 * How replies go up says remote_queue.c.  When the connection is lost, the part is
 * opened again where the places of its origins stand: behind what was handed up.
 */
#include "config.h"

#include "scopes/remote/remote.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/remote_private.h"
#include "scopes/remote/rpc.h"

enum { PROPERTY_HOST, PROPERTY_LIMIT, PROPERTY_AHEAD };

/* How long a server is waited for that did not answer in time before: its tree is to go
 * on without it, but not to spin. */
#define SILENT_WAIT_NS UINT64_C(1000000)
/* A connection without an answer for so many limits, and so long, is made anew: packets
 * may have been lost for good. */
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

/* --- Opening ----------------------------------------------------------------- */

static void destroy_remote(struct esi_remote *remote)
{
    esi_remote_hang_up(remote);
    for (size_t i = 0; i < remote->host_count; i++)
        free(remote->hosts[i]);
    esi_remote_forget(remote);
    es_batch_fini(&remote->rest);
    esi_wire_moves_fini(&remote->moves);
    free(remote->wire_state.next);
    free(remote->acknowledged);
    free(remote->acknowledgment);
    free(remote->hosts);
    free(remote->host);
    free(remote->tree);
    free(remote->origins);
    free(remote);
}

/* What is wrong with the request, or with us: waiting does not help. */
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
        remote->wire.lost_ns = esi_remote_now_ns();
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
                            "remote: stands where a tree goes on on another host, "
                            "and cannot be asked for");
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

/* --- Asking and waiting ------------------------------------------------------ */

/* Sends what is missing of the pulls that are to be under way. */
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
    remote->asked_ns = esi_remote_now_ns();
    if (!esi_remote_has_rest(remote) || pull->drain)
        send_pulls(stage, pull);
}

/* Says that this part has not delivered. */
static int tell_silence(struct es_stage *stage, int code, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct es_notice notice = {.code = code};
    uint64_t now = esi_remote_now_ns();
    uint64_t since = remote->wire.link ? remote->silent_ns : remote->wire.lost_ns;

    snprintf(notice.part, sizeof notice.part, "%s", stage->label);
    notice.silent_ns = since && since < now ? now - since : 0;
    return es_batch_notice(batch, &notice);
}

/* Waits for the next batch.  -ETIMEDOUT; what the server says; or the connection was
 * dropped. */
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
        /* Else a reply that somebody gave up waiting for. */
    } while (
        ret_frame->id != remote->wire.received + 1 ||
        (ret_frame->type != ES_FRAME_BATCH && (ret_frame->type != ES_FRAME_FAILURE)));
    remote->wire.received++;
    remote->silent_ns = 0;
    if (ret_frame->type == ES_FRAME_BATCH)
        return 0;
    /* The stages of the part have failed, and it has ended. */
    result = esi_rpc_check(ret_frame, ES_FRAME_BATCH, NULL);
    remote->failed = true;
    esi_remote_drop(stage, result);
    return result;
}

static void note_silence(struct es_stage *stage, uint64_t limit_ns)
{
    struct esi_remote *remote = stage->state;
    uint64_t now = esi_remote_now_ns();

    if (!remote->silent_ns)
        remote->silent_ns = remote->asked_ns;
    if (now - remote->silent_ns > GIVE_UP_NS &&
        now - remote->silent_ns > GIVE_UP_LIMITS * limit_ns)
        esi_remote_drop(stage, -ETIMEDOUT);
}

/* Makes the connection anew if there is none, and waits for one reply. */
static int remote_fetch(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct esi_frame *ret_frame)
{
    struct esi_remote *remote = stage->state;
    uint64_t limit_ns = esi_remote_limit_ns(remote, pull);
    uint64_t deadline_ns = remote->asked_ns + limit_ns;
    int result = -ENOTCONN;

    for (int attempt = 0; attempt < 2; attempt++) {
        uint64_t now = esi_remote_now_ns();

        if (!esi_remote_restore(stage, deadline_ns > now ? deadline_ns - now : 0))
            return remote->wire.code;
        if (remote->wire.sent == remote->wire.received)
            send_pulls(stage, pull);
        if (!remote->wire.link)
            continue;
        result = await_batch(
            stage, remote->silent_ns ? now + SILENT_WAIT_NS : deadline_ns, ret_frame);
        if (result == -ETIMEDOUT && remote->wire.link)
            note_silence(stage, limit_ns);
        if (remote->wire.link || result == -ETIMEDOUT)
            return result;
    }
    return result;
}

/* Fetches a reply and hands it up; where the pull drains, all of them up to the one
 * that was to drain, as far as the limit allows. */
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
            result = esi_remote_hand_up(stage, &frame, left, batch);
    } while (result == 0 && pull->drain && !esi_remote_has_rest(remote) &&
             remote->wire.received < remote->wire.drained);
    return result;
}

static int pull_remote(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    size_t first = batch->count;
    bool waits = esi_remote_has_rest(remote);
    int result;

    if (pull->max == 0)
        return 0;
    ask_remote(stage, pull);
    result = esi_remote_emit_waiting(stage, pull->max, batch);
    if (result == 0 && !esi_remote_has_rest(remote) && (!waits || pull->drain))
        result = pull_new(stage, pull, first, batch);
    if (remote->wire.link)
        esi_remote_count_bytes(stage);
    /* Without memory a reply could not be kept: it comes again. */
    if (result == -EPROTO || result == -ENOMEM)
        esi_remote_drop(stage, result);
    return result < 0 && result != -ENOMEM ? tell_silence(stage, result, batch)
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

void esi_remote_register(void)
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

    esi_remote_register();
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
        .silent_ns = since ? esi_remote_now_ns() - since : 0,
        .pulls = remote->answered,
        .reopened = remote->reopened,
        .server_cpu_ns = remote->server_cpu_ns,
        .server_wall_ns = remote->server_wall_ns,
    };
}
