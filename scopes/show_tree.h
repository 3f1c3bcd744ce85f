/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show_tree.h - prepares a gather tree for output, and formats numbers. */
#ifndef ES_SCOPES_SHOW_TREE_H
#define ES_SCOPES_SHOW_TREE_H

#include "scopes/show.h"

#define ESI_SHOW_NO_PARENT SIZE_MAX

/* One line or box: a stage, or several folded elements. */
struct esi_show_node {
    struct esi_stage_row row; /* sums if folded; texts borrowed */
    size_t parent;            /* index, less than its own */
    size_t elements;          /* number of folded elements; 0 for one stage */
    size_t child_count;
    bool is_last;     /* of its parent's children */
    const char *host; /* set even if the row has none; NULL if not known */
    uint64_t own_time_ns;
    uint64_t own_cpu_ns; /* excluding children */
};

struct esi_show {
    struct esi_show_node *nodes;
    size_t count;
    uint64_t pulls;  /* of the root */
    uint64_t cpu_ns; /* of all stages */
};

/* Creates the tree of rows, folding elements.  Returns -EINVAL if the depths do not
 * form a tree. */
int esi_show_init(struct esi_show *show,
                  const struct esi_stage_row *rows,
                  size_t count,
                  const struct esi_show_options *options);
void esi_show_fini(struct esi_show *show);

/* Share of a node in the CPU time of the whole tree, 0 to 1. */
double esi_show_share(const struct esi_show *show, const struct esi_show_node *node);
/* Tuples, or bytes, that pass through the stage per pull of the root. */
double esi_show_per_pull(const struct esi_show *show, uint64_t amount);

enum { ESI_SHOW_TEXT = 32 };

/* "gather", or "14 elements". */
const char *esi_show_type(const struct esi_show_node *node, char out[ESI_SHOW_TEXT]);
/* "12.3 us", "" for 0. */
const char *esi_show_duration(uint64_t ns, char out[ESI_SHOW_TEXT]);
/* "1.50 KiB", "" for 0. */
const char *esi_show_bytes(double bytes, char out[ESI_SHOW_TEXT]);

#endif
