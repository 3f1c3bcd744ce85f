/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_posts.c - numbers receives and collective operations. */
#include "config.h"

#include "monitors/otf2/otf2_posts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint64_t hash_of(const struct esi_otf2_channel *channel)
{
    uint64_t hash = esi_hash_mix(channel->communicator,
                                 (uint64_t)channel->process << 32 | channel->peer);

    return esi_hash_mix(hash, (uint64_t)channel->tag << 32 | channel->kind);
}

static struct esi_otf2_counter *find_counter(const struct esi_otf2_counters *counters,
                                             const struct esi_otf2_channel *channel,
                                             uint64_t hash)
{
    ESI_HASH_FOREACH(slot, &counters->hash, hash) {
        struct esi_otf2_counter *counter =
            &counters->items[esi_hash_index(&counters->hash, slot)];

        if (memcmp(&counter->channel, channel, sizeof *channel) == 0)
            return counter;
    }
    return NULL;
}

uint32_t esi_otf2_last(const struct esi_otf2_counters *counters,
                       const struct esi_otf2_channel *channel)
{
    const struct esi_otf2_counter *counter =
        find_counter(counters, channel, hash_of(channel));

    return counter ? counter->count - 1 : UINT32_MAX;
}

uint32_t esi_otf2_count(struct esi_otf2_counters *counters,
                        const struct esi_otf2_channel *channel)
{
    uint64_t hash = hash_of(channel);
    struct esi_otf2_counter *counter = find_counter(counters, channel, hash);

    if (counter)
        return counter->count++;
    if (ESI_ARRAY_RESERVE(counters->items, counters->capacity, counters->count + 1) <
            0 ||
        esi_hash_reserve(&counters->hash, counters->count + 1) < 0)
        return UINT32_MAX;
    esi_hash_insert(&counters->hash, hash, counters->count);
    counters->items[counters->count++] =
        (struct esi_otf2_counter){.channel = *channel, .count = 1};
    return 0;
}

void esi_otf2_counters_fini(struct esi_otf2_counters *counters)
{
    free(counters->items);
    esi_hash_fini(&counters->hash);
}

int esi_otf2_posts_add(struct esi_otf2_posts *posts)
{
    if (ESI_ARRAY_RESERVE(posts->items, posts->capacity, posts->count + 1) < 0)
        return -ENOMEM;
    posts->items[posts->count++] = (struct esi_otf2_post){.number = UINT32_MAX};
    return 0;
}

int esi_otf2_posts_number(struct esi_otf2_posts *posts)
{
    struct esi_otf2_counters counters = {.count = 0};
    int result = 0;

    for (size_t i = 0; i < posts->count && result == 0; i++) {
        struct esi_otf2_post *post = &posts->items[i];

        if (post->channel.kind == ESI_OTF2_NOTHING)
            continue;
        post->number = esi_otf2_count(&counters, &post->channel);
        if (post->number == UINT32_MAX)
            result = -ENOMEM;
    }
    esi_otf2_counters_fini(&counters);
    return result;
}
