/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote_link.c - the connection of a remote stage: made, used, lost and made again.
 *
 * Who tries to connect lets all others of its tree wait.  So the first attempt after a
 * loss may take what is left of the pull's limit; those that follow take a fifth of the
 * time at most.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scopes/remote/remote_private.h"
#include "scopes/remote/rpc.h"

#define PAUSE_LEAST_NS UINT64_C(10000000)
#define PAUSE_MOST_NS UINT64_C(1000000000)
#define TRY_LEAST_NS UINT64_C(20000000)

/* Pauses are so many times as long as the attempt before them took. */
enum { PAUSE_FACTOR = 4 };

uint64_t esi_remote_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t left_ns(uint64_t deadline_ns)
{
    uint64_t now = esi_remote_now_ns();

    return deadline_ns > now ? deadline_ns - now : 0;
}

/* --- Making it --------------------------------------------------------------- */

static int open_part(struct es_stage *stage,
                     struct es_link *link,
                     uint64_t deadline_ns,
                     struct es_error *error)
{
    const struct esi_rpc_request request = {"open", esi_remote_write_open, stage};
    struct es_message *reply;
    struct esi_frame frame;
    int result = esi_remote_begin_acknowledging(stage);

    if (result < 0)
        return result;
    result = esi_rpc_send(link, ESI_REQUEST_IDS, &request, left_ns(deadline_ns));
    if (result == 0)
        result =
            esi_rpc_receive(link, ESI_REQUEST_IDS, left_ns(deadline_ns), error, &frame);
    if (result < 0)
        return es_error_set(error, result, "the tuple server does not answer: %s",
                            strerror(-result));
    result = esi_rpc_read(&frame, error, &reply);
    if (result < 0)
        return result;
    result = esi_remote_take_positions(stage, esi_message_root(reply), error);
    esi_message_destroy(reply);
    return result;
}

int esi_remote_connect(struct es_stage *stage,
                       uint64_t timeout_ns,
                       struct es_error *error)
{
    struct esi_remote *remote = stage->state;
    const struct es_stage_context *context = stage->context;
    uint64_t deadline_ns = esi_remote_now_ns() + timeout_ns;
    struct es_link *link;
    int result;

    if (!context->connect)
        return es_error_set(error, -ENOTCONN, "no tuple servers are known here");
    result = context->connect(context->data, remote->host, timeout_ns, error, &link);
    if (result < 0)
        return result;
    result = open_part(stage, link, deadline_ns, error);
    if (result < 0) {
        esi_link_close(link);
        return result;
    }
    remote->wire = (struct esi_remote_wire){.link = link,
                                            .swapped = esi_link_peer(link)->swapped,
                                            .requests = ESI_REQUEST_IDS + 1};
    return 0;
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
        .lost_ns = remote->silent_ns ? remote->silent_ns : esi_remote_now_ns(),
        .code = code};
    stage->cost.failures++;
}

bool esi_remote_restore(struct es_stage *stage, uint64_t timeout_ns)
{
    struct esi_remote *remote = stage->state;
    struct esi_remote_wire *wire = &remote->wire;
    uint64_t begun_ns = esi_remote_now_ns();
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
    spent_ns = esi_remote_now_ns() - begun_ns;
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
        /* Who waits further down is to answer before we give up. */
        .timeout_ns = limit_ns - limit_ns / 4,
        .drain = pull->drain,
        .careful = pull->careful || remote->failed,
        .measure = pull->measure,
        .acknowledged_count = esi_remote_acknowledge(stage),
    };
    unsigned char payload[ES_PART_PULL_BYTES];
    struct iovec pieces[] = {
        {.iov_base = payload, .iov_len = sizeof payload},
        {.iov_base = remote->acknowledgment,
         .iov_len = (size_t)asked.acknowledged_count * ES_PART_ACKNOWLEDGED_BYTES},
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
    int result =
        esi_link_receive(remote->wire.link, left_ns(deadline_ns), NULL, ret_frame);

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
