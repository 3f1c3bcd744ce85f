/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show_dot.c - gather trees as graphs for graphviz. */
#include "config.h"

#include "scopes/show.h"

#include "base/plain.h"
#include "scopes/show_private.h"

static void print_node(FILE *stream, const struct esi_show *show, size_t index)
{
    const struct esi_show_node *node = &show->nodes[index];
    const struct esi_stage_row *row = &node->row;
    double share = esi_show_share(show, node);
    char text[ESI_SHOW_TEXT];

    fprintf(stream, "    n%zu [label=\"", index);
    esi_plain_write_quoted(stream, esi_show_type(node, text));
    if (!node->elements && row->label && *row->label) {
        fputs("\\n", stream);
        esi_plain_write_quoted(stream, row->label);
    }
    if (node->host) {
        fputs("\\non ", stream);
        esi_plain_write_quoted(stream, node->host);
    }
    if (row->calls && row->time_ns)
        fprintf(stream, "\\n%s a call",
                esi_show_duration(row->time_ns / row->calls, text));
    if (share > 0)
        fprintf(stream, "\\n%.0f %% of CPU", 100 * share);
    /* The hue of a flame, the stronger the more CPU time it takes. */
    fprintf(stream, "\", fillcolor=\"0.08 %.3f 1.000\"%s];\n", share,
            row->silent ? ", color=red, style=\"filled,dashed\"" : "");
}

static void print_edge(FILE *stream, const struct esi_show *show, size_t index)
{
    const struct esi_show_node *node = &show->nodes[index];
    double tuples = esi_show_per_pull(show, node->row.tuples);
    double bytes = esi_show_per_pull(show, node->row.bytes);
    char text[ESI_SHOW_TEXT];

    fprintf(stream, "    n%zu -> n%zu [label=\"%s tuple%s", node->parent, index,
            esi_show_number(tuples, text), tuples == 1 ? "" : "s");
    if (node->row.bytes)
        fprintf(stream, "\\n%s", esi_show_bytes(bytes, text));
    fputs("\"];\n", stream);
}

int esi_show_dot(FILE *stream,
                 const struct esi_stage_row *rows,
                 size_t count,
                 const struct esi_show_options *options)
{
    struct esi_show show;
    int result = esi_show_init(&show, rows, count, options);

    if (result < 0)
        return result;
    fputs("/* Edges: what one pull carries upward. */\n"
          "digraph scope {\n"
          "    rankdir=LR;\n"
          "    node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
          "    edge [dir=back, fontname=\"sans-serif\", fontsize=9];\n",
          stream);
    for (size_t i = 0; i < show.count; i++)
        print_node(stream, &show, i);
    for (size_t i = 1; i < show.count; i++)
        print_edge(stream, &show, i);
    fputs("}\n", stream);
    esi_show_fini(&show);
    return esi_show_end(stream);
}
