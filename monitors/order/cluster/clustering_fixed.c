/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_fixed.c - fixed contiguous clusters: blocks of traces by number.
 *
 * A block of a level consists of as many whole blocks of the level below as fit into
 * its maximum size.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/order/cluster/clustering.h"

struct esi_clustering {
    uint32_t blocks[ES_ORDER_LEVELS]; /* sizes */
};

int esi_clustering_place(struct esi_levels *levels,
                         uint32_t trace,
                         const uint32_t *with)
{
    for (unsigned k = levels->count; k >= 1; k--) {
        int code = esi_levels_join(levels, k, with[k - 1], trace);

        if (code < 0)
            return code;
    }
    return 0;
}

static int fixed_create(const struct esi_order_config *config,
                        struct es_error *error,
                        struct esi_clustering **ret_clustering)
{
    struct esi_clustering *clustering = calloc(1, sizeof *clustering);

    if (!clustering)
        return es_error_set(error, -ENOMEM, "out of memory");
    clustering->blocks[0] = config->max_sizes[0];
    for (unsigned i = 1; i < config->levels; i++) {
        uint32_t below = clustering->blocks[i - 1];

        clustering->blocks[i] = config->max_sizes[i] / below * below;
    }
    *ret_clustering = clustering;
    return 0;
}

static void fixed_destroy(struct esi_clustering *clustering)
{
    free(clustering);
}

static int fixed_add_trace(struct esi_clustering *clustering,
                           struct esi_levels *levels,
                           uint32_t trace)
{
    uint32_t with[ES_ORDER_LEVELS];

    for (unsigned i = 0; i < levels->count; i++)
        with[i] = trace / clustering->blocks[i] * clustering->blocks[i];
    return esi_clustering_place(levels, trace, with);
}

static uint64_t fixed_bytes(const struct esi_clustering *clustering)
{
    return sizeof *clustering;
}

const struct esi_clustering_ops esi_clustering_fixed = {
    .name = "fixed",
    .create = fixed_create,
    .destroy = fixed_destroy,
    .add_trace = fixed_add_trace,
    .bytes = fixed_bytes,
};
