/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_for.c - from open operations to what they wait for. */
#include "config.h"

#include "monitors/heartbeat/wait_for.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "tuplespace/operation_table.h"

/* --- Collectives that were completed ----------------------------------------- */

static uint64_t hash_seen(const uint64_t key[2], int rank)
{
    return esi_hash_mix(esi_hash_mix(key[0], key[1]), (uint64_t)rank);
}

struct esi_collective_seen *esi_collectives_seen_find(
    const struct esi_collectives_seen *seen,
    const uint64_t key[2],
    int rank)
{
    ESI_HASH_FOREACH(slot, &seen->numbers, hash_seen(key, rank)) {
        struct esi_collective_seen *item =
            &seen->items[esi_hash_index(&seen->numbers, slot)];

        if (item->key[0] == key[0] && item->key[1] == key[1] && item->rank == rank)
            return item;
    }
    return NULL;
}

/* Instance numbers wrap around. */
static bool has_reached(uint32_t sequence, uint32_t wanted)
{
    return (int32_t)(sequence - wanted) >= 0;
}

int esi_collectives_seen_note(struct esi_collectives_seen *seen,
                              const struct esi_collective_seen *instance)
{
    struct esi_collective_seen *item =
        esi_collectives_seen_find(seen, instance->key, instance->rank);

    if (item) {
        if (has_reached(instance->sequence, item->sequence))
            item->sequence = instance->sequence;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(seen->items, seen->capacity, seen->count + 1) < 0 ||
        esi_hash_reserve(&seen->numbers, seen->count + 1) < 0)
        return -ENOMEM;
    esi_hash_insert(&seen->numbers, hash_seen(instance->key, instance->rank),
                    seen->count);
    seen->items[seen->count++] = *instance;
    return 0;
}

void esi_collectives_seen_fini(struct esi_collectives_seen *seen)
{
    free(seen->items);
    esi_hash_fini(&seen->numbers);
    *seen = (struct esi_collectives_seen){0};
}

/* --- One thread's wait ------------------------------------------------------- */

struct wait_view {
    const struct esi_thread_state *threads;
    size_t count;
    struct esi_collectives_seen entered; /* completed or under way */
};

static int add_target(struct esi_wait *wait, int rank)
{
    if (ESI_ARRAY_RESERVE(wait->targets, wait->target_capacity,
                          wait->target_count + 1) < 0)
        return -ENOMEM;
    wait->targets[wait->target_count++] = rank;
    return 0;
}

static bool same_communicator(const struct esi_activity *a,
                              const struct esi_activity *b)
{
    return a->has_communicator && b->has_communicator && a->key[0] == b->key[0] &&
           a->key[1] == b->key[1];
}

static bool is_collective(const struct esi_activity *open)
{
    const struct es_operation *operation = esi_activity_subject(open);

    return operation && operation->order != ES_ORDER_NONE &&
           open->sequence != ES_SEQUENCE_UNKNOWN && open->has_communicator;
}

/* Whether some thread of `rank` is in this instance or has been. */
static bool has_entered(const struct wait_view *view,
                        const struct esi_activity *open,
                        int rank)
{
    const struct esi_collective_seen *entered =
        esi_collectives_seen_find(&view->entered, open->key, rank);

    return entered && has_reached(entered->sequence, open->sequence);
}

static int wait_for_members(const struct wait_view *view,
                            const struct esi_thread_state *thread,
                            struct esi_wait *wait)
{
    int result = 0;

    wait->reason = ES_REASON_COLLECTIVE;
    wait->state = thread->members ? ES_WAIT_ALL : ES_WAIT_UNKNOWN;
    for (size_t i = 0; i < thread->member_count && result == 0; i++)
        if (thread->members[i] != thread->rank &&
            !has_entered(view, &thread->open, thread->members[i]))
            result = add_target(wait, thread->members[i]);
    if (thread->members && wait->target_count == 0) {
        wait->reason = ES_REASON_ENTERED;
        wait->state = ES_WAIT_UNKNOWN;
    }
    return result;
}

/* Anybody of the communicator but the thread's own rank. */
static int wait_for_anybody(const struct esi_thread_state *thread,
                            struct esi_wait *wait)
{
    int result = 0;

    wait->state = thread->members ? ES_WAIT_ANY : ES_WAIT_UNKNOWN;
    for (size_t i = 0; i < thread->member_count && result == 0; i++)
        if (thread->members[i] != thread->rank)
            result = add_target(wait, thread->members[i]);
    return result;
}

static int wait_for_peer(const struct esi_thread_state *thread, struct esi_wait *wait)
{
    int peer = thread->open.peer;

    if (peer == ES_PEER_ANY)
        return wait_for_anybody(thread, wait);
    wait->state = ES_WAIT_UNKNOWN;
    if (peer < 0)
        return 0;
    wait->state = ES_WAIT_ALL;
    return add_target(wait, peer);
}

static bool is_class(const struct esi_activity *open, enum es_class op_class)
{
    const struct es_operation *operation = esi_activity_subject(open);

    return operation && operation->op_class == op_class;
}

static bool tags_match(int sent, int wanted)
{
    return wanted == ES_TAG_ANY || sent == wanted;
}

/* Whether the other end of this message stands ready: then it is on its way. */
static bool has_counterpart(const struct wait_view *view,
                            const struct esi_thread_state *thread)
{
    const struct esi_activity *open = &thread->open;
    bool sends = is_class(open, ES_CLASS_SEND);

    for (size_t i = 0; i < view->count; i++) {
        const struct esi_thread_state *other = &view->threads[i];
        const struct esi_activity *theirs = &other->open;

        if (!theirs->present || !same_communicator(open, theirs) ||
            other->process != ES_PROCESS_RUNNING ||
            !is_class(theirs, sends ? ES_CLASS_RECEIVE : ES_CLASS_SEND))
            continue;
        if (sends && open->peer == other->rank &&
            (theirs->peer == thread->rank || theirs->peer == ES_PEER_ANY) &&
            tags_match(open->tag, theirs->tag))
            return true;
        if (!sends && theirs->peer == thread->rank &&
            (open->peer == other->rank || open->peer == ES_PEER_ANY) &&
            tags_match(theirs->tag, open->tag))
            return true;
    }
    return false;
}

static int wait_for_message(const struct wait_view *view,
                            const struct esi_thread_state *thread,
                            struct esi_wait *wait)
{
    const struct es_operation *operation = esi_activity_subject(&thread->open);
    int result = wait_for_peer(thread, wait);

    wait->reason =
        operation->op_class == ES_CLASS_SEND ? ES_REASON_SEND : ES_REASON_RECEIVE;
    /* Of a combined send and receive the open tuple tells one half only. */
    if (operation->combined)
        wait->certain = false;
    if (wait->state != ES_WAIT_UNKNOWN && wait->certain &&
        has_counterpart(view, thread)) {
        wait->reason = ES_REASON_TRANSFER;
        wait->state = ES_WAIT_UNKNOWN;
    }
    return result;
}

/* One request: the open tuple tells it, or else no more than its peer. */
static int wait_for_request(const struct wait_view *view,
                            const struct esi_thread_state *thread,
                            struct esi_wait *wait)
{
    const struct esi_activity *open = &thread->open;

    if (is_class(open, ES_CLASS_SEND) || is_class(open, ES_CLASS_RECEIVE))
        return wait_for_message(view, thread, wait);
    /* Of others it is not said that their peer must act.  Who is not known to have
     * entered a collective may have begun it, and be elsewhere since. */
    if (open->awaited)
        wait->certain = false;
    if (is_collective(open))
        return wait_for_members(view, thread, wait);
    wait->reason = ES_REASON_COMPLETION;
    wait->state = ES_WAIT_UNKNOWN;
    if (is_class(open, ES_CLASS_COLLECTIVE) || is_class(open, ES_CLASS_COMMUNICATOR))
        return 0;
    return wait_for_peer(thread, wait);
}

/* Of several requests the open tuple tells one and how many there are. */
static int wait_for_requests(const struct wait_view *view,
                             const struct esi_thread_state *thread,
                             struct esi_wait *wait)
{
    const struct es_operation *operation = es_operation_find(thread->open.operation);
    int result;

    wait->certain = thread->open.bytes <= 1;
    result = wait_for_request(view, thread, wait);
    /* One of several suffices, and of the others nothing is known. */
    if (thread->open.bytes > 1 && operation && operation->any) {
        wait->reason = ES_REASON_COMPLETION;
        wait->state = ES_WAIT_UNKNOWN;
    }
    return result;
}

/* Other calls about requests, MPI_Start and MPI_Cancel, wait for nobody. */
static bool completes_requests(const struct esi_activity *open)
{
    const struct es_operation *operation = es_operation_find(open->operation);

    return operation && operation->waits;
}

/* Probes are of the completion class, but wait for a message as a receive does. */
static bool is_probe(const struct esi_activity *open)
{
    const struct es_operation *operation = es_operation_find(open->operation);

    return operation && operation->probe;
}

static int derive_waits(const struct wait_view *view,
                        const struct esi_thread_state *thread,
                        struct esi_wait *wait)
{
    const struct esi_activity *open = &thread->open;

    wait->certain = true;
    wait->state = ES_WAIT_NOT;
    if (thread->verdict == ES_VERDICT_FINISHED || thread->verdict == ES_VERDICT_DEAD)
        wait->state = ES_WAIT_GONE;
    if (thread->verdict == ES_VERDICT_STALLED && thread->polls_rise)
        wait->state = ES_WAIT_UNKNOWN;
    if (!esi_thread_is_blocked(thread))
        return 0;
    wait->state = ES_WAIT_UNKNOWN;
    if (completes_requests(open))
        return wait_for_requests(view, thread, wait);
    if (open->awaited)
        return 0;
    if (is_collective(open))
        return wait_for_members(view, thread, wait);
    if (is_class(open, ES_CLASS_SEND) || is_class(open, ES_CLASS_RECEIVE) ||
        is_probe(open))
        return wait_for_message(view, thread, wait);
    return 0;
}

/* The instances that are completed, and those under way. */
static int find_entered(struct wait_view *view, const struct esi_collectives_seen *seen)
{
    int result = 0;

    for (size_t i = 0; i < seen->count && result == 0; i++)
        result = esi_collectives_seen_note(&view->entered, &seen->items[i]);
    for (size_t i = 0; i < view->count && result == 0; i++) {
        const struct esi_activity *open = &view->threads[i].open;
        struct esi_collective_seen instance = {.key = {open->key[0], open->key[1]},
                                               .rank = view->threads[i].rank,
                                               .sequence = open->sequence};

        if (open->present && is_collective(open))
            result = esi_collectives_seen_note(&view->entered, &instance);
    }
    return result;
}

int esi_waits_derive(const struct esi_thread_state *threads,
                     size_t count,
                     const struct esi_collectives_seen *seen,
                     struct esi_wait **ret_waits)
{
    struct wait_view view = {.threads = threads, .count = count};
    struct esi_wait *waits = calloc(count + 1, sizeof *waits);
    int result = waits ? find_entered(&view, seen) : -ENOMEM;

    for (size_t i = 0; i < count && result == 0; i++)
        result = derive_waits(&view, &threads[i], &waits[i]);
    esi_collectives_seen_fini(&view.entered);
    if (result < 0) {
        esi_waits_free(waits, count);
        return result;
    }
    *ret_waits = waits;
    return 0;
}

void esi_waits_free(struct esi_wait *waits, size_t count)
{
    if (!waits)
        return;
    for (size_t i = 0; i < count; i++)
        free(waits[i].targets);
    free(waits);
}
