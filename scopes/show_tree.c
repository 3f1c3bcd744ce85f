/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show_tree.c - prepares gather trees for output: parents, each stage's own costs, and
 * elements folded into one where there are many. */
#include "config.h"

#include "scopes/show_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

enum { FOLD = 4 };

/* --- The tree ----------------------------------------------------------------- */

static bool is_element(const struct esi_stage_row *row)
{
    return strcmp(row->type, "element") == 0;
}

static int check_depths(const struct esi_stage_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int most = i ? rows[i - 1].depth + 1 : 0;

        if (rows[i].depth < (i ? 1 : 0) || rows[i].depth > most)
            return -EINVAL;
    }
    return 0;
}

/* Adds the costs of one of several elements to their common row. */
static void add_row(struct esi_stage_row *sum, const struct esi_stage_row *row)
{
    if (row->calls > sum->calls)
        sum->calls = row->calls;
    sum->tuples += row->tuples;
    sum->failures += row->failures;
    sum->bytes += row->bytes;
    sum->lost += row->lost;
    sum->late += row->late;
    sum->time_ns += row->time_ns;
    sum->cpu_ns += row->cpu_ns;
    sum->silent = sum->silent || row->silent;
}

/* State per depth while rows are converted to nodes: the parent of the next row at this
 * depth plus one, and the node into which its elements are folded. */
struct show_level {
    size_t node;
    size_t elements; /* number of its children that are elements */
    size_t folded;   /* node; ESI_SHOW_NO_PARENT if none yet */
};

/* Counts the elements below each stage, in counts[] at the index of the stage's row. */
static void count_elements(const struct esi_stage_row *rows,
                           size_t count,
                           struct show_level *levels,
                           size_t *counts)
{
    for (size_t i = 0; i < count; i++) {
        levels[rows[i].depth].node = i;
        if (i && is_element(&rows[i]))
            counts[levels[rows[i].depth - 1].node]++;
    }
}

/* Returns true if the row was added to an existing row of folded elements. */
static bool show_fold(struct esi_show *show,
                      const struct esi_stage_row *row,
                      const struct show_level *parent)
{
    if (parent->folded == ESI_SHOW_NO_PARENT)
        return false;
    add_row(&show->nodes[parent->folded].row, row);
    show->nodes[parent->folded].elements++;
    return true;
}

static void add_node(struct esi_show *show,
                     const struct esi_stage_row *row,
                     const struct show_level *parent)
{
    struct esi_show_node *node = &show->nodes[show->count++];
    struct esi_show_node *above = parent ? &show->nodes[parent->node] : NULL;

    *node = (struct esi_show_node){.row = *row,
                                   .parent = parent ? parent->node : ESI_SHOW_NO_PARENT,
                                   .host = row->host && *row->host ? row->host : NULL};
    if (!above)
        return;
    if (!node->host)
        node->host = above->host;
}

static void make_nodes(struct esi_show *show,
                       const struct esi_stage_row *rows,
                       size_t count,
                       size_t limit,
                       struct show_level *levels,
                       const size_t *counts)
{
    for (size_t i = 0; i < count; i++) {
        const struct esi_stage_row *row = &rows[i];
        struct show_level *parent = i ? &levels[row->depth - 1] : NULL;
        bool folds = parent && is_element(row) && parent->elements > limit;

        if (folds && show_fold(show, row, parent))
            continue;
        add_node(show, row, parent);
        if (folds) {
            parent->folded = show->count - 1;
            show->nodes[parent->folded].elements = 1;
        }
        levels[row->depth] = (struct show_level){.node = show->count - 1,
                                                 .elements = counts[i],
                                                 .folded = ESI_SHOW_NO_PARENT};
    }
}

/* The children of these two types run elsewhere: their time is not part of the parent's
 * CPU time. */
static bool has_own_cpu(const struct esi_stage_row *row)
{
    return strcmp(row->type, "remote") == 0 || strcmp(row->type, "threads") == 0;
}

static uint64_t show_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Marks last children and subtracts the costs of children from their parents, from the
 * end of the list.  Times are estimates, so children may seem to have used more than
 * their parent. */
static void count_children(struct esi_show *show)
{
    for (size_t i = 0; i < show->count; i++) {
        struct esi_show_node *node = &show->nodes[i];

        node->own_time_ns = node->row.time_ns;
        node->own_cpu_ns = node->row.cpu_ns;
    }
    for (size_t i = show->count; i-- > 1;) {
        struct esi_show_node *node = &show->nodes[i];
        struct esi_show_node *parent = &show->nodes[node->parent];

        node->is_last = parent->child_count++ == 0;
        parent->own_time_ns = show_less(parent->own_time_ns, node->row.time_ns);
        if (!has_own_cpu(&parent->row))
            parent->own_cpu_ns = show_less(parent->own_cpu_ns, node->row.cpu_ns);
    }
    for (size_t i = 0; i < show->count; i++)
        show->cpu_ns += show->nodes[i].own_cpu_ns;
}

static size_t fold_limit(const struct esi_show_options *options)
{
    if (options && options->all)
        return SIZE_MAX;
    return options && options->fold ? options->fold : FOLD;
}

int esi_show_init(struct esi_show *show,
                  const struct esi_stage_row *rows,
                  size_t count,
                  const struct esi_show_options *options)
{
    struct show_level *levels = calloc(count + 1, sizeof *levels);
    size_t *counts = calloc(count + 1, sizeof *counts);
    int result = check_depths(rows, count);

    *show = (struct esi_show){.nodes = calloc(count + 1, sizeof *show->nodes)};
    if (result == 0 && (!levels || !counts || !show->nodes))
        result = -ENOMEM;
    if (result == 0) {
        count_elements(rows, count, levels, counts);
        make_nodes(show, rows, count, fold_limit(options), levels, counts);
        count_children(show);
        show->pulls = count ? rows[0].calls : 0;
    }
    free(counts);
    free(levels);
    if (result < 0)
        esi_show_fini(show);
    return result;
}

void esi_show_fini(struct esi_show *show)
{
    free(show->nodes);
    show->nodes = NULL;
}

double esi_show_share(const struct esi_show *show, const struct esi_show_node *node)
{
    return show->cpu_ns ? (double)node->own_cpu_ns / (double)show->cpu_ns : 0;
}

double esi_show_per_pull(const struct esi_show *show, uint64_t amount)
{
    return show->pulls ? (double)amount / (double)show->pulls : 0;
}

/* --- Texts -------------------------------------------------------------------- */

const char *esi_show_type(const struct esi_show_node *node, char out[ESI_SHOW_TEXT])
{
    if (node->elements)
        snprintf(out, ESI_SHOW_TEXT, "%zu elements", node->elements);
    else
        snprintf(out, ESI_SHOW_TEXT, "%s", node->row.type);
    return out;
}

const char *esi_show_duration(uint64_t ns, char out[ESI_SHOW_TEXT])
{
    out[0] = '\0';
    return ns ? esi_quantity_time(out, ESI_SHOW_TEXT, (double)ns) : out;
}

const char *esi_show_bytes(double bytes, char out[ESI_SHOW_TEXT])
{
    out[0] = '\0';
    return bytes > 0 ? esi_quantity_bytes(out, ESI_SHOW_TEXT, bytes) : out;
}
