/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Searches for a predicate of a pattern file in events that have all arrived.
 *
 *   esi_search_config_init(&config);
 *   esi_search_run(file, predicate, domains, order, &config, &sink, &statistics,
 *                 &error);
 *
 * Predicates whose matches are values of other predicates are searched first, each
 * once, by the same engine.  All engines find the same matches, possibly in a different
 * order.
 */
#ifndef ES_MONITORS_SEARCH_SEARCH_H
#define ES_MONITORS_SEARCH_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/matches.h"

struct esi_search_config {
    const char *engine; /* a name of esi_engines (engine.h); NULL = the first */
    const void *tuning; /* of the engine, a struct of its own; NULL = its defaults;
                           borrowed */
    unsigned threads;   /* of engines that can use several; 0 = number of cores */

    uint64_t limit;       /* matches; 0 = all */
    uint64_t deadline_ns; /* time limit, by esi_now_ns(CLOCK_MONOTONIC); 0 = none */
    const atomic_bool *is_cancelled; /* ends the search when set; may be NULL;
                                        borrowed */
};

/* Sets the defaults: the first engine, one thread. */
void esi_search_config_init(struct esi_search_config *config);

/* Totals of all searches, including those of inner predicates. */
struct esi_search_statistics {
    uint64_t comparisons; /* of two timestamps: one entry with another (Nichols, 5.6) */
    uint64_t backtracks;  /* chosen values that were undone */
    uint64_t matches;     /* of the predicate itself */
    uint64_t assignments; /* of the predicate itself (D10) */
    uint64_t special;     /* `counted` by the engine alone (engine.h) */
    uint64_t pattern_size; /* relations in the rewritten pattern */
    uint64_t unknown;      /* comparisons of events that the order has forgotten */
    uint64_t bytes;        /* maximum held by the engine, matches and inner domains */
    uint64_t elapsed_ns;
    bool is_complete; /* not ended early by a limit, deadline or cancellation */
};

/* Searches for the matches of a predicate.  `domains` must contain all that the
 * predicate reaches.  Returns 0; -EINVAL with a message (unknown engine, or pattern too
 * large); -EOVERFLOW with a message; -ENOMEM; or the result of the sink. */
int esi_search_run(const struct es_pattern_file *file,
                   uint32_t predicate,
                   const struct esi_domains *domains,
                   const struct es_order *order,
                   const struct esi_search_config *config,
                   const struct esi_match_sink *sink,
                   struct esi_search_statistics *ret_statistics,
                   struct es_error *error);

/* Prints the plan instead of searching.  Inner predicates are searched if the plan
 * depends on their matches. */
int esi_search_explain(const struct es_pattern_file *file,
                       uint32_t predicate,
                       const struct esi_domains *domains,
                       const struct es_order *order,
                       const struct esi_search_config *config,
                       FILE *out,
                       struct es_error *error);

/* Returns 0, or -EINVAL with a message if the engine is unknown. */
int esi_search_config_check(const struct esi_search_config *config,
                            struct es_error *error);

/* Whether the time limit has passed or the search is cancelled.  Engines call this
 * regularly. */
bool esi_search_is_over(const struct esi_search_config *config);

#endif
