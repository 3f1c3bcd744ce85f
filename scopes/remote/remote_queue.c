/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* remote_queue.c - replies that are given piece by piece, or later.
 *
 * The queue knows where each reply ends.  The scope's places stand where everything
 * before was given: behind replies that were given, before those that were not, and in
 * between by the positions of the tuples that are left.  A summary stands for tuples of
 * many origins and names but one of them, and so does a result that was derived from
 * several, so a reply with such ones cannot be divided: it waits for a pull that takes
 * it whole.  If none comes, it is dropped together with the connection, and reading
 * begins anew before it.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/summary.h"
#include "scopes/remote/remote_private.h"

/* Pulls in turn for which a reply may be too large. */
enum { HELD_MOST = 8 };

/* --- Decoding ------------------------------------------------------------------ */

int esi_remote_decode(struct es_stage *stage,
                      const struct es_frame *frame,
                      const uint32_t *origins,
                      struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct es_wire_source source = {.swapped = remote->wire.swapped,
                                    .origins = origins};
    int result =
        es_batch_decode(&remote->wire_state, &source, frame->payload, frame->length,
                        batch, &remote->moves, &remote->spent, NULL);

    if (result == 0 && remote->before_capacity < remote->moves.capacity) {
        uint64_t *before =
            reallocarray(remote->before, remote->moves.capacity, sizeof *before);

        if (!before)
            return -ENOMEM;
        remote->before = before;
        remote->before_capacity = remote->moves.capacity;
    }
    return result;
}

void esi_remote_account(struct es_stage *stage,
                        const struct es_batch *batch,
                        size_t first)
{
    struct esi_remote *remote = stage->state;

    for (size_t i = 0; i < remote->moves.count; i++) {
        uint64_t *restart = &remote->restart[remote->moves.items[i].origin];

        remote->before[i] = *restart;
        *restart = remote->moves.items[i].position;
    }
    for (size_t i = first; i < batch->report_count; i++)
        stage->cost.lost += batch->reports[i].lost;
    remote->answered++;
    remote->server_cpu_ns += remote->spent.cpu_ns;
    remote->server_wall_ns += remote->spent.wall_ns;
}

void esi_remote_move_place(struct es_stage *stage, uint32_t index, uint64_t position)
{
    const struct esi_remote *remote = stage->state;
    struct es_place *place = &stage->context->places->items[remote->origins[index]];

    place->taken.position = position;
    place->given.position = position;
}

void esi_remote_count_lost(struct es_stage *stage, uint32_t origin, uint64_t lost)
{
    struct es_place *place = &stage->context->places->items[origin];

    place->taken.lost += lost;
    place->given.lost += lost;
}

/* --- What came out of turn ------------------------------------------------------ */

/* Whether the tuple has a position that moves on. */
static bool is_counted(const struct es_batch *batch, size_t index)
{
    return !es_batch_is_open(batch, index) && !es_mark_is_summary(&batch->marks[index]);
}

/* Forgets what cannot come again, as reading would begin behind it. */
static void cut_behind(struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;
    struct es_given *behind = stage->context->places->behind;

    for (size_t i = 0; behind && i < remote->moves.count; i++)
        es_given_cut(behind, remote->origins[remote->moves.items[i].origin],
                     remote->moves.items[i].position);
}

/* Whether something came out of turn and may come again. */
static bool has_behind(const struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;
    const struct es_given *behind = stage->context->places->behind;

    for (uint32_t i = 0; behind && i < remote->origin_count; i++)
        if (!es_given_is_empty(behind, remote->origins[i]))
            return true;
    return false;
}

/* Drops from the queue what came before, and notes what came out of turn. */
static int filter_queued(struct es_stage *stage, size_t first)
{
    struct esi_remote *remote = stage->state;
    struct es_given *behind = stage->context->places->behind;
    struct es_batch *queue = &remote->queue;
    size_t kept = first;
    int result = 0;

    for (size_t i = first; behind && i < queue->count; i++) {
        const struct es_mark *mark = &queue->marks[i];
        uint32_t origin = remote->origins[mark->origin];

        if (is_counted(queue, i)) {
            if (remote->replays && es_given_has(behind, origin, mark->position))
                continue;
            if (mark->position >= remote->restart[mark->origin] && result == 0)
                result = es_given_add(behind, origin, mark->position);
        }
        es_batch_move(queue, kept++, i);
    }
    if (behind)
        queue->count = kept;
    cut_behind(stage);
    remote->replays = remote->replays && has_behind(stage);
    return result;
}

/* The same for what went into the parent's batch: nothing of it came before. */
int esi_remote_note_direct(struct es_stage *stage,
                           const struct es_batch *batch,
                           size_t first)
{
    const struct es_places *places = stage->context->places;
    int result = 0;

    for (size_t i = first; places->behind && i < batch->count && result == 0; i++) {
        const struct es_mark *mark = &batch->marks[i];

        if (is_counted(batch, i) &&
            mark->position >= places->items[mark->origin].given.position)
            result = es_given_add(places->behind, mark->origin, mark->position);
    }
    cut_behind(stage);
    return result;
}

/* --- Filling -------------------------------------------------------------------- */

/* Makes room for one more reply, with the moves that were decoded. */
static int reserve_reply(struct esi_remote *remote)
{
    size_t moves = remote->queued_move_count + remote->moves.count;

    if (remote->reply_count == remote->reply_capacity) {
        size_t capacity = remote->reply_capacity ? remote->reply_capacity * 2 : 4;
        struct esi_remote_reply *replies =
            reallocarray(remote->replies, capacity, sizeof *replies);

        if (!replies)
            return -ENOMEM;
        remote->replies = replies;
        remote->reply_capacity = capacity;
    }
    if (moves > remote->queued_move_capacity) {
        struct esi_remote_move *items =
            reallocarray(remote->queued_moves, moves * 2, sizeof *items);

        if (!items)
            return -ENOMEM;
        remote->queued_moves = items;
        remote->queued_move_capacity = moves * 2;
    }
    return 0;
}

/* What the queue held. */
struct extent {
    size_t tuples;
    size_t reports;
    size_t notices;
};

static struct extent extent_of(const struct es_batch *queue)
{
    return (struct extent){queue->count, queue->report_count, queue->notice_count};
}

/* Notes that what the queue has beyond `first` is one reply. */
static void note_reply(struct esi_remote *remote, const struct extent *first)
{
    const struct es_batch *queue = &remote->queue;
    struct esi_remote_reply reply = {.tuples = queue->count - first->tuples,
                                     .reports = queue->report_count - first->reports,
                                     .notices = queue->notice_count - first->notices,
                                     .moves = remote->moves.count};

    for (size_t i = first->tuples; i < queue->count && !reply.whole; i++)
        reply.whole = queue->marks[i].flags != 0;
    for (size_t i = 0; i < remote->moves.count; i++)
        remote->queued_moves[remote->queued_move_count++] =
            (struct esi_remote_move){.before = remote->before[i],
                                     .after = remote->moves.items[i].position,
                                     .origin = remote->moves.items[i].origin};
    remote->replies[remote->reply_count++] = reply;
}

/* Decodes to the end of the queue.  On failure that is as it was, but the connection is
 * of no use any more. */
static int append(struct es_stage *stage, const struct es_frame *frame)
{
    struct esi_remote *remote = stage->state;
    struct es_batch *queue = &remote->queue;
    struct extent first = extent_of(queue);
    int result = esi_remote_decode(stage, frame, NULL, queue);

    if (result == 0)
        result = reserve_reply(remote);
    if (result < 0) {
        queue->count = first.tuples;
        queue->report_count = first.reports;
        queue->notice_count = first.notices;
    }
    return result;
}

int esi_remote_enqueue(struct es_stage *stage, const struct es_frame *frame)
{
    struct esi_remote *remote = stage->state;
    struct extent first = extent_of(&remote->queue);
    int result = append(stage, frame);

    if (result < 0)
        return result;
    esi_remote_account(stage, &remote->queue, first.reports);
    result = filter_queued(stage, first.tuples);
    note_reply(remote, &first);
    for (size_t i = first.reports; i < remote->queue.report_count; i++) {
        const struct es_report *report = &remote->queue.reports[i];

        esi_remote_count_lost(stage, remote->origins[report->origin], report->lost);
    }
    return result;
}

/* It was given already, and is taken or given again when the next pull says so.  It is
 * in the accounts, which have noted where its moves began. */
int esi_remote_keep_direct(struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;
    struct extent first = extent_of(&remote->queue);
    int result;

    if (!remote->direct.payload)
        return 0;
    es_batch_undo(&remote->wire_state, remote->direct.payload, remote->direct.length);
    result = append(stage, &remote->direct);
    if (result < 0)
        return result;
    note_reply(remote, &first);
    remote->direct.payload = NULL;
    remote->begun = remote->reply_count;
    remote->given = remote->queue.count;
    remote->told = remote->queue.report_count;
    remote->noticed = remote->queue.notice_count;
    return 0;
}

bool esi_remote_has_rest(const struct esi_remote *remote)
{
    return remote->begun < remote->reply_count || remote->given < remote->queue.count;
}

/* --- Places --------------------------------------------------------------------- */

/* Puts the places of origins that the part still gives before those that are left. */
static void step_back(struct es_stage *stage, size_t first, size_t end)
{
    const struct esi_remote *remote = stage->state;

    for (size_t i = first; i < end; i++) {
        const struct es_mark *mark = &remote->queue.marks[i];
        const struct es_place *place =
            &stage->context->places->items[remote->origins[mark->origin]];

        if (place->taken.position > mark->position)
            esi_remote_move_place(stage, mark->origin, mark->position);
    }
}

/* Puts the places behind the replies that were begun and before all others. */
static void move_places(struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;
    size_t behind = 0, end = 0;

    for (size_t i = 0; i < remote->begun; i++) {
        behind += remote->replies[i].moves;
        end += remote->replies[i].tuples;
    }
    for (size_t i = remote->queued_move_count; i > behind; i--)
        esi_remote_move_place(stage, remote->queued_moves[i - 1].origin,
                              remote->queued_moves[i - 1].before);
    for (size_t i = 0; i < behind; i++)
        esi_remote_move_place(stage, remote->queued_moves[i].origin,
                              remote->queued_moves[i].after);
    step_back(stage, remote->given, end);
}

/* --- Giving --------------------------------------------------------------------- */

/* Finds how much of the queue goes into `max` tuples. */
static struct extent find_extent(struct esi_remote *remote, size_t max)
{
    struct extent extent = {.tuples = 0};

    remote->begun = 0;
    while (remote->begun < remote->reply_count) {
        const struct esi_remote_reply *reply = &remote->replies[remote->begun];
        size_t left = max - extent.tuples;

        if (reply->whole && reply->tuples > left)
            break;
        remote->begun++;
        extent.reports += reply->reports;
        extent.notices += reply->notices;
        extent.tuples += reply->tuples < left ? reply->tuples : left;
        if (reply->tuples > left)
            break;
    }
    return extent;
}

static int give_told(const struct esi_remote *remote,
                     const struct extent *extent,
                     struct es_batch *batch)
{
    int result = 0;

    for (size_t i = 0; i < extent->reports && result == 0; i++) {
        struct es_report report = remote->queue.reports[i];

        report.origin = remote->origins[report.origin];
        result = es_batch_report(batch, &report);
    }
    for (size_t i = 0; i < extent->notices && result == 0; i++)
        result = es_batch_notice(batch, &remote->queue.notices[i]);
    return result;
}

static void give_tuples(const struct esi_remote *remote,
                        size_t count,
                        struct es_batch *batch)
{
    const struct es_batch *queue = &remote->queue;

    for (size_t i = 0; i < count; i++, batch->count++) {
        batch->tuples[batch->count] = queue->tuples[i];
        batch->marks[batch->count] = queue->marks[i];
        batch->marks[batch->count].origin = remote->origins[queue->marks[i].origin];
    }
}

/* What is in the queue is to come again: it is not to be dropped then.  Without memory
 * for that one tuple is dropped. */
static void unnote_queued(const struct es_stage *stage)
{
    const struct esi_remote *remote = stage->state;
    const struct es_batch *queue = &remote->queue;
    struct es_given *behind = stage->context->places->behind;

    for (size_t i = 0; behind && i < queue->count; i++)
        if (is_counted(queue, i))
            (void)es_given_remove(behind, remote->origins[queue->marks[i].origin],
                                  queue->marks[i].position);
}

/* Forgets all replies and the connection: reading is to begin anew before them. */
static void begin_anew(struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;
    struct es_batch *queue = &remote->queue;

    for (size_t i = remote->queued_move_count; i > 0; i--)
        remote->restart[remote->queued_moves[i - 1].origin] =
            remote->queued_moves[i - 1].before;
    for (size_t i = 0; i < queue->report_count; i++) {
        esi_remote_count_lost(stage, remote->origins[queue->reports[i].origin],
                              0 - queue->reports[i].lost);
        stage->cost.lost -= queue->reports[i].lost;
    }
    unnote_queued(stage);
    es_batch_clear(queue);
    remote->reply_count = remote->queued_move_count = 0;
    remote->held = 0;
    if (remote->wire.link)
        esi_remote_drop(stage, -EMSGSIZE);
}

int esi_remote_give_queued(struct es_stage *stage, size_t max, struct es_batch *batch)
{
    struct esi_remote *remote = stage->state;
    struct extent extent = find_extent(remote, max);
    int result = es_batch_reserve(batch, extent.tuples);

    if (result == 0)
        result = give_told(remote, &extent, batch);
    if (result < 0) {
        remote->begun = 0;
        return result;
    }
    give_tuples(remote, extent.tuples, batch);
    remote->given = extent.tuples;
    remote->told = extent.reports;
    remote->noticed = extent.notices;
    batch->more |= remote->queue.more || esi_remote_has_rest(remote);
    if (!esi_remote_has_rest(remote))
        remote->queue.more = false;
    move_places(stage);
    remote->held = remote->begun == 0 ? remote->held + 1 : 0;
    if (remote->held > HELD_MOST)
        begin_anew(stage);
    return 0;
}

/* --- What was given -------------------------------------------------------------- */

static void give_nothing(struct esi_remote *remote)
{
    remote->begun = remote->given = remote->told = remote->noticed = 0;
}

void esi_remote_take_back(struct es_stage *stage)
{
    struct esi_remote *remote = stage->state;

    if (remote->begun == 0)
        return;
    give_nothing(remote);
    move_places(stage);
}

/* Forgets replies that were given, but for the rest of the last one. */
static void drop_replies(struct esi_remote *remote)
{
    size_t end = 0, done = remote->begun, moves = 0;

    for (size_t i = 0; i < remote->begun; i++)
        end += remote->replies[i].tuples;
    if (end > remote->given) {
        done--;
        remote->replies[done].tuples = end - remote->given;
        remote->replies[done].reports = remote->replies[done].notices = 0;
    }
    for (size_t i = 0; i < done; i++)
        moves += remote->replies[i].moves;
    if (done == 0)
        return;
    remote->reply_count -= done;
    remote->queued_move_count -= moves;
    memmove(remote->replies, remote->replies + done,
            remote->reply_count * sizeof *remote->replies);
    if (remote->queued_move_count > 0)
        memmove(remote->queued_moves, remote->queued_moves + moves,
                remote->queued_move_count * sizeof *remote->queued_moves);
}

void esi_remote_drop_given(struct esi_remote *remote)
{
    struct es_batch *queue = &remote->queue;

    if (remote->begun == 0)
        return;
    drop_replies(remote);
    queue->count -= remote->given;
    queue->report_count -= remote->told;
    queue->notice_count -= remote->noticed;
    if (queue->count > 0) {
        memmove(queue->tuples, queue->tuples + remote->given,
                queue->count * sizeof *queue->tuples);
        memmove(queue->marks, queue->marks + remote->given,
                queue->count * sizeof *queue->marks);
    }
    if (queue->report_count > 0)
        memmove(queue->reports, queue->reports + remote->told,
                queue->report_count * sizeof *queue->reports);
    if (queue->notice_count > 0)
        memmove(queue->notices, queue->notices + remote->noticed,
                queue->notice_count * sizeof *queue->notices);
    give_nothing(remote);
    queue->more &= queue->count > 0;
}
