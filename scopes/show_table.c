/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show_table.c - gather trees as a table for people, and as JSON Lines. */
#include "config.h"

#include "scopes/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/table.h"
#include "scopes/show_private.h"

enum { DEPTH_MAX = 40 }; /* deeper stages are drawn no further to the right */

/* --- Columns ------------------------------------------------------------------ */

/* One cell as text; `drawing` is the tree's left of the first column. */
struct cell {
    const struct esi_show *show;
    const struct esi_show_node *node;
    const char *drawing;
    char *out;
    size_t size;
};

typedef void (*cell_fn)(struct cell *cell);

static void write_text(struct cell *cell, const char *text)
{
    snprintf(cell->out, cell->size, "%s", text ? text : "");
}

static void write_count(struct cell *cell, uint64_t count)
{
    snprintf(cell->out, cell->size, "%" PRIu64, count);
}

static void write_stage(struct cell *cell)
{
    char type[ESI_SHOW_TEXT];

    snprintf(cell->out, cell->size, "%s%s", cell->drawing,
             esi_show_type(cell->node, type));
}

static void write_label(struct cell *cell)
{
    write_text(cell, cell->node->elements ? "" : cell->node->row.label);
}

static void write_host(struct cell *cell)
{
    write_text(cell, cell->node->host);
}

static void write_calls(struct cell *cell)
{
    write_count(cell, cell->node->row.calls);
}

static void write_time(struct cell *cell)
{
    char text[ESI_SHOW_TEXT];

    write_text(cell, esi_show_duration(cell->node->row.time_ns, text));
}

static void write_per_call(struct cell *cell)
{
    const struct esi_stage_row *row = &cell->node->row;
    char text[ESI_SHOW_TEXT];

    write_text(cell,
               esi_show_duration(row->calls ? row->time_ns / row->calls : 0, text));
}

static void write_cpu(struct cell *cell)
{
    char text[ESI_SHOW_TEXT];

    write_text(cell, esi_show_duration(cell->node->own_cpu_ns, text));
}

static void write_share(struct cell *cell)
{
    snprintf(cell->out, cell->size, "%.0f %%",
             100 * esi_show_share(cell->show, cell->node));
}

static void write_tuples(struct cell *cell)
{
    write_count(cell, cell->node->row.tuples);
}

static void write_bytes(struct cell *cell)
{
    char text[ESI_SHOW_TEXT];

    write_text(cell, esi_show_bytes((double)cell->node->row.bytes, text));
}

static void write_lost(struct cell *cell)
{
    write_count(cell, cell->node->row.lost);
}

static void write_late(struct cell *cell)
{
    write_count(cell, cell->node->row.late);
}

static void write_failures(struct cell *cell)
{
    write_count(cell, cell->node->row.failures);
}

static void write_state(struct cell *cell)
{
    write_text(cell, cell->node->row.silent ? "does not answer" : "");
}

/* Columns that may be empty all down are shown only where they are not. */
enum optional {
    ALWAYS,
    IF_HOST,
    IF_TIME,
    IF_CPU,
    IF_BYTES,
    IF_LOST,
    IF_LATE,
    IF_FAILED,
    IF_SILENT
};

static const struct {
    struct esi_text_table_column column;
    cell_fn write;
    enum optional optional;
} columns[] = {
    {{"STAGE", ES_TABLE_LEFT, 16}, write_stage, ALWAYS},
    {{"PART", ES_TABLE_LEFT, 10}, write_label, ALWAYS},
    {{"HOST", ES_TABLE_LEFT, 4}, write_host, IF_HOST},
    {{"CALLS", ES_TABLE_RIGHT, 0}, write_calls, ALWAYS},
    {{"TUPLES", ES_TABLE_RIGHT, 0}, write_tuples, ALWAYS},
    {{"BYTES", ES_TABLE_RIGHT, 0}, write_bytes, IF_BYTES},
    {{"TIME", ES_TABLE_RIGHT, 0}, write_time, IF_TIME},
    {{"PER CALL", ES_TABLE_RIGHT, 0}, write_per_call, IF_TIME},
    {{"OWN CPU", ES_TABLE_RIGHT, 0}, write_cpu, IF_CPU},
    {{"SHARE", ES_TABLE_RIGHT, 0}, write_share, IF_CPU},
    {{"LOST", ES_TABLE_RIGHT, 0}, write_lost, IF_LOST},
    {{"LATE", ES_TABLE_RIGHT, 0}, write_late, IF_LATE},
    {{"FAILED", ES_TABLE_RIGHT, 0}, write_failures, IF_FAILED},
    {{"STATE", ES_TABLE_LEFT, 8}, write_state, IF_SILENT},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool node_has(const struct esi_show_node *node, enum optional what)
{
    const struct esi_stage_row *row = &node->row;

    switch (what) {
    case IF_HOST:
        return node->host != NULL;
    case IF_TIME:
        return row->time_ns > 0;
    case IF_CPU:
        return node->own_cpu_ns > 0;
    case IF_BYTES:
        return row->bytes > 0;
    case IF_LOST:
        return row->lost > 0;
    case IF_LATE:
        return row->late > 0;
    case IF_FAILED:
        return row->failures > 0;
    case IF_SILENT:
        return row->silent;
    case ALWAYS:
        break;
    }
    return true;
}

static bool tree_has(const struct esi_show *show, enum optional what)
{
    for (size_t i = 0; i < show->count; i++)
        if (node_has(&show->nodes[i], what))
            return true;
    return false;
}

/* --- The tree's drawing ------------------------------------------------------- */

struct pen {
    const char *branch;
    const char *last;
    const char *pass;
    const char *blank;
};

static const struct pen pens[] = {
    {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   "},
    {"|- ", "`- ", "|  ", "   "},
};

/* What stands left of a node: from the root down, whether more is to come below each of
 * its ancestors. */
static void show_table_draw(const struct esi_show *show,
                            const struct esi_show_node *node,
                            const struct pen *pen,
                            char *out,
                            size_t size)
{
    const char *parts[DEPTH_MAX];
    size_t count = 0;
    size_t length = 0;

    out[0] = '\0';
    if (node->parent == ESI_SHOW_NO_PARENT)
        return;
    parts[count++] = node->is_last ? pen->last : pen->branch;
    for (node = &show->nodes[node->parent];
         node->parent != ESI_SHOW_NO_PARENT && count < DEPTH_MAX;
         node = &show->nodes[node->parent])
        parts[count++] = node->is_last ? pen->blank : pen->pass;
    while (count-- > 0 && length < size)
        length += (size_t)snprintf(out + length, size - length, "%s", parts[count]);
}

/* --- The table ---------------------------------------------------------------- */

static void add_line(struct es_table *table,
                     const struct esi_show *show,
                     const struct esi_show_node *node,
                     const struct pen *pen,
                     const size_t *chosen,
                     size_t chosen_count)
{
    char drawing[8 * DEPTH_MAX];
    char text[8 * DEPTH_MAX + 128];
    struct cell cell = {.show = show,
                        .node = node,
                        .drawing = drawing,
                        .out = text,
                        .size = sizeof text};

    show_table_draw(show, node, pen, drawing, sizeof drawing);
    for (size_t i = 0; i < chosen_count; i++) {
        columns[chosen[i]].write(&cell);
        esi_text_table_cell(table, "%s", text);
    }
}

static int print_tree(FILE *stream,
                      const struct esi_show *show,
                      const struct esi_show_options *options)
{
    struct esi_text_table_column shown[COLUMNS];
    size_t chosen[COLUMNS];
    size_t count = 0;
    const struct pen *pen = &pens[options && options->ascii];
    struct es_table *table;
    int result;

    for (size_t i = 0; i < COLUMNS; i++)
        if (tree_has(show, columns[i].optional)) {
            shown[count] = columns[i].column;
            chosen[count++] = i;
        }
    result = esi_text_table_create(shown, count, &table);
    if (result < 0)
        return result;
    for (size_t i = 0; i < show->count; i++)
        add_line(table, show, &show->nodes[i], pen, chosen, count);
    result = esi_text_table_print(table, stream, options ? options->width : 0);
    esi_text_table_destroy(table);
    return result ? result : esi_show_end(stream);
}

int esi_show_table(FILE *stream,
                   const struct esi_stage_row *rows,
                   size_t count,
                   const struct esi_show_options *options)
{
    struct esi_show show;
    int result = esi_show_init(&show, rows, count, options);

    if (result < 0)
        return result;
    result = print_tree(stream, &show, options);
    esi_show_fini(&show);
    return result;
}

/* --- JSON --------------------------------------------------------------------- */

static void write_costs(struct esi_json_out *out, const struct esi_show_node *node)
{
    const struct esi_stage_row *row = &node->row;

    esi_json_out_unsigned(out, "calls", row->calls);
    esi_json_out_unsigned(out, "tuples", row->tuples);
    esi_json_out_unsigned(out, "bytes", row->bytes);
    esi_json_out_unsigned(out, "lost", row->lost);
    esi_json_out_unsigned(out, "late", row->late);
    esi_json_out_unsigned(out, "failures", row->failures);
    esi_json_out_unsigned(out, "time_ns", row->time_ns);
    esi_json_out_unsigned(out, "own_time_ns", node->own_time_ns);
    esi_json_out_unsigned(out, "cpu_ns", row->cpu_ns);
    esi_json_out_unsigned(out, "own_cpu_ns", node->own_cpu_ns);
    esi_json_out_bool(out, "silent", row->silent);
}

static void write_object(struct esi_json_out *out,
                         const struct esi_show *show,
                         size_t index)
{
    const struct esi_show_node *node = &show->nodes[index];

    esi_json_out_begin_object(out, NULL);
    esi_json_out_unsigned(out, "stage", index);
    if (node->parent == ESI_SHOW_NO_PARENT)
        esi_json_out_null(out, "parent");
    else
        esi_json_out_unsigned(out, "parent", node->parent);
    esi_json_out_signed(out, "depth", node->row.depth);
    esi_json_out_string(out, "type", node->elements ? "elements" : node->row.type);
    if (node->elements)
        esi_json_out_unsigned(out, "elements", node->elements);
    else
        esi_json_out_string(out, "label", node->row.label);
    esi_json_out_string(out, "host", node->host);
    write_costs(out, node);
    esi_json_out_end(out);
}

int esi_show_json(FILE *stream,
                  const struct esi_stage_row *rows,
                  size_t count,
                  const struct esi_show_options *options)
{
    struct esi_json_out out;
    struct esi_show show;
    int result = esi_show_init(&show, rows, count, options);

    if (result < 0)
        return result;
    esi_json_out_init(&out, stream);
    for (size_t i = 0; i < show.count; i++)
        write_object(&out, &show, i);
    esi_show_fini(&show);
    return esi_show_end(stream);
}
