/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_posts.h - numbers receives and collective operations.
 *
 * MPI matches receives and collective operations in the order in which they were
 * posted, but OTF2 gives the channel of a request only at its completion.  So the
 * events are read twice: first each post gets its channel, then all are numbered.  A
 * post takes 32 bytes.
 */
#ifndef ES_MONITORS_OTF2_OTF2_POSTS_H
#define ES_MONITORS_OTF2_OTF2_POSTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum esi_otf2_channel_kind {
    ESI_OTF2_NOTHING, /* not known */
    ESI_OTF2_MESSAGE,
    ESI_OTF2_COLLECTIVE,
    ESI_OTF2_ON_WINDOW,
    ESI_OTF2_POST, /* of a window, towards a member; without peer, to all */
    ESI_OTF2_START,
};

/* Operations on the same channel match in order. */
struct esi_otf2_channel {
    uint64_t communicator; /* or the window */
    uint32_t process;      /* that sends, receives or participates */
    uint32_t peer;
    uint32_t tag;
    uint32_t kind; /* enum esi_otf2_channel_kind */
};

/* Counts the operations on each channel. */
struct esi_otf2_counters {
    struct esi_otf2_counter {
        struct esi_otf2_channel channel;
        uint32_t count;
    } * items; /* owned */
    size_t count, capacity;
    struct esi_hash hash;
};

/* The number of the next operation on a channel, from 0. UINT32_MAX if out of
 * memory. */
uint32_t esi_otf2_count(struct esi_otf2_counters *counters,
                        const struct esi_otf2_channel *channel);
/* The number of the last operation; UINT32_MAX if there was none. */
uint32_t esi_otf2_last(const struct esi_otf2_counters *counters,
                       const struct esi_otf2_channel *channel);
void esi_otf2_counters_fini(struct esi_otf2_counters *counters);

struct esi_otf2_post {
    struct esi_otf2_channel channel;
    uint32_t number; /* UINT32_MAX: never completed */
};

/* In the order of posting. */
struct esi_otf2_posts {
    struct esi_otf2_post *items; /* owned */
    size_t count, capacity;
};

/* Adds a post with an unknown channel.  Returns 0 or -ENOMEM. */
int esi_otf2_posts_add(struct esi_otf2_posts *posts);
/* Numbers all posts with a known channel.  Returns 0 or -ENOMEM. */
int esi_otf2_posts_number(struct esi_otf2_posts *posts);

#endif
