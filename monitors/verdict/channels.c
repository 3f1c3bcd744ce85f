/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* channels.c - combines what both ends of each channel know. */
#include "config.h"

#include "monitors/verdict/channels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "eventspace/tuple.h"

static uint64_t hash_message(const struct esi_channel_message *message)
{
    uint64_t hash = esi_hash_mix(message->group, (uint64_t)(uint32_t)message->source);

    return esi_hash_mix(hash, (uint64_t)(uint32_t)message->destination << 32 |
                                  (uint32_t)message->tag);
}

static struct esi_channel_state *find_channel(const struct esi_channels_table *channels,
                                              const struct esi_channel_message *message,
                                              uint64_t hash)
{
    ESI_HASH_FOREACH(slot, &channels->numbers, hash) {
        struct esi_channel_state *channel =
            &channels->items[esi_hash_index(&channels->numbers, slot)];

        if (channel->group == message->group && channel->source == message->source &&
            channel->destination == message->destination &&
            channel->tag == message->tag)
            return channel;
    }
    return NULL;
}

const struct esi_channel_state *esi_channels_find(
    const struct esi_channels_table *channels,
    const struct esi_channel_message *message)
{
    return find_channel(channels, message, hash_message(message));
}

/* NULL if out of memory. */
static struct esi_channel_state *make_channel(struct esi_channels_table *channels,
                                              const struct esi_channel_message *message)
{
    uint64_t hash = hash_message(message);
    struct esi_channel_state *channel = find_channel(channels, message, hash);

    if (channel)
        return channel;
    if (ESI_ARRAY_RESERVE(channels->items, channels->capacity, channels->count + 1) <
            0 ||
        esi_hash_reserve(&channels->numbers, channels->count + 1) < 0)
        return NULL;
    esi_hash_insert(&channels->numbers, hash, channels->count);
    channel = &channels->items[channels->count++];
    *channel = (struct esi_channel_state){.group = message->group,
                                          .source = message->source,
                                          .destination = message->destination,
                                          .tag = message->tag,
                                          .next = ESI_CHANNEL_NONE};
    return channel;
}

int esi_fact_world_rank(const struct esi_fact_process *process,
                        uint16_t communicator,
                        int peer)
{
    const struct esi_run_member *member = esi_fact_member(process, communicator);
    int rank = member ? esi_run_peer_rank(member, peer) : -1;

    if (peer == ES_PEER_NONE || peer == ES_PEER_ANY)
        return peer;
    return rank < 0 ? ES_PEER_UNKNOWN : rank;
}

/* --- Ledgers --------------------------------------------------------------------- */

static int read_channel(struct esi_channels_table *channels,
                        const struct esi_fact_process *process,
                        const struct esi_ledger_channel *count)
{
    struct esi_channel_message message = {
        .group = esi_fact_group_of(process, count->communicator), .tag = count->tag};
    int peer = esi_fact_world_rank(process, count->communicator, count->peer);
    struct esi_channel_state *channel;

    if (message.group == ESI_FACT_NO_GROUP ||
        (peer < 0 && !(peer == ES_PEER_ANY && count->received)))
        return 0;
    message.source = count->received ? peer : process->rank;
    message.destination = count->received ? process->rank : peer;
    channel = make_channel(channels, &message);
    if (!channel)
        return -ENOMEM;
    if (count->received)
        channel->received = count->count;
    else
        channel->sent = count->count;
    channel->doubtful |= count->doubtful;
    return 0;
}

static bool is_receive(const struct esi_ledger_request *request)
{
    return request->kind == ESI_LEDGER_RECEIVE || request->kind == ESI_LEDGER_PAIR;
}

/* A message matched by MPI_Mprobe counts as received, but its sender still waits. */
static int keep_message(struct esi_channels_table *channels,
                        const struct esi_channel_message *message,
                        uint32_t number)
{
    struct esi_channel_state *channel = make_channel(channels, message);

    if (!channel)
        return -ENOMEM;
    if (!channel->has_kept || (int32_t)(number - channel->kept) < 0)
        channel->kept = number;
    channel->has_kept = true;
    return 0;
}

static int read_request(struct esi_channels_table *channels,
                        const struct esi_fact_process *process,
                        const struct esi_ledger_request *request)
{
    struct esi_channel_message message = {
        .group = esi_fact_group_of(process, request->communicator),
        .source = esi_fact_world_rank(process, request->communicator, request->peer),
        .destination = process->rank,
        .tag = request->tag};
    struct esi_channel_state *channel;

    if (request->kind == ESI_LEDGER_MESSAGE && message.group != ESI_FACT_NO_GROUP &&
        message.source >= 0 && request->sequence != ES_SEQUENCE_UNKNOWN)
        return keep_message(channels, &message, request->sequence);
    if (!is_receive(request) || (request->persistent && !request->active) ||
        request->sequence != ES_SEQUENCE_UNKNOWN ||
        message.group == ESI_FACT_NO_GROUP || message.source == ES_PEER_NONE)
        return 0;
    channel = make_channel(channels, &message);
    if (!channel)
        return -ENOMEM;
    channel->posted++;
    return 0;
}

static int read_ledger(struct esi_channels_table *channels,
                       const struct esi_fact_process *process)
{
    const struct esi_ledger *ledger = process->ledger;
    int result = 0;

    for (size_t i = 0; ledger && i < ledger->channel_count && result == 0; i++)
        result = read_channel(channels, process, &ledger->channels[i]);
    for (size_t i = 0; ledger && i < ledger->request_count && result == 0; i++)
        result = read_request(channels, process, &ledger->requests[i]);
    return result;
}

/* --- Operations in progress ------------------------------------------------------- */

static int read_open(struct esi_channels_table *channels,
                     const struct esi_facts *facts,
                     const struct esi_fact_process *process,
                     const struct esi_thread_state *thread)
{
    const struct esi_activity *open = &thread->open;
    const struct es_operation *operation =
        open->present ? esi_activity_subject(open) : NULL;
    struct esi_channel_message message = {.tag = open->tag};
    struct esi_channel_state *channel;
    bool sends;

    if (!operation || open->peer == ES_PEER_NONE || open->peer == ES_PEER_UNKNOWN ||
        (operation->op_class != ES_CLASS_SEND &&
         operation->op_class != ES_CLASS_RECEIVE))
        return 0;
    message.group = esi_fact_group_of(process, open->communicator_index);
    if (message.group == ESI_FACT_NO_GROUP)
        return 0;
    sends = operation->op_class == ES_CLASS_SEND;
    message.source = sends ? process->rank : open->peer;
    message.destination = sends ? open->peer : process->rank;
    /* The ledger already counts receives with a number and those being waited for. */
    if (!sends && process->ledger &&
        (open->sequence != ES_SEQUENCE_UNKNOWN || open->awaited))
        return 0;
    channel = make_channel(channels, &message);
    if (!channel)
        return -ENOMEM;
    if (sends)
        channel->sending++;
    else
        channel->posted++;
    (void)facts;
    return 0;
}

/* --- By destination --------------------------------------------------------------- */

/* Links the channels that have sent more than was received. */
static int chain_surplus(struct esi_channels_table *channels,
                         const struct esi_facts *facts)
{
    channels->surplus = malloc((facts->process_count + 1) * sizeof *channels->surplus);
    if (!channels->surplus)
        return -ENOMEM;
    for (size_t i = 0; i < facts->process_count; i++)
        channels->surplus[i] = ESI_CHANNEL_NONE;
    for (size_t i = 0; i < channels->count; i++) {
        struct esi_channel_state *channel = &channels->items[i];
        size_t process;

        if (channel->source < 0 || channel->tag == ES_TAG_ANY ||
            !((int32_t)(channel->sent - channel->received) > 0 || channel->doubtful ||
              (channel->sending && channel->sent == 0)))
            continue;
        process = esi_facts_find_process(facts, channel->destination);
        if (process == facts->process_count)
            continue;
        channel->next = channels->surplus[process];
        channels->surplus[process] = (uint32_t)i;
    }
    return 0;
}

/* Number of messages for which no receive with a number is posted. */
static uint32_t count_surplus(const struct esi_channels_table *channels,
                              size_t process,
                              const struct esi_channel_message *wanted)
{
    uint32_t count = 0;

    for (uint32_t i = channels->surplus[process]; i != ESI_CHANNEL_NONE;
         i = channels->items[i].next) {
        const struct esi_channel_state *channel = &channels->items[i];
        int32_t more = (int32_t)(channel->sent - channel->received);

        if (channel->group == wanted->group &&
            (wanted->source == ES_PEER_ANY || wanted->source == channel->source) &&
            (wanted->tag == ES_TAG_ANY || wanted->tag == channel->tag))
            count += more > 0 ? (uint32_t)more : 1;
    }
    return count;
}

void esi_channels_count_free(const struct esi_channels_table *channels,
                             size_t process,
                             const struct esi_channel_message *wanted,
                             uint32_t *ret_most,
                             uint32_t *ret_least)
{
    struct esi_channel_message all = {.group = wanted->group,
                                      .source = ES_PEER_ANY,
                                      .destination = wanted->destination,
                                      .tag = ES_TAG_ANY};
    const struct esi_channel_state *held = esi_channels_find(channels, &all);
    uint32_t taken = held ? held->received : 0;
    uint32_t count = count_surplus(channels, process, wanted);

    *ret_most = count;
    *ret_least = count > taken ? count - taken : 0;
    /* No other message can have been taken. */
    if (taken > 0 && count == count_surplus(channels, process, &all))
        *ret_most = *ret_least;
}

uint32_t esi_channels_count_posted(const struct esi_channels_table *channels,
                                   const struct esi_channel_message *message)
{
    uint32_t count = 0;

    for (int any = 0; any < 4; any++) {
        struct esi_channel_message wanted = *message;
        const struct esi_channel_state *channel;

        if (((any & 1) && message->source == ES_PEER_ANY) ||
            ((any & 2) && message->tag == ES_TAG_ANY))
            continue;
        wanted.source = any & 1 ? ES_PEER_ANY : message->source;
        wanted.tag = any & 2 ? ES_TAG_ANY : message->tag;
        channel = esi_channels_find(channels, &wanted);
        count += channel ? channel->posted : 0;
    }
    return count;
}

/* --- Interface -------------------------------------------------------------------- */

/* Reserves space for all channels of the ledgers, so that tables need not grow.  Both
 * ends of a channel share an entry. */
static int reserve_channels(struct esi_channels_table *channels,
                            const struct esi_facts *facts)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->process_count; i++)
        if (facts->processes[i].ledger)
            count += facts->processes[i].ledger->channel_count;
    count = count / 2 + facts->thread_count;
    return ESI_ARRAY_RESERVE(channels->items, channels->capacity, count + 1) < 0 ||
                   esi_hash_reserve(&channels->numbers, count + 1) < 0
               ? -ENOMEM
               : 0;
}

int esi_channels_init(struct esi_channels_table *channels,
                      const struct esi_facts *facts)
{
    int result = 0;

    *channels = (struct esi_channels_table){0};
    result = reserve_channels(channels, facts);
    for (size_t i = 0; i < facts->process_count && result == 0; i++) {
        const struct esi_fact_process *process = &facts->processes[i];

        result = read_ledger(channels, process);
        for (size_t j = 0; j < process->thread_count && result == 0; j++)
            result = read_open(channels, facts, process,
                               &facts->threads[process->first_thread + j]);
    }
    if (result == 0)
        result = chain_surplus(channels, facts);
    if (result < 0)
        esi_channels_fini(channels);
    return result;
}

void esi_channels_fini(struct esi_channels_table *channels)
{
    free(channels->items);
    free(channels->surplus);
    esi_hash_fini(&channels->numbers);
    *channels = (struct esi_channels_table){0};
}
