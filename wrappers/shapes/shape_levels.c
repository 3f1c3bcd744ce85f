/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Trees that follow the machine: a leader for each cluster, host, socket and core,
 * as far as the rule names them (compare Karonis and others: Exploiting Hierarchy in
 * Parallel Computer Networks to Optimize Collective Operation Performance, 2000).
 *
 * A group is split by the coarsest level that is left.  Each part gets a leader and
 * is split in turn, and the leaders become children of the group's leader.  A rank
 * whose location at a level is not known joins no part there.  It is considered
 * again at the next level, beside the parts.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/shapes/shape_private.h"

/* From the coarsest to the finest. */
static const enum esi_tree_level all_levels[] = {
    ES_TREE_LEVEL_CLUSTER,
    ES_TREE_LEVEL_HOST,
    ES_TREE_LEVEL_SOCKET,
    ES_TREE_LEVEL_CORE,
};

enum { LEVELS = sizeof all_levels / sizeof *all_levels };

/* A rank and the part that it belongs to at one level: ranks of a part are equal in
 * all three numbers.  {-1, -1, -1} = not known. */
struct item {
    int rank;
    int part[3];
};

struct builder {
    const struct esi_shape_input *input;
    int *parents;
    int levels[LEVELS]; /* those named, the coarsest first */
    int level_count;
    struct item *items; /* ranks; parts of a group are neighbours */
    int *leaders;       /* a stack: those to be joined, of each group that is open */
    int leader_count;
};

/* Neighbouring items. */
struct rank_slice {
    int from;
    int count;
};

static int compare_numbers(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_items(const void *a, const void *b)
{
    const struct item *one = a;
    const struct item *other = b;

    for (int i = 0; i < 3; i++)
        if (one->part[i] != other->part[i])
            return compare_numbers(one->part[i], other->part[i]);
    return compare_numbers(one->rank, other->rank);
}

static int compare_ranks(const void *a, const void *b)
{
    return compare_numbers(*(const int *)a, *(const int *)b);
}

static bool is_same_part(const struct item *a, const struct item *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1] &&
           a->part[2] == b->part[2];
}

/* Sockets and cores are numbered within their host.  The host is named with them, so
 * that they differ also where hosts are no level. */
static void set_part(struct item *item, const struct esi_location *location, int level)
{
    bool known = location->host >= 0;

    item->part[0] = location->host;
    item->part[1] = item->part[2] = 0;
    if (level == ES_TREE_LEVEL_CLUSTER) {
        known = location->cluster >= 0;
        item->part[0] = location->cluster;
    } else if (level == ES_TREE_LEVEL_SOCKET) {
        known = known && location->socket >= 0;
        item->part[1] = location->socket;
    } else if (level == ES_TREE_LEVEL_CORE) {
        known = known && location->core >= 0;
        item->part[1] = location->socket;
        item->part[2] = location->core;
    }
    if (!known)
        item->part[0] = item->part[1] = item->part[2] = -1;
}

static void sort_into_parts(struct builder *builder, struct rank_slice slice, int level)
{
    struct item *items = builder->items + slice.from;

    for (int i = 0; i < slice.count; i++)
        set_part(&items[i], &builder->input->locations[items[i].rank], level);
    qsort(items, (size_t)slice.count, sizeof *items, compare_items);
}

/* The first part of a sorted slice. */
static struct rank_slice first_part(const struct builder *builder,
                                    struct rank_slice slice)
{
    const struct item *items = builder->items + slice.from;
    int count = 1;

    while (count < slice.count && is_same_part(&items[0], &items[count]))
        count++;
    return (struct rank_slice){.from = slice.from, .count = count};
}

/* Who leads the group leads its part, too.  Of a cluster it is the first rank on its
 * gateway, if that is wanted and has one; otherwise the lowest. */
static int choose_leader(const struct builder *builder,
                         struct rank_slice part,
                         int level,
                         int above)
{
    const struct esi_shape_input *input = builder->input;
    const struct item *items = builder->items + part.from;
    bool by_gateway = level == ES_TREE_LEVEL_CLUSTER &&
                      (input->rule->levels & ES_TREE_LEVEL_GATEWAY) != 0;
    int chosen = -1;

    for (int i = 0; i < part.count; i++) {
        const struct esi_location *location = &input->locations[items[i].rank];

        if (items[i].rank == above)
            return above;
        if (by_gateway && chosen < 0 && location->gateway_host >= 0 &&
            location->gateway_host == location->host)
            chosen = items[i].rank;
    }
    return chosen >= 0 ? chosen : items[0].rank;
}

/* The leaders from `first` on hang below `leader`, one of them. */
static void set_parent(struct builder *builder, int first, int leader)
{
    int *row = builder->leaders + first;
    int count = builder->leader_count - first;
    int fan_out = builder->input->rule->fan_out;

    for (int i = 0; i < count; i++)
        if (row[i] == leader) {
            row[i] = row[0];
            row[0] = leader;
        }
    qsort(row + 1, (size_t)(count - 1), sizeof *row, compare_ranks);
    for (int i = 1; i < count; i++)
        builder->parents[row[i]] = fan_out > 0 ? row[(i - 1) / fan_out] : leader;
}

static void build_group(struct builder *builder,
                        struct rank_slice group,
                        int depth,
                        int leader);

/* Pushes the leaders of a group's parts at the levels from `depth` on; all but
 * `leader`'s own connections upward are left to the caller. */
static void split_group(struct builder *builder,
                        struct rank_slice group,
                        int depth,
                        int leader)
{
    if (depth == builder->level_count) {
        for (int i = 0; i < group.count; i++)
            builder->leaders[builder->leader_count++] =
                builder->items[group.from + i].rank;
        return;
    }
    sort_into_parts(builder, group, builder->levels[depth]);
    while (group.count > 0) {
        struct rank_slice part = first_part(builder, group);

        if (builder->items[part.from].part[0] < 0) {
            split_group(builder, part, depth + 1, leader);
        } else {
            int chosen = choose_leader(builder, part, builder->levels[depth], leader);

            build_group(builder, part, depth + 1, chosen);
            builder->leaders[builder->leader_count++] = chosen;
        }
        group.from += part.count;
        group.count -= part.count;
    }
}

static void build_group(struct builder *builder,
                        struct rank_slice group,
                        int depth,
                        int leader)
{
    int first = builder->leader_count;

    split_group(builder, group, depth, leader);
    set_parent(builder, first, leader);
    builder->leader_count = first;
}

int esi_shape_levels(const struct esi_shape_input *input, int *parents)
{
    struct builder builder = {.input = input, .parents = parents};
    size_t ranks = (size_t)input->size;
    int result = -ENOMEM;

    for (int i = 0; i < LEVELS && input->locations != NULL; i++)
        if ((input->rule->levels & all_levels[i]) != 0)
            builder.levels[builder.level_count++] = (int)all_levels[i];
    builder.items = calloc(ranks, sizeof *builder.items);
    /* A rank leads at most once at each level, and is once a leaf. */
    builder.leaders = calloc(ranks * (LEVELS + 1), sizeof *builder.leaders);
    if (builder.items != NULL && builder.leaders != NULL) {
        for (int rank = 0; rank < input->size; rank++)
            builder.items[rank].rank = rank;
        build_group(&builder, (struct rank_slice){.count = input->size}, 0,
                    input->root);
        parents[input->root] = -1;
        result = 0;
    }
    free(builder.leaders);
    free(builder.items);
    return result;
}
