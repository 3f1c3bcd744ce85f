/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tuning.h - what can be chosen of the engines "closure" and "rewrite". */
#ifndef ES_MONITORS_SEARCH_THESIS_TUNING_H
#define ES_MONITORS_SEARCH_THESIS_TUNING_H

#include <stdbool.h>
#include <stdint.h>

struct esi_successors; /* successors.h */

/* How the front of a convex closure is found (Nichols, 4.2 to 4.4). */
enum esi_closure_method {
    ES_CLOSURE_EXISTING, /* algorithms 4.6 and 4.7 */
    ES_CLOSURE_STEP,     /* 4.8 and 4.9, backwards in single steps */
    ES_CLOSURE_BINARY,   /* by binary search */
    ES_CLOSURE_JUMP,     /* by jumps of decreasing length */
};

struct esi_closure_tuning {
    enum esi_closure_method method;
    bool combining; /* 4.5 */
    /* The successors that ES_CLOSURE_EXISTING follows, of the same events.  NULL means
     * that they are computed from the order, which is much slower.  Borrowed. */
    const struct esi_successors *successors;
};
/* By binary search, with combining. */
extern const struct esi_closure_tuning esi_closure_defaults;

/* How the rewritten pattern is ordered (Nichols, 6.2). */
enum esi_reordering {
    ES_REORDER_NONE,
    ES_REORDER_BRUTE,   /* 6.2.1: the least estimated work of all orders; few terms
                           only */
    ES_REORDER_SUCCESS, /* 6.2.2: least/most-successful-first */
    ES_REORDER_CLUSTER, /* 6.2.3: variable clustering */
};

struct esi_rewrite_tuning {
    bool prune; /* 6.1 */
    enum esi_reordering reordering;
    bool failed_first; /* 6.3: try values that failed first next time */
    uint64_t seed;     /* of the samples for estimates */
};
/* Pruning, clustering, failed values first. */
extern const struct esi_rewrite_tuning esi_rewrite_defaults;

#endif
