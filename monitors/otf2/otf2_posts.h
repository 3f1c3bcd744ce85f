/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_posts.h - the numbers of receives and collective operations.
 *
 * MPI matches receives in the order in which they were posted, and collective
 * operations likewise, but OTF2 says on which channel a request is only when it is
 * complete.  So the events are read twice: first each post gets its channel, then all
 * are numbered.  A post takes 32 bytes.
 */
#ifndef ES_MONITORS_OTF2_OTF2_POSTS_H
#define ES_MONITORS_OTF2_OTF2_POSTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum esi_otf2_channel_kind {
    ESI_OTF2_NOTHING, /* it is not known */
    ESI_OTF2_MESSAGE,
    ESI_OTF2_COLLECTIVE,
    ESI_OTF2_ON_WINDOW,
    ESI_OTF2_POST, /* of a window, towards a member; or, of no peer, to all */
    ESI_OTF2_START,
};

/* Where operations match in order. */
struct esi_otf2_channel {
    uint64_t communicator; /* or the window */
    uint32_t process;      /* that sends, receives or takes part */
    uint32_t peer;
    uint32_t tag;
    uint32_t kind; /* enum esi_otf2_channel_kind */
};

/* Counts what comes on each channel. */
struct esi_otf2_counters {
    struct esi_otf2_counter {
        struct esi_otf2_channel channel;
        uint32_t count;
    } * items; /* owned */
    size_t count, capacity;
    struct esi_hash hash;
};

/* The number of the next one on a channel, from 0.  UINT32_MAX: no memory. */
uint32_t esi_otf2_count(struct esi_otf2_counters *counters,
                        const struct esi_otf2_channel *channel);
/* The number of the last one; UINT32_MAX: there was none. */
uint32_t esi_otf2_last(const struct esi_otf2_counters *counters,
                       const struct esi_otf2_channel *channel);
void esi_otf2_counters_fini(struct esi_otf2_counters *counters);

struct esi_otf2_post {
    struct esi_otf2_channel channel;
    uint32_t number; /* UINT32_MAX: it was never complete */
};

/* In the order in which they were posted. */
struct esi_otf2_posts {
    struct esi_otf2_post *items; /* owned */
    size_t count, capacity;
};

/* Adds one whose channel is not known yet.  0 or -ENOMEM. */
int esi_otf2_posts_add(struct esi_otf2_posts *posts);
/* Numbers all whose channel became known.  0 or -ENOMEM. */
int esi_otf2_posts_number(struct esi_otf2_posts *posts);

#endif
