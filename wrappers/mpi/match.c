/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Receives whose message number is not decided when they are posted.
 *
 * The queue contains them in posting order.  A receive has *a channel* when its source
 * and tag are known: from the start, or because its message has arrived.  One without
 * is *open* and blocks later receives whose message it could take.  From the front of
 * the queue, each receive with a channel that matches no earlier open one gets the next
 * number of its channel.
 */
#include "config.h"

#include "wrappers/mpi/match.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

/* Maximum number of completed receives held back; beyond it, the oldest are published
 * without number. */
enum { MAX_HELD = 4096 };

struct esi_receive {
    struct esi_list_link link; /* in the queue */
    /* The previous open receive, while the queue is processed. */
    struct esi_receive *earlier_open;
    int source; /* as posted, then as received */
    int tag;
    uint32_t number;
    bool open;      /* its channel is not known */
    bool decided;   /* it has its number */
    bool completed; /* its tuple is here */
    bool orphan;    /* its outcome will not be known */
    struct es_tuple tuple;
    uint64_t site;
    void *owner;
};

static void match_lock(struct esi_match *match)
{
    unsigned int tries = 0;

    while (esi_multiple &&
           atomic_flag_test_and_set_explicit(&match->lock, memory_order_acquire))
        if (++tries % 1024 == 0) /* its holder may have been preempted */
            sched_yield();
}

static void match_unlock(struct esi_match *match)
{
    if (esi_multiple)
        atomic_flag_clear_explicit(&match->lock, memory_order_release);
}

void esi_match_init(struct esi_match *match, esi_match_publish_fn *publish)
{
    *match = (struct esi_match){.publish = publish, .lock = ATOMIC_FLAG_INIT};
}

static bool match_fits(const struct esi_receive *receive, int source, int tag)
{
    return (receive->source == ES_PEER_ANY || receive->source == source) &&
           (receive->tag == ES_TAG_ANY || receive->tag == tag);
}

/* The first receive of the queue; NULL when it is empty. */
static struct esi_receive *first_of(const struct esi_match *match)
{
    return ESI_LIST_FIRST(struct esi_receive, &match->queue, link);
}

/* The receives posted before and after. */
static struct esi_receive *match_before(const struct esi_receive *receive)
{
    return ESI_LIST_ITEM(struct esi_receive, receive->link.previous, link);
}

static struct esi_receive *match_after(const struct esi_receive *receive)
{
    return ESI_LIST_ITEM(struct esi_receive, receive->link.next, link);
}

static void match_append(struct esi_match *match, struct esi_receive *receive)
{
    esi_list_append(&match->queue, &receive->link);
    atomic_fetch_add_explicit(&match->queued, 1, memory_order_relaxed);
}

static void unlink_receive(struct esi_match *match, struct esi_receive *receive)
{
    esi_list_remove(&match->queue, &receive->link);
    atomic_fetch_sub_explicit(&match->queued, 1, memory_order_relaxed);
}

static struct esi_receive *receive_create(int source, int tag)
{
    struct esi_receive *receive = calloc(1, sizeof *receive);

    if (receive != NULL) {
        receive->source = source;
        receive->tag = tag;
        receive->open = source < 0 || tag < 0;
        receive->number = ES_SEQUENCE_UNKNOWN;
    }
    return receive;
}

/* The receive before `receive` that could take its message. */
static const struct esi_receive *blocker_of(const struct esi_receive *receive)
{
    const struct esi_receive *earlier = match_before(receive);

    while (earlier != NULL &&
           !(earlier->open && match_fits(earlier, receive->source, receive->tag)))
        earlier = match_before(earlier);
    return earlier;
}

static void match_publish(struct esi_match *match, struct esi_receive *receive)
{
    receive->tuple.sequence = receive->number;
    match->publish(receive->owner, &receive->tuple, receive->site);
}

/* The same among the open receives before it, which are listed from `open`, the last
 * first. */
static const struct esi_receive *blocker_among(const struct esi_receive *open,
                                               const struct esi_receive *receive)
{
    while (open != NULL && !match_fits(open, receive->source, receive->tag))
        open = open->earlier_open;
    return open;
}

static void match_decide(struct esi_match *match,
                         struct esi_receive *receive,
                         const struct esi_receive *blocker)
{
    if (blocker != NULL && !blocker->orphan)
        return;
    receive->decided = true;
    if (blocker == NULL)
        receive->number =
            esi_channel_next(&match->channels, receive->source, receive->tag);
}

static void count_held(struct esi_match *match, int change)
{
    match->held += (uint32_t)change;
    if (match->shown != NULL)
        atomic_store_explicit(match->shown, match->held, memory_order_relaxed);
}

/* Frees a receive that is decided and finished, if nobody waits for it. */
static void match_retire(struct esi_match *match, struct esi_receive *receive)
{
    if (receive->completed) {
        match_publish(match, receive);
        count_held(match, -1);
    }
    unlink_receive(match, receive);
    free(receive);
}

/* Decides what can be decided, in posting order, and publishes the tuples that waited
 * for it.  Examines each receive in the queue once, because thousands may wait behind
 * one wildcard. */
static void settle_once(struct esi_match *match)
{
    struct esi_receive *receive = first_of(match);
    struct esi_receive *open = NULL; /* the last open one so far,
                                        linked to earlier ones */

    while (receive != NULL) {
        struct esi_receive *next = match_after(receive);

        receive->earlier_open = open;
        if (!receive->open && !receive->decided)
            match_decide(match, receive, blocker_among(open, receive));
        if (receive->decided && (receive->completed || receive->orphan))
            match_retire(match, receive);
        else if (receive->open)
            open = receive;
        receive = next;
    }
}

/* Stops waiting for the receive that blocks the oldest held-back one, so that the queue
 * remains bounded. */
static void give_up_blocker(struct esi_match *match)
{
    struct esi_receive *receive = first_of(match);

    while (receive != NULL && !receive->completed)
        receive = match_after(receive);
    if (receive == NULL)
        return;
    do
        receive = match_before(receive);
    while (receive != NULL && (!receive->open || receive->orphan));
    if (receive != NULL)
        receive->orphan = true;
}

static void match_settle(struct esi_match *match)
{
    settle_once(match);
    if (match->held > MAX_HELD) {
        give_up_blocker(match);
        settle_once(match);
    }
}

struct esi_receive *esi_match_enqueue(struct esi_match *match,
                                      int source,
                                      int tag,
                                      uint32_t *ret_number)
{
    struct esi_receive *receive = receive_create(source, tag);

    *ret_number = ES_SEQUENCE_UNKNOWN;
    if (receive == NULL)
        return NULL;
    match_lock(match);
    match_append(match, receive);
    if (!receive->open)
        match_decide(match, receive, blocker_of(receive));
    if (receive->decided) {
        /* Equivalent to posting with an empty queue: nothing needs to be remembered. */
        *ret_number = receive->number;
        unlink_receive(match, receive);
        free(receive);
        receive = NULL;
    }
    match_unlock(match);
    return receive;
}

void esi_match_complete(struct esi_match *match,
                        struct esi_receive *receive,
                        int source,
                        int tag,
                        const struct es_tuple *tuple,
                        uint64_t site,
                        void *owner)
{
    match_lock(match);
    receive->tuple = *tuple;
    receive->site = site;
    receive->owner = owner;
    if (receive->open && receive->orphan) {
        match_publish(match, receive); /* it was given up and remains as an orphan */
    } else {
        receive->source = source;
        receive->tag = tag;
        receive->open = false;
        receive->completed = true;
        count_held(match, 1);
        match_settle(match);
    }
    match_unlock(match);
}

void esi_match_drop(struct esi_match *match, struct esi_receive *receive)
{
    match_lock(match);
    if (!receive->orphan) {
        unlink_receive(match, receive);
        free(receive);
        match_settle(match);
    }
    match_unlock(match);
}

void esi_match_abandon(struct esi_match *match, struct esi_receive *receive)
{
    esi_match_untrack(match);
    match_lock(match);
    receive->orphan = true;
    match_settle(match);
    match_unlock(match);
}

uint32_t esi_match_number(const struct esi_receive *receive)
{
    return receive->decided ? receive->number : ES_SEQUENCE_UNKNOWN;
}

void esi_match_doubt(struct esi_match *match, struct esi_receive *receive)
{
    match_lock(match);
    receive->open = true;
    match_unlock(match);
}

/* Inserts the receives at the front: they were posted before everything queued that
 * matches. */
static void match_prepend(struct esi_match *match,
                          struct esi_receive **receives,
                          size_t count)
{
    for (size_t i = count; i > 0; i--) {
        esi_list_prepend(&match->queue, &receives[i - 1]->link);
        atomic_fetch_add_explicit(&match->queued, 1, memory_order_relaxed);
    }
}

/* Creates the receives that are not in the queue yet; all or none. */
static bool fill_receives(struct esi_receive **receives,
                          bool *made,
                          size_t count,
                          int source,
                          int tag)
{
    size_t i = 0;

    for (; i < count; i++) {
        made[i] = receives[i] == NULL;
        if (made[i])
            receives[i] = receive_create(source, tag);
        if (receives[i] == NULL)
            break;
    }
    if (i == count)
        return true;
    for (; i > 0; i--)
        if (made[i - 1]) {
            free(receives[i - 1]);
            receives[i - 1] = NULL;
        }
    return false;
}

/* The next numbers of the channel are not known any more: an orphan that may have taken
 * the last one is inserted before all undecided receives. */
static int forget_numbers(struct esi_match *match,
                          int source,
                          int tag,
                          struct esi_receive **receives,
                          size_t count)
{
    struct esi_receive *orphan = receive_create(source, tag);

    if (orphan == NULL)
        return -ENOMEM;
    orphan->open = true;
    orphan->orphan = true;
    match_prepend(match, &orphan, 1);
    for (size_t i = 1; i < count; i++)
        if (receives[i] != NULL)
            receives[i]->number = ES_SEQUENCE_UNKNOWN;
    return -ESTALE;
}

static void match_requeue(struct esi_match *match,
                          struct esi_receive **receives,
                          const bool *made,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!made[i])
            unlink_receive(match, receives[i]);
        receives[i]->decided = false;
        receives[i]->number = ES_SEQUENCE_UNKNOWN;
    }
    receives[0]->open = true;
    match_prepend(match, receives, count);
}

int esi_match_reopen(struct esi_match *match,
                     int source,
                     int tag,
                     uint32_t number,
                     struct esi_receive **receives,
                     size_t count)
{
    _Atomic uint32_t *counter = esi_channel(&match->channels, source, tag);
    bool *made = calloc(count, sizeof *made);
    int result = -ENOMEM;

    if (made == NULL || counter == NULL)
        goto out;
    match_lock(match);
    if (atomic_load_explicit(counter, memory_order_relaxed) != number + count) {
        result = -EALREADY;
        if (esi_multiple ||
            atomic_load_explicit(&match->untracked, memory_order_relaxed))
            result = forget_numbers(match, source, tag, receives, count);
    } else if (fill_receives(receives, made, count, source, tag)) {
        match_requeue(match, receives, made, count);
        atomic_store_explicit(counter, number, memory_order_relaxed);
        match_settle(match);
        result = 0;
    }
    match_unlock(match);
out:
    free(made);
    return result;
}

static void match_flush(struct esi_match *match)
{
    struct esi_receive *receive = first_of(match);

    while (receive != NULL) {
        struct esi_receive *next = match_after(receive);

        if (receive->completed) {
            match_publish(match, receive);
            count_held(match, -1);
            unlink_receive(match, receive);
            free(receive);
        }
        receive = next;
    }
}

void esi_match_flush(struct esi_match *match)
{
    match_lock(match);
    match_flush(match);
    match_unlock(match);
}

void esi_match_fini(struct esi_match *match)
{
    esi_match_flush(match);
    while (first_of(match) != NULL) {
        struct esi_receive *receive = first_of(match);

        unlink_receive(match, receive);
        free(receive);
    }
    esi_channels_fini(&match->channels);
}
