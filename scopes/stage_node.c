/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_node.c - creates the nodes of a plan, formats them, and opens them as
 * stages. */
#include "config.h"

#include "scopes/stage_node.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "scopes/remote/remote.h"

/* --- Nodes ------------------------------------------------------------------- */

struct esi_stage_node *esi_stage_node_create(const char *type, const char *host)
{
    struct esi_stage_node *node = calloc(1, sizeof *node);

    if (!node)
        return NULL;
    node->type = type;
    node->host = host;
    node->origin = ES_STAGE_NO_ORIGIN;
    return node;
}

void esi_stage_node_destroy(struct esi_stage_node *node)
{
    if (!node)
        return;
    for (size_t i = 0; i < node->child_count; i++)
        esi_stage_node_destroy(node->children[i]);
    for (size_t i = 0; i < node->property_count; i++)
        free(node->properties[i].value);
    free(node->children);
    free(node);
}

int esi_stage_node_add(struct esi_stage_node *node, struct esi_stage_node *child)
{
    if (!node || !child) {
        esi_stage_node_destroy(child);
        return -ENOMEM;
    }
    if (ESI_ARRAY_RESERVE(node->children, node->child_capacity, node->child_count + 1) <
        0) {
        esi_stage_node_destroy(child);
        return -ENOMEM;
    }
    node->children[node->child_count++] = child;
    return 0;
}

struct esi_stage_node *esi_stage_node_unwrap(struct esi_stage_node *node)
{
    struct esi_stage_node *child;

    if (node->child_count != 1 || node->children[0]->type == NULL ||
        strcmp(node->children[0]->type, "element") == 0)
        return node;
    child = node->children[0];
    node->child_count = 0;
    esi_stage_node_destroy(node);
    return child;
}

int esi_stage_node_set(struct esi_stage_node *node, const char *name, const char *value)
{
    struct esi_node_property *property;

    if (!node)
        return -ENOMEM;
    if (node->property_count == ES_NODE_PROPERTIES)
        return -ENOSPC;
    property = &node->properties[node->property_count];
    *property = (struct esi_node_property){.name = name, .value = strdup(value)};
    if (!property->value)
        return -ENOMEM;
    node->property_count++;
    return 0;
}

void esi_stage_node_set_number(struct esi_stage_node *node,
                               const char *name,
                               enum es_property_type type,
                               int64_t number)
{
    if (!node)
        return;
    assert(node->property_count < ES_NODE_PROPERTIES);
    node->properties[node->property_count++] = (struct esi_node_property){
        .name = name, .typed = {.type = type, .integer = number}};
}

size_t esi_stage_node_count(const struct esi_stage_node *node)
{
    size_t count = 1;

    for (size_t i = 0; i < node->child_count; i++)
        count += esi_stage_node_count(node->children[i]);
    return count;
}

/* --- As JSON ----------------------------------------------------------------- */

/* Returns true if the node is on another host than its parent. */
static bool is_elsewhere(const struct esi_stage_node *node, const char *here)
{
    return node->host && here && strcmp(node->host, here) != 0;
}

/* Numbers the origins of a tree that is sent. */
struct numbering {
    uint32_t (*origin_of)(void *data, uint32_t origin);
    void *data;
};

static void write_property(const struct esi_node_property *property,
                           struct esi_json_out *out)
{
    const struct es_property_value *typed = &property->typed;

    if (property->value)
        esi_json_out_string(out, property->name, property->value);
    else if (typed->type == ES_PROPERTY_BOOLEAN)
        esi_json_out_bool(out, property->name, typed->integer != 0);
    else
        esi_json_out_signed(out, property->name, typed->integer);
}

static void write_properties(const struct esi_stage_node *node,
                             struct esi_json_out *out)
{
    if (node->property_count == 0)
        return;
    esi_json_out_begin_object(out, "properties");
    for (size_t i = 0; i < node->property_count; i++)
        write_property(&node->properties[i], out);
    esi_json_out_end(out);
}

static void write_node(const struct esi_stage_node *node,
                       const struct numbering *numbering,
                       struct esi_json_out *out,
                       const char *key)
{
    esi_json_out_begin_object(out, key);
    esi_json_out_string(out, "type", node->type);
    esi_json_out_string(out, "label", node->label);
    if (node->host)
        esi_json_out_string(out, "host", node->host);
    if (node->origin != ES_STAGE_NO_ORIGIN)
        esi_json_out_unsigned(out, "origin",
                              numbering->origin_of(numbering->data, node->origin));
    if (node->ahead)
        esi_json_out_unsigned(out, "ahead", node->ahead);
    if (node->limit_ns)
        esi_json_out_unsigned(out, "limit", node->limit_ns);
    write_properties(node, out);
    if (node->child_count > 0) {
        esi_json_out_begin_array(out, "children");
        for (size_t i = 0; i < node->child_count; i++)
            write_node(node->children[i], numbering, out, NULL);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static int depth_of(const struct esi_stage_node *node)
{
    int deepest = 0;

    for (size_t i = 0; i < node->child_count; i++) {
        int depth = depth_of(node->children[i]);

        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

int esi_stage_node_write(const struct esi_stage_node *node,
                         uint32_t (*origin_of)(void *data, uint32_t origin),
                         void *data,
                         struct esi_json_out *out,
                         const char *key)
{
    struct numbering numbering = {origin_of, data};

    if (depth_of(node) > ES_NODE_DEPTH)
        return -E2BIG;
    write_node(node, &numbering, out, key);
    return 0;
}

/* The destination of a tree that is read. */
struct stage_node_reading {
    uint32_t origin_count;
    struct es_error *error;
    struct esi_stage_node *node; /* the node whose properties are being read */
};

const struct es_property_schema *esi_stage_property_find(const char *type,
                                                         const char *name)
{
    const struct es_stage_ops *ops = es_stage_find(type);

    for (size_t i = 0; ops && i < ops->property_count; i++)
        if (strcmp(ops->properties[i].name, name) == 0)
            return &ops->properties[i];
    return NULL;
}

/* Numbers have the type given by the stage's schema. */
static enum es_property_type type_of(const char *stage, const char *name)
{
    const struct es_property_schema *schema = esi_stage_property_find(stage, name);

    return schema ? schema->type : ES_PROPERTY_INTEGER;
}

static int read_property(void *data, const char *name, const struct es_member *value)
{
    struct stage_node_reading *reading = data;
    struct esi_stage_node *node = reading->node;
    const char *text = esi_member_as_text(value);
    int64_t number;

    if (node->property_count == ES_NODE_PROPERTIES)
        return es_error_set(reading->error, -EINVAL, "a stage with over %d properties",
                            ES_NODE_PROPERTIES);
    if (text)
        return esi_stage_node_set(node, name, text);
    if (!esi_member_number(value, &number))
        return es_error_set(reading->error, -EINVAL,
                            "property '%.40s' is not a text, number or boolean", name);
    esi_stage_node_set_number(node, name, type_of(node->type, name), number);
    return 0;
}

/* Reads a number; leaves it unchanged if it is missing. */
static int read_number(struct stage_node_reading *reading,
                       const struct es_member *member,
                       const char *name,
                       int64_t maximum,
                       int64_t *number)
{
    if (!esi_member_find(member, name))
        return 0;
    return esi_member_integer(member, name, 0, maximum, reading->error, number);
}

static int read_fields(struct stage_node_reading *reading,
                       const struct es_member *member)
{
    struct esi_stage_node *node = reading->node;
    int64_t origin = ES_STAGE_NO_ORIGIN, ahead = 0, limit = 0;
    int result = esi_member_text(member, "type", reading->error, &node->type);

    if (result == 0)
        result = read_number(reading, member, "origin",
                             (int64_t)reading->origin_count - 1, &origin);
    if (result == 0)
        result = read_number(reading, member, "ahead", INT32_MAX, &ahead);
    if (result == 0)
        result = read_number(reading, member, "limit", INT64_MAX, &limit);
    if (result < 0)
        return result;
    node->host = esi_member_text_or(member, "host", NULL);
    node->origin = (uint32_t)origin;
    node->ahead = (unsigned)ahead;
    node->limit_ns = (uint64_t)limit;
    snprintf(node->label, sizeof node->label, "%s",
             esi_member_text_or(member, "label", ""));
    return esi_member_foreach(esi_member_find(member, "properties"), read_property,
                              reading);
}

static int read_node(struct stage_node_reading *reading,
                     const struct es_member *member,
                     int depth,
                     struct esi_stage_node **ret_node)
{
    const struct es_member *children = esi_member_find(member, "children");
    struct esi_stage_node *node = esi_stage_node_create("", NULL);
    int result = node ? 0 : -ENOMEM;

    if (result == 0 && depth > ES_NODE_DEPTH)
        result = es_error_set(reading->error, -EINVAL,
                              "a tree of more than %d levels of stages", ES_NODE_DEPTH);
    reading->node = node;
    if (result == 0)
        result = read_fields(reading, member);
    for (size_t i = 0; i < esi_member_count(children) && result == 0; i++) {
        struct esi_stage_node *child = NULL;

        result = read_node(reading, esi_member_at(children, i), depth + 1, &child);
        if (result == 0)
            result = esi_stage_node_add(node, child);
    }
    if (result < 0) {
        esi_stage_node_destroy(node);
        return result;
    }
    *ret_node = node;
    return 0;
}

int esi_stage_node_read(const struct es_member *member,
                        uint32_t origin_count,
                        struct es_error *error,
                        struct esi_stage_node **ret_node)
{
    struct stage_node_reading reading = {.origin_count = origin_count, .error = error};

    return read_node(&reading, member, 1, ret_node);
}

/* --- As stages --------------------------------------------------------------- */

static void close_stages(struct es_stage **stages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        es_stage_close(stages[i]);
    free(stages);
}

/* Opens a node in this process, and the nodes below it. */
static int open_here(const struct esi_stage_node *node,
                     const char *here,
                     const struct es_stage_context *context,
                     struct es_error *error,
                     struct es_stage **ret_stage)
{
    struct es_property properties[ES_NODE_PROPERTIES];
    struct es_stage_spec spec = {.type = node->type,
                                 .properties = properties,
                                 .property_count = node->property_count,
                                 .child_count = node->child_count,
                                 .origin = node->origin,
                                 .label = node->label,
                                 .context = context};
    int result = 0;
    size_t opened = 0;

    spec.children = calloc(node->child_count + 1, sizeof(struct es_stage *));
    if (!spec.children)
        return -ENOMEM;
    for (; opened < node->child_count && result == 0; opened += result == 0)
        result = esi_stage_node_open(node->children[opened], here, context, error,
                                     &spec.children[opened]);
    for (size_t i = 0; i < node->property_count; i++)
        properties[i] = (struct es_property){
            .name = node->properties[i].name,
            .value = node->properties[i].value,
            .typed = node->properties[i].value ? NULL : &node->properties[i].typed};
    if (result == 0)
        result = es_stage_open(&spec, error, ret_stage);
    close_stages(spec.children, result < 0 ? opened : 0);
    return result;
}

int esi_stage_node_open(const struct esi_stage_node *node,
                        const char *here,
                        const struct es_stage_context *context,
                        struct es_error *error,
                        struct es_stage **ret_stage)
{
    if (is_elsewhere(node, here))
        return esi_remote_open(node, context, error, ret_stage);
    return open_here(node, here, context, error, ret_stage);
}
