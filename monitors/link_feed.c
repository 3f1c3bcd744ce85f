/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* link_feed.c - the first end of a message waits in its match for the second. */
#include "config.h"

#include "monitors/link_feed.h"

#include <errno.h>
#include <stdlib.h>

/* Ends come in any order: which of them has come. */
enum { SENT = 1, RECEIVED = 2 };

struct es_link_feed {
    struct es_link_feed_config config;
    struct es_time_matcher *matcher; /* owned */
    uint64_t messages;
};

int es_link_feed_create(const struct es_link_feed_config *config,
                        struct es_link_feed **ret_feed)
{
    struct es_link_feed *feed = calloc(1, sizeof *feed);
    int result;

    if (!feed)
        return -ENOMEM;
    feed->config = *config;
    result = es_time_matcher_create(config->max_open ? config->max_open : 65536,
                                    &feed->matcher);
    if (result < 0) {
        free(feed);
        return result;
    }
    *ret_feed = feed;
    return 0;
}

void es_link_feed_destroy(struct es_link_feed *feed)
{
    if (!feed)
        return;
    es_time_matcher_destroy(feed->matcher);
    free(feed);
}

/* Both ends are known: `match` holds the first. */
static void tell(struct es_link_feed *feed,
                 const struct es_match *match,
                 const struct es_timed *timed,
                 uint64_t bytes)
{
    bool sends = (timed->link.ends & ES_TIME_BEFORE) != 0;
    uint64_t sent_ns = sends ? timed->start_ns : match->latest_ns;
    uint64_t received_ns = sends ? match->latest_ns : timed->stop_ns;
    uint64_t error_ns = timed->error_ns > UINT64_MAX - match->error_ns
                            ? UINT64_MAX
                            : timed->error_ns + match->error_ns;
    struct esi_place places[2];

    if (!feed->config.place(feed->config.data, match->key.source, &places[0]) ||
        !feed->config.place(feed->config.data, match->key.destination, &places[1]))
        return;
    es_link_costs_add(feed->config.costs, es_link_class_of(&places[0], &places[1]),
                      bytes, (int64_t)(received_ns - sent_ns), error_ns);
    feed->messages++;
}

int es_link_feed_add(struct es_link_feed *feed,
                     const struct es_timed *timed,
                     uint64_t bytes)
{
    const struct es_time_link *link = &timed->link;
    bool sends = link->ends == ES_TIME_BEFORE;
    struct es_match *match;
    int result;

    if (link->key.kind == 0 || link->key.kind == ES_MATCH_COLLECTIVE)
        return 0;
    match = es_time_matcher_meet(feed->matcher, &link->key, 2, 1, &result);
    if (!match)
        return result;
    if (!match->told) {
        match->told = true;
        match->waiting = sends ? SENT : RECEIVED;
        match->latest_ns = sends ? timed->start_ns : timed->stop_ns;
        match->error_ns = timed->error_ns;
    } else if (match->waiting != (sends ? SENT : RECEIVED)) {
        tell(feed, match, timed, bytes);
    }
    es_time_matcher_leave(feed->matcher, match);
    return 0;
}

uint64_t es_link_feed_messages(const struct es_link_feed *feed)
{
    return feed->messages;
}
