/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_text.c - the plan of a tree as text. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/scopes/node_text.h"

void node_property_print(const struct esi_node_property *property, FILE *out)
{
    const struct es_property_value *typed = &property->typed;

    if (property->value)
        fprintf(out, " %s=%s", property->name, property->value);
    else if (typed->type == ES_PROPERTY_BOOLEAN)
        fprintf(out, " %s=%s", property->name, typed->integer ? "yes" : "no");
    else
        fprintf(out, " %s=%" PRId64 "%s", property->name, typed->integer,
                typed->type == ES_PROPERTY_DURATION ? "ns" : "");
}

static void print_node(const struct esi_stage_node *node,
                       const char *here,
                       int depth,
                       FILE *out)
{
    fprintf(out, "%*s%s", depth * 2, "", node->type);
    for (size_t i = 0; i < node->property_count; i++)
        node_property_print(&node->properties[i], out);
    fprintf(out, " \"%s\"", node->label);
    if (node->host && (!here || strcmp(node->host, here) != 0))
        fprintf(out, " @%s", node->host);
    fputs("\n", out);
    for (size_t i = 0; i < node->child_count; i++)
        print_node(node->children[i], node->host ? node->host : here, depth + 1, out);
}

char *node_text(const struct esi_stage_node *root)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    print_node(root, NULL, 0, out);
    assert_int_equal(fclose(out), 0);
    return text;
}
