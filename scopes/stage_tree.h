/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Plans of gather trees: which stages stand where, computed from a view's elements and
 * a shape.
 *
 * Pure logic: a plan is made from values and made of values.  Who opens it decides what
 * becomes of `host`: on one host all stages are opened in the consumer's process.
 */
#ifndef ES_SCOPES_STAGE_TREE_H
#define ES_SCOPES_STAGE_TREE_H

#include <stddef.h>

#include "eventspace/scope.h"
#include "eventspace/stage.h"

enum { ES_NODE_PROPERTIES = 4 };

struct es_node_property {
    const char *name; /* static */
    char *value;      /* owned */
};

/* One stage that is to be. */
struct es_stage_node {
    const char *type; /* static */
    struct es_node_property properties[ES_NODE_PROPERTIES];
    size_t property_count;
    const char *
        host; /* where its elements lie; NULL = on several; borrowed from the origins */
    uint32_t origin; /* element stages: the origin, else ES_STAGE_NO_ORIGIN */
    char label[96];
    struct es_stage_node **children; /* owned */
    size_t child_count;
    size_t child_capacity;
};

/* Computes the tree for these origins.  `view_filter` is the condition that the view
 * puts on tuples, NULL = none (see esi_view_filter()).  O(n log n).  -ENOMEM.  Free
 * with es_stage_node_destroy(). */
int es_stage_tree_plan(const struct es_origin *origins,
                       size_t count,
                       const struct es_scope_config *config,
                       const char *view_filter,
                       struct es_stage_node **ret_root);

/* Accepts NULL. */
void es_stage_node_destroy(struct es_stage_node *node);

/* Stages in the tree. */
size_t es_stage_node_count(const struct es_stage_node *node);

/* One line a stage, indented by depth: "gather host=a \"host a\"".  Caller frees
 * *ret_text. */
int es_stage_node_format(const struct es_stage_node *root, char **ret_text);

/* Opens the tree in this process. */
int es_stage_node_open(const struct es_stage_node *node,
                       const struct es_stage_context *context,
                       struct es_error *error,
                       struct es_stage **ret_stage);

#endif
