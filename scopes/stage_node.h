/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The nodes of plans of gather trees, one per planned stage.
 *
 * A node on another host than its parent is opened there: in the parent's process, it
 * is replaced by a remote stage, and the node with its subtree is sent as JSON to the
 * tuple server of its host (scopes/server/subtree.h).
 */
#ifndef ES_SCOPES_STAGE_NODE_H
#define ES_SCOPES_STAGE_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/stage.h"
#include "pathmap/message.h"

enum { ES_NODE_PROPERTIES = 6 };

struct esi_node_property {
    const char *name; /* static, or in the text from which the node was read */
    char *value;      /* owned; NULL if `typed` is used */
    struct es_property_value typed; /* a number, formatted only when it is sent */
};

/* A planned stage. */
struct esi_stage_node {
    const char *type; /* static, or of the stage registry */
    struct esi_node_property properties[ES_NODE_PROPERTIES];
    size_t property_count;
    const char *host; /* where it runs; NULL for that of its parent (the root: that
                         of the consumer); borrowed */
    uint32_t origin;  /* of element stages, otherwise ES_STAGE_NO_ORIGIN */
    char label[96];
    /* For the remote stage above this node if its host differs from its parent's: pulls
     * in flight beyond the awaited one, and time limit of the server; 0: defaults. */
    unsigned ahead;
    uint64_t limit_ns;
    struct esi_stage_node **children; /* owned */
    size_t child_count;
    size_t child_capacity;
};

/* Creates a node.  Returns NULL if out of memory. */
struct esi_stage_node *esi_stage_node_create(const char *type, const char *host);
/* Destroys the node and its children.  Accepts NULL. */
void esi_stage_node_destroy(struct esi_stage_node *node);

/* Destroys the node and returns its only child; returns the node if it has another
 * number of children, or if the child is an element. */
struct esi_stage_node *esi_stage_node_unwrap(struct esi_stage_node *node);

/* The next three functions fail if `node` or `child` is NULL, so that planning code can
 * check for errors once.  This one takes ownership of `child`, even on failure.
 * Returns 0 or -ENOMEM. */
int esi_stage_node_add(struct esi_stage_node *node, struct esi_stage_node *child);
/* `name` is borrowed, `value` copied.  Returns 0; -ENOSPC if the node already has
 * ES_NODE_PROPERTIES; or -ENOMEM. */
int esi_stage_node_set(struct esi_stage_node *node,
                       const char *name,
                       const char *value);
/* Sets a numeric property of that type.  Requires room in the node. */
void esi_stage_node_set_number(struct esi_stage_node *node,
                               const char *name,
                               enum es_property_type type,
                               int64_t number);

/* The schema of a property of a stage type; NULL if there is no such property or
 * type. */
const struct es_property_schema *esi_stage_property_find(const char *type,
                                                         const char *name);

/* Number of stages in the tree. */
size_t esi_stage_node_count(const struct esi_stage_node *node);

enum { ES_NODE_DEPTH = 48 }; /* of a tree that is sent */

/* Writes the tree as a member of an object: {"type":, "label":, "host":, "origin":,
 * "ahead":, "limit":, "properties": {...}, "children": [...]}, without members that are
 * not set.  `origin_of` returns the number of an element's origin at the receiver.
 * Returns -E2BIG if the tree is deeper than ES_NODE_DEPTH. */
int esi_stage_node_write(const struct esi_stage_node *node,
                         uint32_t (*origin_of)(void *data, uint32_t origin),
                         void *data,
                         struct esi_json_out *out,
                         const char *key);

/* Reads such a tree; its texts are borrowed from the message.  Origins must be below
 * `origin_count`.  Returns 0, or -EINVAL with a text. */
int esi_stage_node_read(const struct es_member *member,
                        uint32_t origin_count,
                        struct es_error *error,
                        struct esi_stage_node **ret_node);

/* Opens the tree, whose root is on `here` (NULL: all of it in this process).  For nodes
 * on other hosts, a remote stage is opened instead; if `here` is "", for all nodes that
 * have a host. */
int esi_stage_node_open(const struct esi_stage_node *node,
                        const char *here,
                        const struct es_stage_context *context,
                        struct es_error *error,
                        struct es_stage **ret_stage);

#endif
