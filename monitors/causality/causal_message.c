/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Finds the two ends of messages: of those that programs send, and of what joins the
 * epochs of one-sided operations.
 *
 * A message is there from the first of its ends that is read to the last that is given.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/causality/causal_private.h"

/* Channels of which unmatched ends are told apart. */
enum { CHANNELS_MAX = 1024 };

/* --- The table -------------------------------------------------------------------- */

static uint64_t hash_key(const struct esi_message *key)
{
    uint64_t hash = esi_hash_mix(key->kind, (uintptr_t)key->communicator);

    hash = esi_hash_mix(hash, (uint64_t)key->source << 32 | key->destination);
    return esi_hash_mix(hash, (uint64_t)(uint32_t)key->tag << 32 | key->sequence);
}

static bool same_key(const struct esi_message *a, const struct esi_message *b)
{
    return a->communicator == b->communicator && a->source == b->source &&
           a->destination == b->destination && a->tag == b->tag &&
           a->sequence == b->sequence && a->kind == b->kind;
}

static struct esi_message *find_hashed(const struct esi_causality *causality,
                                       const struct esi_message *key,
                                       uint64_t hash)
{
    struct esi_link *link = esi_table_chain(&causality->message_table, hash);

    for (; link; link = link->next)
        if (link->hash == hash && same_key((struct esi_message *)link, key))
            return (struct esi_message *)link;
    return NULL;
}

/* NULL when neither end has been read. */
static struct esi_message *find_message(const struct esi_causality *causality,
                                        const struct esi_message *key)
{
    return find_hashed(causality, key, hash_key(key));
}

static bool is_channel(const struct esi_channel *channel,
                       const struct esi_message *message)
{
    return channel->communicator == message->communicator &&
           channel->source == message->source &&
           channel->destination == message->destination && channel->tag == message->tag;
}

/* Hash of the channel, whatever the message's number. */
static uint64_t hash_channel(const struct esi_message *message)
{
    struct esi_message key = *message;

    key.sequence = 0;
    return hash_key(&key);
}

static struct esi_channel *find_channel(const struct esi_causal_table *table,
                                        const struct esi_message *message)
{
    uint64_t hash = hash_channel(message);
    struct esi_link *link = esi_table_chain(table, hash);

    for (; link; link = link->next)
        if (link->hash == hash && is_channel((struct esi_channel *)link, message))
            return (struct esi_channel *)link;
    return NULL;
}

/* Finds or makes; NULL without memory. */
static struct esi_message *match_ends(struct esi_causality *causality,
                                      const struct esi_message *key)
{
    uint64_t hash = hash_key(key);
    struct esi_message *message = find_hashed(causality, key, hash);

    if (message)
        return message;
    message = esi_pool_take(&causality->messages);
    if (!message)
        return NULL;
    *message = *key;
    esi_table_insert(&causality->message_table, &message->link, hash);
    return message;
}

static void expire_ends(struct esi_causality *causality, struct esi_message *message)
{
    esi_table_remove(&causality->message_table, &message->link);
    esi_pool_give(&causality->messages, message);
}

/* --- Sends that nobody has received yet ------------------------------------------- */

static void stop_aging(struct esi_causality *causality, struct esi_message *message)
{
    if (!message->aging)
        return;
    message->aging = false;
    causality->aging_sends--;
    if (message->older)
        message->older->newer = message->newer;
    else
        causality->oldest_send = message->newer;
    if (message->newer)
        message->newer->older = message->older;
    else
        causality->newest_send = message->older;
}

/* Finds or makes; NULL without memory, or where there are `max`. */
static struct esi_channel *meet_channel(struct esi_causal_table *table,
                                        const struct esi_message *message,
                                        size_t max)
{
    struct esi_channel *channel = find_channel(table, message);

    if (channel || table->count >= max)
        return channel;
    channel = calloc(1, sizeof *channel);
    if (!channel)
        return NULL;
    channel->communicator = message->communicator;
    channel->source = message->source;
    channel->destination = message->destination;
    channel->tag = message->tag;
    esi_table_insert(table, &channel->link, hash_channel(message));
    return channel;
}

static void count_channel(struct esi_causality *causality,
                          const struct esi_message *message,
                          bool is_send)
{
    struct esi_channel *channel =
        message->kind == ESI_MESSAGE
            ? meet_channel(&causality->channels, message, CHANNELS_MAX)
            : NULL;

    if (channel && is_send)
        channel->sends++;
    else if (channel)
        channel->receives++;
}

static void count_unmatched_send(struct esi_causality *causality,
                                 const struct esi_message *message)
{
    causality->totals.unmatched_sends++;
    count_channel(causality, message, true);
}

static void give_up_oldest(struct esi_causality *causality)
{
    struct esi_message *message = causality->oldest_send;

    stop_aging(causality, message);
    count_unmatched_send(causality, message);
    expire_ends(causality, message);
}

static void begin_aging(struct esi_causality *causality, struct esi_message *message)
{
    message->aging = true;
    message->newer = NULL;
    message->older = causality->newest_send;
    if (message->older)
        message->older->newer = message;
    else
        causality->oldest_send = message;
    causality->newest_send = message;
    if (++causality->aging_sends > causality->config.held_max)
        give_up_oldest(causality);
}

void esi_message_finish(struct esi_causality *causality)
{
    while (causality->oldest_send)
        give_up_oldest(causality);
}

/* --- Reading ---------------------------------------------------------------------- */

int esi_message_add_send(struct esi_causality *causality,
                         struct esi_item *item,
                         const struct esi_message *key)
{
    struct esi_message *message = match_ends(causality, key);

    if (!message)
        return -ENOMEM;
    if (message->send != ESI_END_UNSEEN)
        return 0; /* two of one number: there is no telling */
    message->send = ESI_END_READ;
    message->sender = item->element->thread;
    message->next_send = item->sends;
    item->sends = message;
    if (message->receive == ESI_END_READ)
        esi_thread_make_runnable(causality, message->receiver);
    return 0;
}

int esi_message_add_receive(struct esi_causality *causality,
                            struct esi_item *item,
                            const struct esi_message *key,
                            bool blocking)
{
    struct esi_message *message = match_ends(causality, key);

    if (!message)
        return -ENOMEM;
    if (message->receive != ESI_END_UNSEEN)
        return 0;
    message->receive = ESI_END_READ;
    message->blocking = blocking;
    message->receiver = item->element->thread;
    message->next_receive = item->receives;
    item->receives = message;
    stop_aging(causality, message);
    if (message->send == ESI_END_READ)
        esi_thread_make_runnable(causality, message->sender);
    return 0;
}

/* --- Giving ----------------------------------------------------------------------- */

/* The send has its place in the stream. */
static void settle_send(struct esi_causality *causality,
                        struct esi_message *message,
                        const struct es_event_id *id)
{
    message->send = ESI_END_GIVEN;
    message->sender = NULL;
    message->id = *id;
    if (message->receive == ESI_END_GIVEN) { /* it did not wait */
        count_unmatched_send(causality, message);
        expire_ends(causality, message);
    } else if (message->receive == ESI_END_READ) {
        esi_thread_make_runnable(causality, message->receiver);
    } else {
        begin_aging(causality, message);
    }
}

int esi_message_add_given(struct esi_causality *causality,
                          const struct es_event_id *id,
                          const struct esi_message *key)
{
    struct esi_message *message = match_ends(causality, key);

    if (!message)
        return -ENOMEM;
    if (message->send == ESI_END_UNSEEN)
        settle_send(causality, message, id);
    return 0;
}

/* The event that is next in a thread. */
static const struct esi_placed *head_of(const struct esi_causal_thread *thread)
{
    return thread->head < thread->released ? &thread->events[thread->head] : NULL;
}

static bool receiver_has_passed(const struct esi_causality *causality,
                                const struct esi_message *message,
                                uint64_t ns)
{
    return esi_member_has_passed(causality, message->communicator, message->destination,
                                 ns);
}

/* Whether the next event of `thread` is that end of the message. */
static bool is_next(const struct esi_causal_thread *thread,
                    const struct esi_message *message,
                    bool is_send)
{
    const struct esi_placed *head = head_of(thread);

    if (!head)
        return false;
    return is_send ? head->role == ESI_ROLE_SEND && head->item->sends == message
                   : head->role == ESI_ROLE_RECEIVE && head->item->receives == message;
}

static bool may_be_sync(const struct esi_item *send, const struct esi_message *message)
{
    return send->synchronous && message && !message->next_send &&
           message->kind == ESI_MESSAGE && message->source != message->destination;
}

/* Ends a message both halves of which are given as one. */
static int give_sync(struct esi_causality *causality,
                     struct esi_message *message,
                     struct esi_causal_thread *sender,
                     struct esi_causal_thread *receiver)
{
    const struct esi_placed send = *head_of(sender);
    const struct esi_placed receive = *head_of(receiver);
    int result;

    causality->totals.messages++;
    causality->totals.syncs++;
    send.item->sends = NULL;
    receive.item->receives = NULL;
    expire_ends(causality, message);
    esi_thread_make_runnable(causality, receiver);
    result = esi_event_give_sync(causality, &send, &receive);
    if (result >= 0)
        esi_thread_pop(causality, receiver);
    return result;
}

/* A synchronous send and a receive that both block are one event: neither call ends
 * before the other has begun, and nothing else happens in between.  Until the receive
 * is known the send waits, as long as it may still be such a one. */
static int give_synchronous(struct esi_causality *causality,
                            const struct esi_placed *placed,
                            bool *ret_done)
{
    struct esi_item *item = placed->item;
    struct esi_message *message = item->sends;
    struct esi_causal_thread *thread = item->element->thread;
    struct esi_causal_thread *receiver = message->receiver;
    int result;

    *ret_done = true;
    if (thread->forced || message->receive == ESI_END_GIVEN)
        *ret_done = false;
    else if (message->receive == ESI_END_UNSEEN)
        *ret_done = !receiver_has_passed(causality, message, item->told.stop_ns);
    else if (!message->blocking || !receiver)
        *ret_done = false;
    if (!*ret_done || message->receive == ESI_END_UNSEEN ||
        !is_next(receiver, message, false))
        return ESI_WAITS;
    result = give_sync(causality, message, thread, receiver);
    return result < 0 ? result : ESI_WAS_GIVEN;
}

int esi_message_give_send(struct esi_causality *causality,
                          const struct esi_placed *placed)
{
    struct esi_item *item = placed->item;
    struct es_event_id id;
    bool done = false;
    int result;

    if (may_be_sync(item, item->sends)) {
        result = give_synchronous(causality, placed, &done);
        if (done)
            return result;
        item->synchronous = false;
    }
    result = esi_event_give(causality, placed, ES_EVENT_SEND, 0, &id);
    if (result < 0)
        return result;
    for (struct esi_message *message = item->sends, *next; message; message = next) {
        next = message->next_send;
        settle_send(causality, message, &id);
    }
    item->sends = NULL;
    if (item->action == ESI_WIN_POST)
        esi_onesided_note_given(item, &id);
    return ESI_WAS_GIVEN;
}

/* Whether a receive has still to wait for this message's send. */
static bool is_awaited(const struct esi_causality *causality,
                       const struct esi_message *message,
                       const struct esi_item *item)
{
    if (message->send == ESI_END_GIVEN || item->element->thread->forced)
        return false;
    if (message->send == ESI_END_READ)
        return true;
    return !esi_member_has_passed(causality, message->communicator, message->source,
                                  item->told.stop_ns);
}

static void settle_receive(struct esi_causality *causality, struct esi_message *message)
{
    if (message->send == ESI_END_GIVEN) {
        if (message->kind == ESI_MESSAGE)
            causality->totals.messages++;
        else
            causality->totals.epochs++;
        expire_ends(causality, message);
        return;
    }
    causality->totals.unmatched_receives++;
    count_channel(causality, message, false);
    if (message->send == ESI_END_UNSEEN) {
        expire_ends(causality, message);
        return;
    }
    message->receive = ESI_END_GIVEN;
    message->receiver = NULL;
    esi_thread_make_runnable(causality, message->sender);
}

/* A synchronous send waits for its receive to be next, too. */
static bool is_sync_waiting(const struct esi_message *message)
{
    return message->send == ESI_END_READ && message->blocking && message->sender &&
           is_next(message->sender, message, true) &&
           may_be_sync(head_of(message->sender)->item, message);
}

/* Collects the sends that are named. */
static int collect_ends(struct esi_causality *causality,
                        const struct esi_message *message,
                        size_t *ret_count)
{
    *ret_count = 0;
    for (; message; message = message->next_receive) {
        if (message->send != ESI_END_GIVEN)
            continue;
        if (esi_event_reserve(causality, *ret_count + 1) < 0)
            return -ENOMEM;
        causality->partners[(*ret_count)++] = message->id;
    }
    return 0;
}

int esi_message_give_receive(struct esi_causality *causality,
                             const struct esi_placed *placed)
{
    struct esi_item *item = placed->item;
    struct esi_message *message = item->receives;
    struct es_event_id id;
    size_t count;
    int result;

    for (; message; message = message->next_receive) {
        if (!is_awaited(causality, message, item))
            continue;
        if (is_sync_waiting(message))
            esi_thread_make_runnable(causality, message->sender);
        return ESI_WAITS;
    }
    if (collect_ends(causality, item->receives, &count) < 0)
        return -ENOMEM;
    result = esi_event_give(causality, placed, ES_EVENT_RECEIVE, count, &id);
    if (result < 0)
        return result;
    for (struct esi_message *next; item->receives; item->receives = next) {
        next = item->receives->next_receive;
        settle_receive(causality, item->receives);
    }
    return ESI_WAS_GIVEN;
}

/* --- Channels --------------------------------------------------------------------- */

/* --- Cancelled sends -------------------------------------------------------------- */

/* The send's item, which waits in its thread. */
static struct esi_item *find_sender(const struct esi_message *message)
{
    const struct esi_causal_thread *thread = message->sender;

    for (size_t i = thread->head; i < thread->tail; i++) {
        const struct esi_placed *placed = &thread->events[i];

        if (placed->role == ESI_ROLE_SEND && placed->item->sends == message)
            return placed->item;
    }
    return NULL;
}

/* Takes the message from its send, if that began before `ticks`: who receives a message
 * of this number received another one. */
static void disown_sends(struct esi_causality *causality,
                         struct esi_message *message,
                         uint64_t ticks)
{
    struct esi_item *item = NULL;

    if (message->send == ESI_END_UNSEEN)
        return;
    if (message->send == ESI_END_READ) {
        item = find_sender(message);
        if (!item || item->told.tuple.start >= ticks)
            return;
        item->sends = NULL;
        esi_thread_make_runnable(causality, message->sender);
    }
    stop_aging(causality, message);
    causality->totals.unnumbered++;
    message->send = ESI_END_UNSEEN;
    message->sender = NULL;
    if (message->receive == ESI_END_READ)
        esi_thread_make_runnable(causality, message->receiver);
    else
        expire_ends(causality, message);
}

/* By number, or, where these are more than there are messages, all that there are. */
static void disown_from(struct esi_causality *causality,
                        const struct esi_message *key,
                        uint32_t count,
                        uint64_t ticks)
{
    const struct esi_causal_table *table = &causality->message_table;
    struct esi_message wanted = *key;

    if (count <= table->count) {
        for (uint32_t i = 0; i < count; i++, wanted.sequence++) {
            struct esi_message *message = find_message(causality, &wanted);

            if (message)
                disown_sends(causality, message, ticks);
        }
        return;
    }
    for (size_t i = 0; i <= table->mask; i++)
        for (struct esi_link *link = table->heads[i], *next; link; link = next) {
            struct esi_message *message = (struct esi_message *)link;

            next = link->next;
            wanted.sequence = message->sequence;
            if (message->sequence >= key->sequence && same_key(message, &wanted))
                disown_sends(causality, message, ticks);
        }
}

int esi_message_doubt(struct esi_causality *causality,
                      const struct esi_message *key,
                      uint32_t count,
                      uint64_t ticks)
{
    struct esi_channel *channel = meet_channel(&causality->doubts, key, SIZE_MAX);

    if (!channel)
        return -ENOMEM;
    if (channel->doubtful_till == 0 || key->sequence < channel->doubtful)
        channel->doubtful = key->sequence;
    if (ticks > channel->doubtful_till)
        channel->doubtful_till = ticks;
    disown_from(causality, key, count, ticks);
    return 0;
}

bool esi_message_is_doubtful(const struct esi_causality *causality,
                             const struct esi_message *key,
                             uint64_t ticks)
{
    const struct esi_channel *channel = find_channel(&causality->doubts, key);

    return channel && key->sequence >= channel->doubtful &&
           ticks < channel->doubtful_till;
}

void esi_causality_foreach_unmatched(
    const struct esi_causality *causality,
    void (*visit)(void *data, const struct esi_causal_channel *channel),
    void *data)
{
    const struct esi_causal_table *table = &causality->channels;

    for (size_t i = 0; i <= table->mask; i++)
        for (struct esi_link *link = table->heads[i]; link; link = link->next) {
            const struct esi_channel *channel = (const struct esi_channel *)link;
            struct esi_causal_channel told = {
                .communicator = channel->communicator->name,
                .source = esi_member_rank(channel->communicator, channel->source),
                .destination =
                    esi_member_rank(channel->communicator, channel->destination),
                .tag = channel->tag,
                .sends = channel->sends,
                .receives = channel->receives,
            };

            visit(data, &told);
        }
}
