/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds costs of links (link_costs.h) with the messages of a stream of operations: with
 * sends and receives, and with both ends of the edges of instrumented trees, whichever
 * of them the stream has.
 *
 *   esi_link_feed_create(&config, &feed);
 *   for each operation:  esi_time_link_read(activity, rank, 0, &timed.link);
 *                        esi_link_feed_add(feed, &timed, activity->bytes);
 *
 * Bounded: so many messages wait for their other end, then the oldest is forgotten.
 *
 *   one feed is one thread's at a time.
 */
#ifndef ES_MONITORS_ADVICE_LINK_FEED_H
#define ES_MONITORS_ADVICE_LINK_FEED_H

#include <stddef.h>

#include "monitors/advice/link_costs.h"
#include "monitors/events/time_repair.h"

/* Place of a world rank.  False: not known; then its messages tell nothing. */
typedef bool (*esi_place_fn)(void *data,
                             int world_rank,
                             struct esi_location *ret_place);

struct esi_link_feed_config {
    struct esi_link_costs *costs; /* borrowed */
    esi_place_fn place;
    void *data;
    size_t max_open; /* 0 = 65536 */
};

struct esi_link_feed;

int esi_link_feed_create(const struct esi_link_feed_config *config,
                         struct esi_link_feed **ret_feed);
/* Accepts NULL. */
void esi_link_feed_destroy(struct esi_link_feed *feed);

/* One end of a message, with run times as the clocks say (not repaired).  Operations
 * that are none are passed over.  0 or -ENOMEM. */
int esi_link_feed_add(struct esi_link_feed *feed,
                      const struct esi_timed *timed,
                      uint64_t bytes);

/* What a rank brings into a tree: of a leaf that is its message to its parent, and is
 * taken as one; of ranks that are known to depart it is none.  The link's key and end
 * are those of a departure up. */
int esi_link_feed_add_contribution(struct esi_link_feed *feed,
                                   const struct esi_timed *timed,
                                   uint64_t bytes);

#endif
