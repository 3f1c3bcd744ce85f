/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds link costs (link_costs.h) from a stream of operations: with sends and receives,
 * and with both ends of the edges of instrumented trees.
 *
 *   esi_link_feed_create(&config, &feed);
 *   for each operation:  esi_time_link_read(activity, rank, 0, &timed.link);
 *                        esi_link_feed_add(feed, &timed, activity->bytes);
 *
 * Bounded: only `max_open` messages wait for their other end; then the oldest is
 * dropped.
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_ADVICE_LINK_FEED_H
#define ES_MONITORS_ADVICE_LINK_FEED_H

#include <stddef.h>

#include "monitors/advice/link_costs.h"
#include "monitors/events/time_repair.h"

/* Finds the location of a world rank.  Returns false if not known; then its messages
 * are ignored. */
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

/* Adds one end of a message, with run times as recorded by the clocks (not repaired).
 * Ignores other operations.  Returns 0 or -ENOMEM. */
int esi_link_feed_add(struct esi_link_feed *feed,
                      const struct esi_timed *timed,
                      uint64_t bytes);

/* Adds a contribution to a tree: for a leaf, it is its message to its parent; ranks
 * known to have departures are ignored.  Key and end of the link must be those of an
 * upward departure. */
int esi_link_feed_add_contribution(struct esi_link_feed *feed,
                                   const struct esi_timed *timed,
                                   uint64_t bytes);

#endif
