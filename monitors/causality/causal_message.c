/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_message.c - messages, and channels with unmatched or unreliable ends, as
 * records in tables of ends. */
#include "config.h"

#include "monitors/causality/causal_message.h"

#include <errno.h>

#include "tuplespace/operation_codes.h"

/* Maximum number of channels for which unmatched ends are counted separately. */
enum { CHANNELS_MAX = 1024 };

enum esi_end_state {
    END_UNSEEN,
    END_READ,  /* its tuple was read, its event waits */
    END_GIVEN, /* its event was emitted */
};

struct esi_message {
    struct esi_end end;
    struct esi_causal_thread *sender;   /* if the send was read */
    struct esi_emitted sent;            /* if it was emitted */
    struct esi_causal_thread *receiver; /* if the receive was read */
    struct esi_message *next_send;      /* in the lists of their items */
    struct esi_message *next_receive;
    uint8_t send; /* enum esi_end_state, like `receive` */
    uint8_t receive;
    bool blocking; /* the receive is a blocking call */
};

/* Data about a channel: numbers of unmatched ends, or unreliable message numbers. */
struct esi_channel {
    struct esi_end end;
    uint64_t sends;
    uint64_t receives;
    uint32_t doubtful;      /* the first unreliable number, */
    uint64_t doubtful_till; /* for sends that began before this tick of the sender */
};

enum esi_message_kind esi_message_kind_of(const struct es_operation *operation)
{
    switch (operation->code) {
    case ES_OP_tree_contribute:
    case ES_OP_tree_arrival_up:
    case ES_OP_tree_departure_up:
        return ESI_EDGE_UP;
    case ES_OP_tree_arrival_down:
    case ES_OP_tree_departure_down:
        return ESI_EDGE_DOWN;
    default:
        return ESI_MESSAGE;
    }
}

bool esi_channel_key(const struct esi_run_member *member,
                     int32_t peer,
                     bool sends,
                     struct esi_ends_key *ret_key)
{
    int32_t other = (int32_t)esi_run_peer_slot(member, peer);
    int32_t own = (int32_t)member->slot;

    *ret_key = (struct esi_ends_key){
        .communicator = {member->communicator->number},
        .source = sends ? own : other,
        .destination = sends ? other : own,
    };
    return other >= 0 && own >= 0;
}

/* The communicator of such a key. */
static const struct esi_run_communicator *communicator_of(
    const struct esi_messages *messages,
    const struct esi_ends_key *key)
{
    return messages->matching->run->communicators[key->communicator[0]];
}

void esi_messages_init(struct esi_messages *messages,
                       struct esi_matching *matching,
                       size_t max)
{
    messages->matching = matching;
    esi_ends_init(&messages->ends, sizeof(struct esi_message), max);
    esi_ends_init(&messages->channels, sizeof(struct esi_channel), 0);
    esi_ends_init(&messages->doubts, sizeof(struct esi_channel), 0);
}

void esi_messages_fini(struct esi_messages *messages)
{
    esi_ends_fini(&messages->ends);
    esi_ends_fini(&messages->channels);
    esi_ends_fini(&messages->doubts);
}

/* Finds or creates a message; NULL if there is no memory. */
static struct esi_message *meet_message(struct esi_messages *messages,
                                        const struct esi_ends_key *key)
{
    struct esi_message *message = esi_ends_find(&messages->ends, key);

    return message ? message : esi_ends_add(&messages->ends, key);
}

/* END_UNSEEN marks an unused record for disown_from(). */
static void forget_message(struct esi_messages *messages, struct esi_message *message)
{
    message->send = END_UNSEEN;
    esi_ends_forget(&messages->ends, &message->end);
}

static void wake_sender(struct esi_messages *messages,
                        const struct esi_message *message)
{
    if (message->send == END_READ)
        esi_thread_make_runnable(messages->matching, message->sender);
}

static void wake_receiver(struct esi_messages *messages, struct esi_message *message)
{
    if (message->receive == END_READ)
        esi_thread_make_runnable(messages->matching, message->receiver);
}

/* Returns whether the member at the other end of the message would have been read. */
static bool has_passed(const struct esi_messages *messages,
                       const struct esi_message *message,
                       int32_t slot,
                       uint64_t ns)
{
    return esi_thread_has_passed(messages->matching,
                                 communicator_of(messages, &message->end.key),
                                 (uint32_t)slot, ns);
}

/* --- Unmatched ends --------------------------------------------------------------- */

/* Returns the key of a message's channel: the message's key without its number. */
static struct esi_ends_key channel_of(const struct esi_ends_key *message)
{
    struct esi_ends_key key = *message;

    key.sequence = 0;
    return key;
}

/* Finds or creates a channel; NULL if there is no memory, or if there are `max`
 * channels. */
static struct esi_channel *meet_channel(struct esi_ends *channels,
                                        const struct esi_ends_key *message,
                                        size_t max)
{
    struct esi_ends_key key = channel_of(message);
    struct esi_channel *channel = esi_ends_find(channels, &key);

    return channel || channels->table.count >= max ? channel
                                                   : esi_ends_add(channels, &key);
}

static struct esi_channel *unmatched_channel(struct esi_messages *messages,
                                             const struct esi_message *message)
{
    return message->end.key.kind == ESI_MESSAGE
               ? meet_channel(&messages->channels, &message->end.key, CHANNELS_MAX)
               : NULL;
}

static void give_up_send(struct esi_messages *messages, struct esi_message *message)
{
    struct esi_channel *channel = unmatched_channel(messages, message);

    messages->matching->totals.unmatched_sends++;
    if (channel)
        channel->sends++;
    forget_message(messages, message);
}

static void give_up_receive(struct esi_messages *messages,
                            const struct esi_message *message)
{
    struct esi_channel *channel = unmatched_channel(messages, message);

    messages->matching->totals.unmatched_receives++;
    if (channel)
        channel->receives++;
}

void esi_messages_finish(struct esi_messages *messages)
{
    struct esi_message *oldest;

    while ((oldest = esi_ends_oldest(&messages->ends)) != NULL)
        give_up_send(messages, oldest);
}

void esi_messages_foreach_unmatched(
    const struct esi_messages *messages,
    void (*visit)(void *data, const struct esi_causal_channel *channel),
    void *data)
{
    const struct esi_pool *channels = &messages->channels.records;

    for (size_t i = 0; i < channels->made; i++) {
        const struct esi_channel *channel = esi_pool_at(channels, i);
        const struct esi_ends_key *key = &channel->end.key;
        const struct esi_run_communicator *communicator =
            communicator_of(messages, key);
        struct esi_causal_channel told = {
            .communicator = communicator->name,
            .source = esi_run_slot_rank(communicator, (uint32_t)key->source),
            .destination = esi_run_slot_rank(communicator, (uint32_t)key->destination),
            .tag = key->tag,
            .sends = channel->sends,
            .receives = channel->receives,
        };

        visit(data, &told);
    }
}

/* --- Reading ---------------------------------------------------------------------- */

int esi_message_add_send(struct esi_messages *messages,
                         struct esi_item *item,
                         const struct esi_ends_key *key)
{
    struct esi_message *message = meet_message(messages, key);

    if (!message)
        return -ENOMEM;
    if (message->send != END_UNSEEN)
        return 0; /* two sends with one number are ambiguous */
    message->send = END_READ;
    message->sender = item->element->thread;
    message->next_send = item->sends;
    item->sends = message;
    wake_receiver(messages, message);
    return 0;
}

int esi_message_add_receive(struct esi_messages *messages,
                            struct esi_item *item,
                            const struct esi_ends_key *key,
                            bool blocking)
{
    struct esi_message *message = meet_message(messages, key);

    if (!message)
        return -ENOMEM;
    if (message->receive != END_UNSEEN)
        return 0;
    message->receive = END_READ;
    message->blocking = blocking;
    message->receiver = item->element->thread;
    message->next_receive = item->receives;
    item->receives = message;
    esi_ends_wait(&messages->ends, &message->end, 0);
    wake_sender(messages, message);
    return 0;
}

/* --- Emitting --------------------------------------------------------------------- */

/* Whether another call completes the send.  Without a listener, nobody asks. */
static bool is_posted(const struct esi_edge *send)
{
    return send->operation && send->operation->posts;
}

/* Called when the send has been emitted. */
static void settle_send(struct esi_messages *messages,
                        struct esi_message *message,
                        const struct esi_emitted *sent)
{
    struct esi_ends *ends = &messages->ends;

    message->send = END_GIVEN;
    message->sent = *sent;
    wake_receiver(messages, message);
    if (message->receive == END_GIVEN) { /* the receive did not wait */
        give_up_send(messages, message);
    } else if (message->receive == END_UNSEEN) {
        esi_ends_wait(ends, &message->end, 1);
        message = esi_ends_excess(ends);
        if (message)
            give_up_send(messages, message);
    }
}

int esi_message_add_given(struct esi_messages *messages,
                          const struct esi_emitted *sent,
                          const struct esi_ends_key *key)
{
    struct esi_message *message = meet_message(messages, key);

    if (!message)
        return -ENOMEM;
    if (message->send == END_UNSEEN)
        settle_send(messages, message, sent);
    return 0;
}

/* Returns whether the send of the message is the next event of its thread. */
static bool is_send_next(const struct esi_message *message)
{
    const struct esi_placed *next = esi_thread_next(message->sender);

    return next && next->role == ESI_ROLE_SEND && next->item->sends == message;
}

static bool is_receive_next(const struct esi_message *message)
{
    const struct esi_placed *next = esi_thread_next(message->receiver);

    return next && next->role == ESI_ROLE_RECEIVE && next->item->receives == message;
}

static bool may_be_sync(const struct esi_item *send, const struct esi_message *message)
{
    return send->synchronous && message && !message->next_send &&
           message->end.key.kind == ESI_MESSAGE &&
           message->end.key.source != message->end.key.destination;
}

/* A blocking synchronous send and a blocking receive are one event: neither call ends
 * before the other has begun, and nothing else happens in between in their threads.
 * While the receive is not known, the send waits as long as it may still be part of a
 * sync. */
static bool is_sync(const struct esi_messages *messages, const struct esi_item *send)
{
    const struct esi_message *message = send->sends;

    if (!may_be_sync(send, message) || send->element->thread->forced ||
        message->receive == END_GIVEN)
        return false;
    if (message->receive == END_UNSEEN)
        return !has_passed(messages, message, message->end.key.destination,
                           send->told.stop_ns);
    return message->blocking;
}

enum esi_outcome esi_message_await_receive(struct esi_messages *messages,
                                           struct esi_item *send,
                                           struct esi_causal_thread **ret_receiver)
{
    const struct esi_message *message = send->sends;

    *ret_receiver = NULL;
    if (!is_sync(messages, send)) {
        send->synchronous = false;
        return ESI_READY;
    }
    if (message->receive == END_UNSEEN || !is_receive_next(message))
        return ESI_WAITS;
    *ret_receiver = message->receiver;
    return ESI_READY;
}

void esi_message_synchronize(struct esi_messages *messages,
                             struct esi_item *send,
                             struct esi_item *receive)
{
    messages->matching->totals.messages++;
    messages->matching->totals.syncs++;
    forget_message(messages, send->sends);
    send->sends = NULL;
    receive->receives = NULL;
}

void esi_message_sent(struct esi_messages *messages,
                      struct esi_item *send,
                      const struct esi_emitted *sent)
{
    const struct esi_causal_thread *thread = send->element->thread;

    if (is_posted(&sent->edge) && thread->posted_end > thread->posted_first &&
        thread->posted[thread->posted_end - 1].as.index == sent->id.index)
        thread->posted[thread->posted_end - 1].message = send->sends;
    for (struct esi_message *next; send->sends; send->sends = next) {
        next = send->sends->next_send;
        settle_send(messages, send->sends, sent);
    }
}

/* Returns whether a receive must still wait for this message's send. */
static bool is_awaited(const struct esi_messages *messages,
                       const struct esi_message *message,
                       const struct esi_item *item)
{
    if (message->send == END_GIVEN || item->element->thread->forced)
        return false;
    return message->send == END_READ ||
           !has_passed(messages, message, message->end.key.source, item->told.stop_ns);
}

/* The open request of the send learns of its receive, unless it waits for nobody. */
static void tell_sender(const struct esi_message *message,
                        const struct esi_edge *received)
{
    const struct esi_emitted *sent = &message->sent;
    struct esi_posted *posted =
        is_posted(&sent->edge) && !sent->edge.operation->buffered
            ? esi_thread_find_posted(message->sender, sent->id.index)
            : NULL;

    if (posted)
        posted->as.latest = *received;
}

static void settle_receive(struct esi_messages *messages,
                           struct esi_message *message,
                           const struct esi_edge *received)
{
    if (message->send == END_GIVEN) {
        tell_sender(message, received);
        if (message->end.key.kind < ESI_EPOCH_POST)
            messages->matching->totals.messages++;
        else
            messages->matching->totals.epochs++;
        forget_message(messages, message);
        return;
    }
    give_up_receive(messages, message);
    message->receive = END_GIVEN;
    wake_sender(messages, message);
    if (message->send == END_UNSEEN)
        forget_message(messages, message);
}

/* A synchronous send also waits until its receive is next. */
static bool is_sync_waiting(const struct esi_message *message)
{
    return message->send == END_READ && message->blocking && is_send_next(message) &&
           may_be_sync(esi_thread_next(message->sender)->item, message);
}

int esi_message_await_sends(struct esi_messages *messages,
                            const struct esi_item *receive)
{
    struct esi_partners *partners = &messages->matching->partners;
    const struct esi_message *message = receive->receives;
    int result = 0;

    partners->count = 0;
    for (; message; message = message->next_receive) {
        if (!is_awaited(messages, message, receive))
            continue;
        if (is_sync_waiting(message))
            wake_sender(messages, message);
        return ESI_WAITS;
    }
    for (message = receive->receives; message && result == 0;
         message = message->next_receive)
        if (message->send == END_GIVEN)
            result = esi_partners_add(partners, message->sent.id, &message->sent.edge);
    return result < 0 ? result : ESI_READY;
}

void esi_message_received(struct esi_messages *messages,
                          struct esi_item *receive,
                          const struct esi_emitted *received)
{
    for (struct esi_message *next; receive->receives; receive->receives = next) {
        next = receive->receives->next_receive;
        settle_receive(messages, receive->receives, &received->edge);
    }
}

void esi_message_completed(struct esi_message *message,
                           const struct es_event_id *send,
                           uint64_t call)
{
    if (message->send == END_GIVEN && message->sent.id.trace == send->trace &&
        message->sent.id.index == send->index)
        message->sent.edge.done = call;
}

/* --- Cancelled sends -------------------------------------------------------------- */

/* Returns the item of a send that waits in its thread. */
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

/* Detaches the message from its send if that began before `ticks`: then the message
 * received with this number is a different one. */
static void disown_send(struct esi_messages *messages,
                        struct esi_message *message,
                        uint64_t ticks)
{
    struct esi_item *item = NULL;

    if (message->send == END_UNSEEN)
        return;
    if (message->send == END_READ) {
        item = find_sender(message);
        if (!item || item->told.tuple.start >= ticks)
            return;
        item->sends = NULL;
        wake_sender(messages, message);
    }
    messages->matching->totals.unnumbered++;
    message->send = END_UNSEEN;
    wake_receiver(messages, message);
    if (message->receive != END_READ)
        forget_message(messages, message);
}

/* Searches by number, or, if there are more numbers than messages, all messages. */
static void disown_from(struct esi_messages *messages,
                        const struct esi_ends_key *key,
                        uint32_t count,
                        uint64_t ticks)
{
    struct esi_ends *ends = &messages->ends;
    struct esi_ends_key wanted = *key;
    struct esi_message *message;

    if (count <= ends->table.count) {
        for (uint32_t i = 0; i < count; i++, wanted.sequence++) {
            message = esi_ends_find(ends, &wanted);
            if (message)
                disown_send(messages, message, ticks);
        }
        return;
    }
    for (size_t i = 0; i < ends->records.made; i++) {
        message = esi_pool_at(&ends->records, i);
        wanted.sequence = message->end.key.sequence;
        if (wanted.sequence >= key->sequence &&
            esi_ends_is_same(&message->end.key, &wanted))
            disown_send(messages, message, ticks);
    }
}

int esi_message_doubt(struct esi_messages *messages,
                      const struct esi_ends_key *key,
                      uint32_t count,
                      uint64_t ticks)
{
    struct esi_channel *channel = meet_channel(&messages->doubts, key, SIZE_MAX);

    if (!channel)
        return -ENOMEM;
    if (channel->doubtful_till == 0 || key->sequence < channel->doubtful)
        channel->doubtful = key->sequence;
    if (ticks > channel->doubtful_till)
        channel->doubtful_till = ticks;
    disown_from(messages, key, count, ticks);
    return 0;
}

bool esi_message_is_doubtful(const struct esi_messages *messages,
                             const struct esi_ends_key *key,
                             uint64_t ticks)
{
    struct esi_ends_key any = channel_of(key);
    const struct esi_channel *channel = esi_ends_find(&messages->doubts, &any);

    return channel && key->sequence >= channel->doubtful &&
           ticks < channel->doubtful_till;
}
