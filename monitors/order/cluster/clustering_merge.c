/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_merge.c - clusters that merge when they communicate, for the first time or
 * often enough for their size (Ward & Taylor, 3; Ward, Huang & Taylor, 3.2, with errata
 * 1, 9 and 21).
 *
 * Sizes only grow, so two clusters that are too large together for their level will
 * never merge on it: what they communicate is not counted any more.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/order/cluster/clustering.h"

/* --- What other strategies use, too ---------------------------------------------- */

int esi_merging_init(struct esi_merging *merging,
                     unsigned levels,
                     double threshold,
                     struct es_error *error)
{
    *merging = (struct esi_merging){.threshold = threshold};
    /* Also refuses what is not a number. */
    if (!(threshold >= 0.0))
        return es_error_set(error, -EINVAL,
                            "a threshold of %g; expected one that is not negative",
                            threshold);
    for (unsigned i = 0; threshold > 0.0 && i < levels; i++)
        if (esi_communications_create(&merging->counts[i]) < 0) {
            esi_merging_fini(merging);
            return es_error_set(error, -ENOMEM, "out of memory");
        }
    return 0;
}

void esi_merging_fini(struct esi_merging *merging)
{
    for (unsigned i = 0; i < ES_ORDER_LEVELS; i++) {
        esi_communications_destroy(merging->counts[i]);
        merging->counts[i] = NULL;
    }
}

/* Counts a communication of two clusters; 1 if they have had enough of them to merge.
 */
static int count_message(struct esi_merging *merging,
                         unsigned level,
                         uint32_t a,
                         uint32_t b,
                         uint32_t weight,
                         uint32_t size)
{
    struct esi_communications *counts = merging->counts[level - 1];
    int code;

    if (!counts)
        return 1;
    code = esi_communications_add(counts, a, b, weight);
    if (code < 0)
        return code;
    return (double)esi_communications_count(counts, a, b) / (double)size >
           merging->threshold;
}

/* Merges on a level and all above, counts too. */
static int merge_clusters(struct esi_merging *merging,
                          struct esi_levels *levels,
                          unsigned level,
                          const struct esi_communication *communication)
{
    for (unsigned k = levels->count; k >= level; k--) {
        uint32_t a = esi_levels_cluster(levels, k, communication->trace);
        uint32_t b = esi_levels_cluster(levels, k, communication->partner);

        if (a == b)
            continue;
        if ((merging->counts[k - 1] &&
             esi_communications_merge(merging->counts[k - 1], a, b) < 0) ||
            esi_levels_join(levels, k, communication->trace, communication->partner) <
                0)
            return -ENOMEM;
    }
    return 0;
}

int esi_merging_communicate(struct esi_merging *merging,
                            struct esi_levels *levels,
                            const struct esi_communication *communication)
{
    for (unsigned k = 1; k <= levels->count; k++) {
        uint32_t a = esi_levels_cluster(levels, k, communication->trace);
        uint32_t b = esi_levels_cluster(levels, k, communication->partner);
        uint64_t size =
            (uint64_t)esi_levels_size(levels, k, a) + esi_levels_size(levels, k, b);
        int enough;

        if (a == b)
            return 0;
        if (size > levels->level[k - 1].max_size)
            continue;
        enough = count_message(merging, k, a, b, communication->weight, (uint32_t)size);
        if (enough < 0)
            return enough;
        if (enough && esi_levels_can_merge(levels, k, communication->trace,
                                           communication->partner))
            return merge_clusters(merging, levels, k, communication);
    }
    return 0;
}

uint64_t esi_merging_bytes(const struct esi_merging *merging)
{
    uint64_t bytes = sizeof *merging;

    for (unsigned i = 0; i < ES_ORDER_LEVELS; i++)
        if (merging->counts[i])
            bytes += esi_communications_bytes(merging->counts[i]);
    return bytes;
}

/* --- The two strategies ---------------------------------------------------------- */

struct esi_clustering {
    struct esi_merging merging;
};

static int create_merging(unsigned levels,
                          double threshold,
                          struct es_error *error,
                          struct esi_clustering **ret_clustering)
{
    struct esi_clustering *clustering = calloc(1, sizeof *clustering);
    int code;

    if (!clustering)
        return es_error_set(error, -ENOMEM, "out of memory");
    code = esi_merging_init(&clustering->merging, levels, threshold, error);
    if (code < 0) {
        free(clustering);
        return code;
    }
    *ret_clustering = clustering;
    return 0;
}

static int merge_first_create(const struct esi_order_config *config,
                              struct es_error *error,
                              struct esi_clustering **ret_clustering)
{
    return create_merging(config->levels, 0.0, error, ret_clustering);
}

static int merge_nth_create(const struct esi_order_config *config,
                            struct es_error *error,
                            struct esi_clustering **ret_clustering)
{
    return create_merging(config->levels, config->threshold, error, ret_clustering);
}

static void merge_destroy(struct esi_clustering *clustering)
{
    esi_merging_fini(&clustering->merging);
    free(clustering);
}

static int merge_communicate(struct esi_clustering *clustering,
                             struct esi_levels *levels,
                             const struct esi_communication *communication)
{
    return esi_merging_communicate(&clustering->merging, levels, communication);
}

static uint64_t merge_bytes(const struct esi_clustering *clustering)
{
    return esi_merging_bytes(&clustering->merging);
}

const struct esi_clustering_ops esi_clustering_merge_first = {
    .name = "merge-first",
    .takes_seeds = true,
    .create = merge_first_create,
    .destroy = merge_destroy,
    .communicate = merge_communicate,
    .bytes = merge_bytes,
};

const struct esi_clustering_ops esi_clustering_merge_nth = {
    .name = "merge-nth",
    .takes_seeds = true,
    .create = merge_nth_create,
    .destroy = merge_destroy,
    .communicate = merge_communicate,
    .bytes = merge_bytes,
};
