/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* link_feed.c - the first end of a message waits for the second. */
#include "config.h"

#include "monitors/advice/link_feed.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/collectives/collectives.h"

/* The end of a message that arrived first. */
struct first_end {
    struct esi_end end;
    bool sends;
    uint64_t start_ns;
    uint64_t stop_ns;
    uint64_t error_ns;
};

/* Departures of at most this many bytes measure the overhead. */
enum { SMALL = 1024 };

/* Ranks with observed upward departures, by a hash of tree and rank.  A collision loses
 * a leaf's messages. */
enum { INNER_BITS = 1 << 14 };

struct esi_link_feed {
    struct esi_link_feed_config config;
    struct esi_ends firsts; /* of struct first_end */
    uint8_t inner[INNER_BITS / 8];
};

int esi_link_feed_create(const struct esi_link_feed_config *config,
                         struct esi_link_feed **ret_feed)
{
    struct esi_link_feed *feed = calloc(1, sizeof *feed);

    if (!feed)
        return -ENOMEM;
    feed->config = *config;
    esi_ends_init(&feed->firsts, sizeof(struct first_end),
                  config->max_open ? config->max_open : 65536);
    *ret_feed = feed;
    return 0;
}

void esi_link_feed_destroy(struct esi_link_feed *feed)
{
    if (!feed)
        return;
    esi_ends_fini(&feed->firsts);
    free(feed);
}

/* Both ends are known.  A receiver that waits before the message is sent, by whatever
 * clocks, was not late. */
static void add_message(struct esi_link_feed *feed,
                        const struct first_end *first,
                        const struct esi_timed *timed,
                        uint64_t bytes)
{
    const struct esi_ends_key *key = &first->end.key;
    uint64_t sent_ns = first->sends ? first->start_ns : timed->start_ns;
    uint64_t received_ns = first->sends ? timed->stop_ns : first->stop_ns;
    uint64_t waits_ns = first->sends ? timed->start_ns : first->start_ns;
    uint64_t error_ns = timed->error_ns > UINT64_MAX - first->error_ns
                            ? UINT64_MAX
                            : timed->error_ns + first->error_ns;
    struct esi_location places[2];
    enum esi_link_class class;

    if (!feed->config.place(feed->config.data, key->source, &places[0]) ||
        !feed->config.place(feed->config.data, key->destination, &places[1]))
        return;
    class = esi_link_class_of(&places[0], &places[1]);
    if (class == ES_LINK_HOST && error_ns > ES_SAME_CLOCK_ERROR_NS)
        error_ns = ES_SAME_CLOCK_ERROR_NS;
    if (error_ns < sent_ns && waits_ns <= sent_ns - error_ns)
        esi_link_costs_add_awaited(feed->config.costs, class, bytes,
                                   (int64_t)(received_ns - sent_ns), error_ns);
    else
        esi_link_costs_add(feed->config.costs, class, bytes,
                           (int64_t)(received_ns - sent_ns), error_ns);
}

static int add_first(struct esi_link_feed *feed,
                     const struct esi_timed *timed,
                     bool sends)
{
    struct first_end *first = esi_ends_add(&feed->firsts, &timed->link.key);

    if (!first)
        return -ENOMEM;
    first->sends = sends;
    first->start_ns = timed->start_ns;
    first->stop_ns = timed->stop_ns;
    first->error_ns = timed->error_ns;
    esi_ends_wait(&feed->firsts, &first->end, 1);
    first = esi_ends_excess(&feed->firsts);
    if (first)
        esi_ends_forget(&feed->firsts, &first->end);
    return 0;
}

static int add_end(struct esi_link_feed *feed,
                   const struct esi_timed *timed,
                   uint64_t bytes)
{
    bool sends = timed->link.ends == ES_TIME_BEFORE;
    struct first_end *first = esi_ends_find(&feed->firsts, &timed->link.key);

    if (!first)
        return add_first(feed, timed, sends);
    if (first->sends != sends)
        add_message(feed, first, timed, bytes);
    esi_ends_forget(&feed->firsts, &first->end);
    return 0;
}

static void tell_overhead(struct esi_link_feed *feed, const struct esi_timed *timed)
{
    const struct esi_ends_key *key = &timed->link.key;
    struct esi_location places[2];

    if (feed->config.place(feed->config.data, key->source, &places[0]) &&
        feed->config.place(feed->config.data, key->destination, &places[1]))
        esi_link_costs_add_overhead(feed->config.costs,
                                    esi_link_class_of(&places[0], &places[1]),
                                    timed->stop_ns - timed->start_ns);
}

static uint64_t hash_of_inner(const struct esi_ends_key *key)
{
    uint64_t hash = key->communicator[0] ^ key->communicator[1];

    hash = (hash ^ (uint32_t)key->tag) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (uint32_t)key->source) * UINT64_C(0x9E3779B97F4A7C15);
    return (hash >> 32) % INNER_BITS;
}

int esi_link_feed_add_contribution(struct esi_link_feed *feed,
                                   const struct esi_timed *timed,
                                   uint64_t bytes)
{
    uint64_t at = hash_of_inner(&timed->link.key);

    if (feed->inner[at / 8] & 1u << at % 8)
        return 0;
    return add_end(feed, timed, bytes);
}

static void note_departure(struct esi_link_feed *feed,
                           const struct esi_timed *timed,
                           uint64_t bytes)
{
    if (timed->link.key.kind == ES_MATCH_EDGE_UP) {
        uint64_t at = hash_of_inner(&timed->link.key);

        feed->inner[at / 8] |= (uint8_t)(1u << at % 8);
    }
    if (bytes <= SMALL)
        tell_overhead(feed, timed);
}

int esi_link_feed_add(struct esi_link_feed *feed,
                      const struct esi_timed *timed,
                      uint64_t bytes)
{
    const struct esi_time_link *link = &timed->link;
    bool is_edge =
        link->key.kind == ES_MATCH_EDGE_UP || link->key.kind == ES_MATCH_EDGE_DOWN;

    if (link->key.kind == 0 || link->key.kind == ES_MATCH_COLLECTIVE)
        return 0;
    if (is_edge && link->ends == ES_TIME_BEFORE)
        note_departure(feed, timed, bytes);
    return add_end(feed, timed, bytes);
}
