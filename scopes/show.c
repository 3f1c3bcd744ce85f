/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show.c - prints gather trees as a table, as JSON Lines, as graphs for graphviz, and
 * as pictures. */
#include "config.h"

#include "scopes/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "scopes/show_tree.h"

enum { DEPTH_MAX = 40 }; /* deeper stages are not indented further */

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

/* Draws the lines to the left of a node: for each ancestor, from the root down, whether
 * it has more children below. */
static void draw_branches(const struct esi_show *show,
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

/* --- Rows --------------------------------------------------------------------- */

/* A row of the table, and an object of JSON. */
struct stage_record {
    const struct esi_show *show;
    const struct esi_show_node *node;
    const struct esi_show_node *any; /* values that occur in any node: columns empty
                                        in all rows are omitted */
    const char *drawing;             /* the tree's lines left of the first column */
};

static void describe_sum(struct esi_row *row,
                         const char *heading,
                         uint64_t any,
                         uint64_t number)
{
    esi_row_unsigned(row, NULL, any ? heading : NULL, number);
}

static void describe_duration(struct esi_row *row,
                              const char *heading,
                              uint64_t any,
                              uint64_t duration_ns)
{
    char text[ESI_SHOW_TEXT];

    esi_row_quantity(row, any ? heading : NULL, "%s",
                     esi_show_duration(duration_ns, text));
}

static void describe_place(struct esi_row *row, const struct stage_record *record)
{
    const struct esi_show_node *node = record->node;
    bool is_root = node->parent == ESI_SHOW_NO_PARENT;
    const char *label = node->elements ? NULL : node->row.label;
    char text[ESI_SHOW_TEXT];

    esi_row_words(row, "STAGE", 16, "%s%s", record->drawing, esi_show_type(node, text));
    esi_row_text(row, "type", NULL, "stage");
    esi_row_unsigned(row, "stage", NULL, (uint64_t)(node - record->show->nodes));
    esi_row_unsigned(esi_row_if(row, !is_root), "parent", NULL, node->parent);
    esi_row_signed(row, "depth", NULL, node->row.depth);
    esi_row_text(row, "kind", NULL, node->elements ? "elements" : node->row.type);
    esi_row_words(esi_row_minor(row, 6), "PART", 10, "%s", label ? label : "");
    if (node->elements)
        esi_row_unsigned(row, "elements", NULL, node->elements);
    else
        esi_row_text(row, "label", NULL, label);
    esi_row_text(row, "host", NULL, node->host);
    esi_row_words(esi_row_minor(row, 5), record->any->host ? "HOST" : NULL, 4, "%s",
                  node->host ? node->host : "");
}

/* Formats the costs. */
static void describe_costs(struct esi_row *row, const struct stage_record *record)
{
    const struct esi_show_node *any = record->any;
    const struct esi_show_node *node = record->node;
    const struct esi_stage_row *costs = &node->row;
    char text[ESI_SHOW_TEXT];

    esi_row_unsigned(esi_row_minor(row, 4), "calls", "CALLS", costs->calls);
    esi_row_unsigned(row, "tuples", "TUPLES", costs->tuples);
    esi_row_unsigned(row, "bytes", NULL, costs->bytes);
    esi_row_quantity(esi_row_minor(row, 7), any->row.bytes ? "BYTES" : NULL, "%s",
                     esi_show_bytes((double)costs->bytes, text));
    esi_row_unsigned(row, "lost", NULL, costs->lost);
    esi_row_unsigned(row, "late", NULL, costs->late);
    esi_row_unsigned(row, "failures", NULL, costs->failures);
    esi_row_unsigned(row, "time_ns", NULL, costs->time_ns);
    describe_duration(esi_row_minor(row, 3), "TIME", any->row.time_ns, costs->time_ns);
    describe_duration(esi_row_minor(row, 2), "PER CALL", any->row.time_ns,
                      costs->calls ? costs->time_ns / costs->calls : 0);
    esi_row_unsigned(row, "own_time_ns", NULL, node->own_time_ns);
    esi_row_unsigned(row, "cpu_ns", NULL, costs->cpu_ns);
    esi_row_unsigned(row, "own_cpu_ns", NULL, node->own_cpu_ns);
    describe_duration(esi_row_minor(row, 1), "OWN CPU", any->own_cpu_ns,
                      node->own_cpu_ns);
    esi_row_quantity(row, any->own_cpu_ns ? "SHARE" : NULL, "%.0f %%",
                     100 * esi_show_share(record->show, node));
    describe_sum(row, "LOST", any->row.lost, costs->lost);
    describe_sum(esi_row_minor(row, 8), "LATE", any->row.late, costs->late);
    describe_sum(esi_row_minor(row, 9), "FAILED", any->row.failures, costs->failures);
    esi_row_bool(row, "silent", NULL, costs->silent);
    esi_row_words(row, any->row.silent ? "STATE" : NULL, 8, "%s",
                  costs->silent ? "does not answer" : "");
}

static void describe_stage(struct esi_row *row, const void *record)
{
    describe_place(row, record);
    describe_costs(row, record);
}

/* Combines all values that occur into one node. */
static struct esi_show_node find_any(const struct esi_show *show)
{
    struct esi_show_node any = {.host = NULL};

    for (size_t i = 0; i < show->count; i++) {
        const struct esi_show_node *node = &show->nodes[i];

        any.host = any.host ? any.host : node->host;
        any.own_cpu_ns |= node->own_cpu_ns;
        any.row.bytes |= node->row.bytes;
        any.row.time_ns |= node->row.time_ns;
        any.row.lost |= node->row.lost;
        any.row.late |= node->row.late;
        any.row.failures |= node->row.failures;
        any.row.silent |= node->row.silent;
    }
    return any;
}

static int print_rows(FILE *stream,
                      const struct esi_show *show,
                      enum esi_rows_format format,
                      const struct pen *pen)
{
    const struct esi_show_node any = find_any(show);
    char drawing[8 * DEPTH_MAX] = "";
    struct stage_record record = {show, show->nodes, &any, drawing};
    struct esi_rows rows;

    esi_rows_init(&rows, format, stream, describe_stage);
    int result = esi_rows_begin(&rows, &record);
    if (result < 0)
        return result;
    for (size_t i = 0; i < show->count; i++) {
        record.node = &show->nodes[i];
        draw_branches(show, record.node, pen, drawing, sizeof drawing);
        esi_rows_add(&rows, &record);
    }
    return esi_rows_finish(&rows);
}

static int print_table(FILE *stream,
                       const struct esi_show *show,
                       const struct esi_show_options *options)
{
    return print_rows(stream, show, ESI_ROWS_TABLE, &pens[options && options->ascii]);
}

static int print_json(FILE *stream,
                      const struct esi_show *show,
                      const struct esi_show_options *options)
{
    (void)options;
    return print_rows(stream, show, ESI_ROWS_JSON, &pens[0]);
}

/* --- Graphs ------------------------------------------------------------------- */

static void print_dot_node(FILE *stream, const struct esi_show *show, size_t index)
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
    /* The hue of a flame; the saturation is the share of the CPU time. */
    fprintf(stream, "\", fillcolor=\"0.08 %.3f 1.000\"%s];\n", share,
            row->silent ? ", color=red, style=\"filled,dashed\"" : "");
}

static void print_dot_edge(FILE *stream, const struct esi_show *show, size_t index)
{
    const struct esi_show_node *node = &show->nodes[index];
    double tuples = esi_show_per_pull(show, node->row.tuples);
    double bytes = esi_show_per_pull(show, node->row.bytes);
    char text[ESI_SHOW_TEXT];

    fprintf(stream, "    n%zu -> n%zu [label=\"%s tuple%s", node->parent, index,
            esi_quantity_number(text, sizeof text, tuples), tuples == 1 ? "" : "s");
    if (node->row.bytes)
        fprintf(stream, "\\n%s", esi_show_bytes(bytes, text));
    fputs("\"];\n", stream);
}

static int print_dot(FILE *stream,
                     const struct esi_show *show,
                     const struct esi_show_options *options)
{
    (void)options;
    fputs("/* Edges: what one pull carries upward. */\n"
          "digraph scope {\n"
          "    rankdir=LR;\n"
          "    node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
          "    edge [dir=back, fontname=\"sans-serif\", fontsize=9];\n",
          stream);
    for (size_t i = 0; i < show->count; i++)
        print_dot_node(stream, show, i);
    for (size_t i = 1; i < show->count; i++)
        print_dot_edge(stream, show, i);
    fputs("}\n", stream);
    return 0;
}

/* --- Pictures ----------------------------------------------------------------- */

/* The root is on the left, with one column per depth.  Leaves are placed below each
 * other, and every other stage in the middle of its children.  A tree of n leaves is
 * therefore n boxes high, and nothing overlaps. */

enum {
    BOX_WIDTH = 190,
    BOX_HEIGHT = 54,
    COLUMN = 290, /* distance between columns */
    ROW = 66,
    MARGIN = 20,
    HEADING = 34,
    LETTERS = 30, /* per box */
};

struct show_svg_position {
    double x;
    double y;
    double first; /* y of the first and last child */
    double last;
    bool has_child;
};

/* Places the leaves from the top down, then parents between their first and last child.
 * Children follow their parent in the list, so one pass backward is enough. */
static size_t place_boxes(const struct esi_show *show, struct show_svg_position *places)
{
    size_t leaves = 0;

    for (size_t i = 0; i < show->count; i++) {
        const struct esi_show_node *node = &show->nodes[i];

        places[i].x = node->parent == ESI_SHOW_NO_PARENT
                          ? MARGIN
                          : places[node->parent].x + COLUMN;
        if (node->child_count == 0)
            places[i].y = HEADING + MARGIN + ROW * (double)leaves++;
    }
    for (size_t i = show->count; i-- > 0;) {
        struct show_svg_position *parent;

        if (places[i].has_child)
            places[i].y = (places[i].first + places[i].last) / 2;
        if (show->nodes[i].parent == ESI_SHOW_NO_PARENT)
            continue;
        parent = &places[show->nodes[i].parent];
        if (!parent->has_child)
            parent->last = places[i].y;
        parent->first = places[i].y;
        parent->has_child = true;
    }
    return leaves;
}

static void print_line(FILE *stream,
                       double x,
                       double y,
                       const char *class,
                       const char *text)
{
    fprintf(stream, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    esi_xml_text(stream, text, LETTERS);
    fputs("</text>\n", stream);
}

/* From white to orange, by share of the CPU time. */
static void print_colour(FILE *stream, double share)
{
    fprintf(stream, "#ff%02x%02x", (unsigned)(255 - 95 * share),
            (unsigned)(255 - 215 * share));
}

/* The tooltip: all numbers, and texts that are not truncated. */
static void print_title(FILE *stream, const struct esi_show_node *node)
{
    const struct esi_stage_row *row = &node->row;
    char type[ESI_SHOW_TEXT];
    char time[ESI_SHOW_TEXT];
    char cpu[ESI_SHOW_TEXT];

    fputs("<title>", stream);
    esi_xml_text(stream, esi_show_type(node, type), SIZE_MAX);
    if (!node->elements && row->label) {
        fputc(' ', stream);
        esi_xml_text(stream, row->label, SIZE_MAX);
    }
    fprintf(stream,
            ": %" PRIu64 " calls, %" PRIu64 " tuples, %" PRIu64 " bytes, %" PRIu64
            " lost, %" PRIu64 " late, %" PRIu64
            " failures; time %s, own CPU %s</title>\n",
            row->calls, row->tuples, row->bytes, row->lost, row->late, row->failures,
            row->time_ns ? esi_show_duration(row->time_ns, time) : "0",
            node->own_cpu_ns ? esi_show_duration(node->own_cpu_ns, cpu) : "0");
}

static void print_costs(FILE *stream,
                        const struct esi_show *show,
                        const struct esi_show_node *node,
                        const struct show_svg_position *place)
{
    const struct esi_stage_row *row = &node->row;
    char time[ESI_SHOW_TEXT];
    char text[96];
    double share = esi_show_share(show, node);

    if (row->silent)
        snprintf(text, sizeof text, "does not answer");
    else if (row->lost)
        snprintf(text, sizeof text, "%" PRIu64 " lost", row->lost);
    else if (row->calls && row->time_ns)
        snprintf(text, sizeof text, "%s a call, %.0f %%",
                 esi_show_duration(row->time_ns / row->calls, time), 100 * share);
    else if (share > 0)
        snprintf(text, sizeof text, "%.0f %%", 100 * share);
    else
        return;
    print_line(stream, place->x + 8, place->y + 47,
               row->silent || row->lost ? "warn" : "small", text);
}

static void print_box(FILE *stream,
                      const struct esi_show *show,
                      size_t index,
                      const struct show_svg_position *place)
{
    const struct esi_show_node *node = &show->nodes[index];
    char type[ESI_SHOW_TEXT];
    char first[ESI_SHOW_TEXT + 80];

    fputs("<g>\n", stream);
    print_title(stream, node);
    fprintf(stream,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
            "rx=\"5\" fill=\"",
            node->row.silent ? "silent" : "box", place->x, place->y, BOX_WIDTH,
            BOX_HEIGHT);
    print_colour(stream, esi_show_share(show, node));
    fputs("\"/>\n", stream);
    snprintf(first, sizeof first, "%s%s%.60s", esi_show_type(node, type),
             node->host ? " on " : "", node->host ? node->host : "");
    print_line(stream, place->x + 8, place->y + 16, "type", first);
    if (!node->elements && node->row.label)
        print_line(stream, place->x + 8, place->y + 32, "label", node->row.label);
    print_costs(stream, show, node, place);
    fputs("</g>\n", stream);
}

/* The line width grows with the number of tuples, by one step for each power of
 * four. */
static double stroke_width(double tuples)
{
    double width = 1;

    for (; tuples >= 1 && width < 6; tuples /= 4)
        width += 0.5;
    return width;
}

static void print_edge(FILE *stream,
                       const struct esi_show *show,
                       size_t index,
                       const struct show_svg_position *places)
{
    const struct esi_show_node *node = &show->nodes[index];
    double tuples = esi_show_per_pull(show, node->row.tuples);
    double x1 = places[node->parent].x + BOX_WIDTH;
    double y1 = places[node->parent].y + BOX_HEIGHT / 2.0;
    double x2 = places[index].x;
    double y2 = places[index].y + BOX_HEIGHT / 2.0;
    double middle = (x1 + x2) / 2;
    char text[ESI_SHOW_TEXT];

    fprintf(stream,
            "<path class=\"edge\" stroke-width=\"%.1f\" d=\"M%.1f %.1f C%.1f %.1f %.1f "
            "%.1f %.1f %.1f\"/>\n",
            stroke_width(tuples), x1, y1, middle, y1, middle, y2, x2, y2);
    fprintf(stream, "<text class=\"flow\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x2 - 4,
            y2 - 4, esi_quantity_number(text, sizeof text, tuples));
}

static void print_start(FILE *stream, double width, double height)
{
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n"
            "<style>\n"
            ".box { stroke: #555 }\n"
            ".silent { stroke: #c00; stroke-width: 2; stroke-dasharray: 5 3 }\n"
            ".edge { fill: none; stroke: #8aa }\n"
            ".type { font-size: 12px; font-weight: bold }\n"
            ".label, .head { font-size: 12px }\n"
            ".small { font-size: 11px; fill: #444 }\n"
            ".warn { font-size: 11px; fill: #c00 }\n"
            ".flow { font-size: 10px; fill: #466; text-anchor: end }\n"
            "</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
}

static int print_svg(FILE *stream,
                     const struct esi_show *show,
                     const struct esi_show_options *options)
{
    struct show_svg_position *places = calloc(show->count + 1, sizeof *places);
    double right = MARGIN;
    size_t leaves;

    (void)options;
    if (!places)
        return -ENOMEM;
    leaves = place_boxes(show, places);
    for (size_t i = 0; i < show->count; i++)
        right = places[i].x > right ? places[i].x : right;
    print_start(stream, right + BOX_WIDTH + MARGIN,
                HEADING + 2.0 * MARGIN + ROW * (double)leaves);
    fprintf(stream,
            "<text class=\"head\" x=\"%d\" y=\"%d\">%" PRIu64
            " pulls; on the lines: tuples that a pull carries; colour and %%: share of "
            "the CPU time</text>\n",
            MARGIN, HEADING - 8, show->pulls);
    for (size_t i = 1; i < show->count; i++)
        print_edge(stream, show, i, places);
    for (size_t i = 0; i < show->count; i++)
        print_box(stream, show, i, &places[i]);
    fputs("</svg>\n", stream);
    free(places);
    return 0;
}

/* --- Formats ------------------------------------------------------------------ */

static const struct show_format {
    const char *name;
    int (*print)(FILE *stream,
                 const struct esi_show *show,
                 const struct esi_show_options *options);
} formats[] = {
    {"table", print_table},
    {"json", print_json},
    {"dot", print_dot},
    {"svg", print_svg},
};

static const struct show_format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

bool esi_show_has_format(const char *format)
{
    return find_format(format) != NULL;
}

int esi_show_print(const char *format,
                   FILE *stream,
                   const struct esi_stage_row *rows,
                   size_t count,
                   const struct esi_show_options *options)
{
    const struct show_format *found = find_format(format);
    struct esi_show show;
    int result = found ? esi_show_init(&show, rows, count, options) : -EINVAL;

    if (result < 0)
        return result;
    result = found->print(stream, &show, options);
    esi_show_fini(&show);
    if (result == 0 && (fflush(stream) != 0 || ferror(stream)))
        result = -EIO;
    return result;
}
