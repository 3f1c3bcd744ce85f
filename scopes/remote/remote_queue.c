/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote_queue.c - replies on their way up.
 *
 * Most replies are decoded straight into the batch of the pull that waits for them.
 * Those that came early wait as they are.  One that is larger than what is left of the
 * limit is decoded to memory of its own and handed up piece by piece, unless it must
 * stay whole: then it waits for a pull that takes it.  If none comes, the connection is
 * given up and the part is asked for less.
 *
 * The places of the origins move as tuples are handed up.  What has not been handed up
 * is forgotten with the connection, and read again.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/remote_private.h"

/* Pulls in turn for which a reply may be too large. */
enum { REFUSED_MOST = 8 };

/* --- Places ----------------------------------------------------------------------- */

static struct esi_place *place_of(const struct es_stage *stage, uint32_t origin)
{
    return &stage->context->places->items[origin];
}

/* Moves the places behind the tuples of the batch from `first` on. */
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

/* The whole reply has been handed up. */
static void apply_moves(const struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;

    for (size_t i = 0; i < remote->moves.count; i++) {
        const struct esi_wire_move *move = &remote->moves.items[i];

        place_of(stage, remote->origins[move->origin])->read.position = move->position;
    }
}

/* --- Decoding --------------------------------------------------------------------- */

/* Decodes a reply behind what the batch has, and takes it into the accounts. */
static int remote_queue_decode(struct es_stage *stage,
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

static void drop_reply(struct esi_remote *remote)
{
    struct esi_remote_reply *reply = remote->replies;

    remote->replies = reply->next;
    free(reply);
}

bool esi_remote_has_rest(const struct esi_remote *remote)
{
    return remote->replies || remote->handed < remote->rest.count;
}

void esi_remote_forget(struct esi_remote *remote)
{
    while (remote->replies)
        drop_reply(remote);
    es_batch_clear(&remote->rest);
    remote->handed = 0;
    remote->refused = 0;
}

/* --- Handing up ------------------------------------------------------------------- */

/* Hands up `count` tuples more of the reply that was decoded by itself. */
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

/* A reply that cannot be divided does not fit. */
static void remote_queue_refuse(struct es_stage *stage, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;

    batch->more = true;
    if (++remote->refused > REFUSED_MOST)
        esi_remote_drop(stage, -EMSGSIZE);
}

int esi_remote_hand_up(struct es_stage *stage,
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
        result = remote_queue_decode(stage, frame, &remote->rest);
        return result < 0 ? result : hand_rest(stage, max, batch);
    }
    if (size.tuples > max) {
        result = esi_remote_store(remote, frame);
        if (result == 0)
            remote_queue_refuse(stage, batch);
        return result;
    }
    result = remote_queue_decode(stage, frame, batch);
    if (result < 0)
        return result;
    move_behind(stage, batch, first);
    apply_moves(stage);
    return 0;
}

/* The oldest of the replies that wait, as far as the limit allows. */
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
        remote_queue_refuse(stage, batch);
        return -EAGAIN;
    }
    remote->refused = 0;
    result = esi_remote_hand_up(stage, &remote->replies->frame, max, batch);
    if (result == 0)
        drop_reply(remote);
    return result;
}

int esi_remote_emit_waiting(struct es_stage *stage, size_t max, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    size_t first = batch->count;
    int result = 0;

    while (result == 0 && esi_remote_has_rest(remote)) {
        size_t left = max - (batch->count - first);

        if (left == 0) {
            batch->more = true;
            return 0;
        }
        result = hand_up_waiting(stage, left, batch);
    }
    return result == -EAGAIN ? 0 : result;
}
