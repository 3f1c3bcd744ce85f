/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_node.c - the nodes of a plan: made, shown, and opened as stages. */
#include "config.h"

#include "scopes/stage_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Nodes ------------------------------------------------------------------- */

struct es_stage_node *es_stage_node_create(const char *type, const char *host)
{
    struct es_stage_node *node = calloc(1, sizeof *node);

    if (!node)
        return NULL;
    node->type = type;
    node->host = host;
    node->origin = ES_STAGE_NO_ORIGIN;
    return node;
}

void es_stage_node_destroy(struct es_stage_node *node)
{
    if (!node)
        return;
    for (size_t i = 0; i < node->child_count; i++)
        es_stage_node_destroy(node->children[i]);
    for (size_t i = 0; i < node->property_count; i++)
        free(node->properties[i].value);
    free(node->children);
    free(node);
}

/* Takes `child`, also on failure; NULL counts as one. */
int es_stage_node_add(struct es_stage_node *node, struct es_stage_node *child)
{
    if (!child)
        return -ENOMEM;
    if (node->child_count == node->child_capacity) {
        size_t capacity = node->child_capacity ? node->child_capacity * 2 : 4;
        struct es_stage_node **children =
            realloc(node->children, capacity * sizeof(struct es_stage_node *));

        if (!children) {
            es_stage_node_destroy(child);
            return -ENOMEM;
        }
        node->children = children;
        node->child_capacity = capacity;
    }
    node->children[node->child_count++] = child;
    return 0;
}

int es_stage_node_set(struct es_stage_node *node, const char *name, const char *value)
{
    struct es_node_property *property = &node->properties[node->property_count];

    property->name = name;
    property->value = strdup(value);
    if (!property->value)
        return -ENOMEM;
    node->property_count++;
    return 0;
}

size_t es_stage_node_count(const struct es_stage_node *node)
{
    size_t count = 1;

    for (size_t i = 0; i < node->child_count; i++)
        count += es_stage_node_count(node->children[i]);
    return count;
}

/* --- As text, and as stages -------------------------------------------------- */

static void print_node(const struct es_stage_node *node, int depth, FILE *out)
{
    fprintf(out, "%*s%s", depth * 2, "", node->type);
    for (size_t i = 0; i < node->property_count; i++)
        fprintf(out, " %s=%s", node->properties[i].name, node->properties[i].value);
    fprintf(out, " \"%s\"\n", node->label);
    for (size_t i = 0; i < node->child_count; i++)
        print_node(node->children[i], depth + 1, out);
}

int es_stage_node_format(const struct es_stage_node *root, char **ret_text)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return -errno;
    print_node(root, 0, out);
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}

static void close_stages(struct es_stage **stages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        es_stage_close(stages[i]);
    free(stages);
}

int es_stage_node_open(const struct es_stage_node *node,
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
        result = es_stage_node_open(node->children[opened], here, context, error,
                                    &spec.children[opened]);
    for (size_t i = 0; i < node->property_count; i++)
        properties[i] = (struct es_property){.name = node->properties[i].name,
                                             .value = node->properties[i].value};
    if (result == 0)
        result = es_stage_open(&spec, error, ret_stage);
    close_stages(spec.children, result < 0 ? opened : 0);
    return result;
}
