/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* grouping.h - sums tuples up by groups, also tuples that are summaries already. */
#ifndef ES_WRAPPERS_STAGES_GROUPING_H
#define ES_WRAPPERS_STAGES_GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "eventspace/summary.h"

struct esi_tuple_group {
    struct es_summary summary;
    struct es_mark mark; /* of its first tuple, by origin and position */
};

/* Caller's memory; what is not set is 0. */
struct esi_grouping {
    enum es_summary_kind kind;
    enum es_summary_field of;
    enum es_summary_group by;

    struct esi_tuple_group *groups; /* owned; in the order in which they came */
    size_t count;
    size_t capacity;
    struct esi_hash by_hash; /* indices of groups */
};

void esi_grouping_fini(struct esi_grouping *grouping);

/* Replaces the tuples of the batch from `first` on by their summaries.  Operations
 * under way are left out.  0 or -ENOMEM.  Never more tuples than there were. */
int esi_grouping_reduce(struct esi_grouping *grouping,
                        const struct es_origins *origins,
                        struct es_batch *batch,
                        size_t first);

/* Whether summaries that `below` makes become part of the groups of `grouping`. */
bool esi_grouping_takes(const struct esi_grouping *grouping,
                        const struct esi_grouping *below);

/* Most groups that tuples of these origins can make. */
size_t esi_grouping_bound(const struct esi_grouping *grouping,
                          const struct es_origins *origins);

#endif
