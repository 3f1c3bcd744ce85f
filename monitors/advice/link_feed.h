/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds link costs (link_costs.h) from the stream of matched operations: with the
 * messages of the program, and with those of instrumented trees.
 *
 *   struct esi_link_feed feed = {.costs = costs, .place = find_place, .data = ranks};
 *   config.listener = (struct esi_causal_listener){esi_link_feed_told, .data = &feed};
 *   config.trees = true;
 *   esi_causality_create(&config, &messages);
 */
#ifndef ES_MONITORS_ADVICE_LINK_FEED_H
#define ES_MONITORS_ADVICE_LINK_FEED_H

#include "monitors/advice/link_costs.h"
#include "monitors/causality/causality.h"

struct esi_link_feed {
    struct esi_link_costs *costs; /* borrowed */
    /* Finds the location of a world rank.  Returns false if not known; then its
     * messages are ignored. */
    bool (*place)(void *data, int world_rank, struct esi_location *ret_place);
    void *data; /* borrowed */
};

/* For struct esi_causal_listener; `data` is the feed.  The times must be as recorded by
 * the clocks (not corrected).  Returns 0. */
int esi_link_feed_told(void *data,
                       const struct es_set_event *event,
                       const struct esi_causal_call *call);

#endif
