/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Searches a predicate of a pattern file in events that are there.
 *
 *   esi_search_config_init(&config);
 *   esi_search_run(file, predicate, domains, order, &config, &sink, &statistics,
 *                 &error);
 *
 * Predicates whose matches are values of others are searched first, each once, by the
 * same engine.  All engines give the same matches; only their order may differ.
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

struct esi_successors; /* successors.h */

/* How "closure" finds the front of a convex closure (Nichols, 4.2 to 4.4). */
enum esi_closure_method {
    ES_CLOSURE_EXISTING, /* algorithms 4.6 and 4.7 */
    ES_CLOSURE_STEP,     /* 4.8 and 4.9, back by single steps */
    ES_CLOSURE_BINARY,   /* by binary search */
    ES_CLOSURE_JUMP,     /* by jumps that get shorter */
};

/* How "rewrite" orders the rewritten pattern (Nichols, 6.2). */
enum esi_reordering {
    ES_REORDER_NONE,
    ES_REORDER_BRUTE,   /* 6.2.1: the best of all by estimated work; few terms only */
    ES_REORDER_SUCCESS, /* 6.2.2: least/most-successful-first */
    ES_REORDER_CLUSTER, /* 6.2.3: variable clustering */
};

/* What "indexed" can do without, to measure what each brings (docs/indexed-search.md);
 * the matches are the same, perhaps in another order. */
enum esi_indexed_part {
    ES_INDEXED_LOOKUPS = 1,  /* indexes by attributes that are compared */
    ES_INDEXED_MEMORY = 2,   /* what is remembered of the values of small domains */
    ES_INDEXED_EXCHANGE = 4, /* rising values of variables that may be exchanged */
    ES_INDEXED_FEWEST = 8,   /* next the variable with the fewest values */
    ES_INDEXED_FAILED = 16,  /* universal values that failed lately first */
    ES_INDEXED_FORWARD = 32, /* first successors are looked for from earlier ones on */
    ES_INDEXED_FIRST = 64,   /* the cheapest variable first, not the first written */
    ES_INDEXED_THRIFT =
        128,                /* lookups wait until they pay, and take short lists only */
    ES_INDEXED_ALONE = 256, /* one thread works alone before others are started */
    ES_INDEXED_IMPLIED = 512, /* relations that follow from others */
};

struct esi_search_config {
    const char *engine; /* "indexed", "rewrite", "closure"; NULL = "indexed" */

    enum esi_closure_method closure_method;
    bool closure_combining; /* 4.5 */
    /* What ES_CLOSURE_EXISTING walks along, of the same events; NULL = it is worked out
     * from the order, far slower.  Borrowed. */
    const struct esi_successors *successors;

    bool prune; /* 6.1 */
    enum esi_reordering reordering;
    bool failed_first; /* 6.3: values that failed come first next time */
    uint64_t seed;     /* of the samples that estimates are made of */

    unsigned threads;         /* of "indexed": 0 = as many as there are cores */
    unsigned indexed_without; /* enum esi_indexed_part */

    uint64_t limit;       /* matches; 0 = all */
    uint64_t deadline_ns; /* esi_now_ns(CLOCK_MONOTONIC) at which it ends; 0 = none */
    const atomic_bool *is_cancelled; /* ends it, may be NULL; borrowed */
};

/* indexed; binary, combining; pruning, clustering, failed first; one thread. */
void esi_search_config_init(struct esi_search_config *config);

/* Of all searches that it took, those of inner predicates too. */
struct esi_search_statistics {
    uint64_t comparisons; /* of two timestamps: one entry with another (Nichols, 5.6) */
    uint64_t backtracks;  /* choices of a value that were taken back */
    uint64_t matches;     /* of the predicate itself */
    uint64_t assignments; /* of it (D10) */
    uint64_t closures;    /* that were computed; of "closure" */
    uint64_t pattern_size; /* relations in the rewritten pattern */
    uint64_t unknown;      /* comparisons of events that the order has forgotten */
    uint64_t bytes; /* held by the engine, the matches and inner domains, at most */
    uint64_t elapsed_ns;
    bool is_complete; /* all was searched: no limit, deadline or interrupt */
};

/* `domains` must have what the predicate reaches.  0; -EINVAL with words (no such
 * engine, too large a pattern); -EOVERFLOW with words; -ENOMEM; what the sink gave. */
int esi_search_run(const struct es_pattern_file *file,
                   uint32_t predicate,
                   const struct esi_domains *domains,
                   const struct es_order *order,
                   const struct esi_search_config *config,
                   const struct esi_match_sink *sink,
                   struct esi_search_statistics *ret_statistics,
                   struct es_error *error);

/* Writes the plan instead of searching; inner predicates are searched if their matches
 * are needed to tell. */
int esi_search_explain(const struct es_pattern_file *file,
                       uint32_t predicate,
                       const struct esi_domains *domains,
                       const struct es_order *order,
                       const struct esi_search_config *config,
                       FILE *out,
                       struct es_error *error);

/* 0; -EINVAL with words: no engine is named so. */
int esi_search_config_check(const struct esi_search_config *config,
                            struct es_error *error);

/* Whether the time is over, or the search cancelled: asked by engines now and then. */
bool esi_search_is_over(const struct esi_search_config *config);

/* Engines' names and a line of help each, ended by a name that is NULL. */
struct esi_engine_help {
    const char *name;
    const char *help;
};
const struct esi_engine_help *esi_search_engines(void);

#endif
