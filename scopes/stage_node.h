/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The nodes of which plans of gather trees are made: one per stage that is to be.
 *
 * A node whose host is not that of its parent is opened there: the parent's process
 * gets a remote stage in its place, and the node with all below it travels as JSON to
 * the tuple server of its host, as a part (scopes/server/subtree.h).
 */
#ifndef ES_SCOPES_STAGE_NODE_H
#define ES_SCOPES_STAGE_NODE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json_out.h"
#include "eventspace/stage.h"
#include "pathmap/message.h"

enum { ES_NODE_PROPERTIES = 6 };

struct esi_node_property {
    const char *name; /* static, or the plan's text that the node was read from */
    char *value;      /* owned; NULL = typed */
    struct es_property_value typed; /* a number: text is made of it at the wire only */
};

/* One stage that is to be. */
struct esi_stage_node {
    const char *type; /* static, or of the stage registry */
    struct esi_node_property properties[ES_NODE_PROPERTIES];
    size_t property_count;
    const char *host; /* where it runs; NULL = with its parent (the root: in the
                         consumer); borrowed */
    uint32_t origin;  /* element stages: the origin, else ES_STAGE_NO_ORIGIN */
    char label[96];
    unsigned ahead;    /* of the remote stage that stands before this node where its */
    uint64_t limit_ns; /* host is not its parent's: pulls in flight beyond the one
                          awaited, and how long the server may take; 0 = default */
    struct esi_stage_node **children; /* owned */
    size_t child_count;
    size_t child_capacity;
};

/* NULL: no memory. */
struct esi_stage_node *esi_stage_node_create(const char *type, const char *host);
/* Accepts NULL. */
void esi_stage_node_destroy(struct esi_stage_node *node);

/* The next three take NULL for a node that could not be made: they fail, too, so that
 * who plans judges once.  Takes `child`, also on failure.  -ENOMEM. */
int esi_stage_node_add(struct esi_stage_node *node, struct esi_stage_node *child);
/* `name` is borrowed, `value` copied.  -ENOSPC: the node has ES_NODE_PROPERTIES
 * already; -ENOMEM. */
int esi_stage_node_set(struct esi_stage_node *node,
                       const char *name,
                       const char *value);
/* A number of that type; the caller knows that the node has room. */
void esi_stage_node_set_number(struct esi_stage_node *node,
                               const char *name,
                               enum es_property_type type,
                               int64_t number);

/* What the type of a stage says of a property; NULL: it has none of that name, or there
 * is no such type. */
const struct es_property_schema *esi_stage_property_find(const char *type,
                                                         const char *name);

/* Writes " NAME=VALUE". */
void esi_node_property_print(const struct esi_node_property *property, FILE *out);

/* Stages in the tree. */
size_t esi_stage_node_count(const struct esi_stage_node *node);

/* One line a stage, indented by depth: "gather \"host a\"", with "@HOST" behind it
 * where the host is another than the parent's.  Caller frees *ret_text. */
int esi_stage_node_format(const struct esi_stage_node *root, char **ret_text);

enum { ES_NODE_DEPTH = 48 }; /* of a tree that is to travel */

/* Writes the tree as a member of an object: {"type":, "label":, "host":, "origin":,
 * "ahead":, "limit":, "properties": {...}, "children": [...]}; what is not set is left
 * out.  `origin_of` returns the number of an element's origin over there.  -E2BIG:
 * deeper than ES_NODE_DEPTH. */
int esi_stage_node_write(const struct esi_stage_node *node,
                         uint32_t (*origin_of)(void *data, uint32_t origin),
                         void *data,
                         struct esi_json_out *out,
                         const char *key);

/* Reads such a tree; its texts are borrowed from the message.  Origins are to be below
 * `origin_count`.  -EINVAL with words. */
int esi_stage_node_read(const struct es_member *member,
                        uint32_t origin_count,
                        struct es_error *error,
                        struct esi_stage_node **ret_node);

/* Opens the tree, of which the root stands on `here` (NULL: all of it in this process).
 * Where a node stands on another host, a remote stage is opened in its place; with
 * `here` "" that is so for every node that has a host. */
int esi_stage_node_open(const struct esi_stage_node *node,
                        const char *here,
                        const struct es_stage_context *context,
                        struct es_error *error,
                        struct es_stage **ret_stage);

#endif
