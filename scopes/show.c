/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show.c - gather trees as a table for people, as JSON Lines, as graphs for graphviz,
 * and as pictures. */
#include "config.h"

#include "scopes/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "base/table.h"
#include "scopes/show_tree.h"

enum { DEPTH_MAX = 40 }; /* deeper stages are drawn no further to the right */

/* --- Columns ------------------------------------------------------------------ */

enum cell_kind {
    CELL_STAGE,
    CELL_LABEL,
    CELL_HOST,
    CELL_COUNT,
    CELL_DURATION,
    CELL_PER_CALL,
    CELL_BYTES,
    CELL_SHARE,
    CELL_STATE,
};

#define NODE_OFFSET(member) offsetof(struct esi_show_node, member)

static const struct show_column {
    struct esi_text_table_column column;
    enum cell_kind kind;
    bool is_optional; /* left out where it would be empty all down */
    size_t offset;    /* of its uint64_t in the node */
} columns[] = {
    {{"STAGE", ES_TABLE_LEFT, 16}, CELL_STAGE, false, 0},
    {{"PART", ES_TABLE_LEFT, 10}, CELL_LABEL, false, 0},
    {{"HOST", ES_TABLE_LEFT, 4}, CELL_HOST, true, 0},
    {{"CALLS", ES_TABLE_RIGHT, 0}, CELL_COUNT, false, NODE_OFFSET(row.calls)},
    {{"TUPLES", ES_TABLE_RIGHT, 0}, CELL_COUNT, false, NODE_OFFSET(row.tuples)},
    {{"BYTES", ES_TABLE_RIGHT, 0}, CELL_BYTES, true, NODE_OFFSET(row.bytes)},
    {{"TIME", ES_TABLE_RIGHT, 0}, CELL_DURATION, true, NODE_OFFSET(row.time_ns)},
    {{"PER CALL", ES_TABLE_RIGHT, 0}, CELL_PER_CALL, true, NODE_OFFSET(row.time_ns)},
    {{"OWN CPU", ES_TABLE_RIGHT, 0}, CELL_DURATION, true, NODE_OFFSET(own_cpu_ns)},
    {{"SHARE", ES_TABLE_RIGHT, 0}, CELL_SHARE, true, NODE_OFFSET(own_cpu_ns)},
    {{"LOST", ES_TABLE_RIGHT, 0}, CELL_COUNT, true, NODE_OFFSET(row.lost)},
    {{"LATE", ES_TABLE_RIGHT, 0}, CELL_COUNT, true, NODE_OFFSET(row.late)},
    {{"FAILED", ES_TABLE_RIGHT, 0}, CELL_COUNT, true, NODE_OFFSET(row.failures)},
    {{"STATE", ES_TABLE_LEFT, 8}, CELL_STATE, true, 0},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The number that a cell shows; of a text, whether there is one. */
static uint64_t cell_number(const struct esi_show_node *node,
                            const struct show_column *column)
{
    uint64_t number;

    if (column->kind == CELL_HOST)
        return node->host != NULL;
    if (column->kind == CELL_STATE)
        return node->row.silent;
    memcpy(&number, (const char *)node + column->offset, sizeof number);
    return number;
}

static bool is_shown(const struct esi_show *show, const struct show_column *column)
{
    for (size_t i = 0; i < show->count && column->is_optional; i++)
        if (cell_number(&show->nodes[i], column) != 0)
            return true;
    return !column->is_optional;
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

/* --- The table ---------------------------------------------------------------- */

static const char *text_or_blank(const char *text)
{
    return text ? text : "";
}

/* `drawing` is the tree's left of the first column. */
static void add_cell(struct es_table *table,
                     const struct esi_show *show,
                     const struct esi_show_node *node,
                     const struct show_column *column,
                     const char *drawing)
{
    const struct esi_stage_row *row = &node->row;
    char text[ESI_SHOW_TEXT] = "";

    switch (column->kind) {
    case CELL_STAGE:
        esi_text_table_cell(table, "%s%s", drawing, esi_show_type(node, text));
        return;
    case CELL_LABEL:
        esi_text_table_cell(table, "%s",
                            node->elements ? "" : text_or_blank(row->label));
        return;
    case CELL_HOST:
        esi_text_table_cell(table, "%s", text_or_blank(node->host));
        return;
    case CELL_COUNT:
        esi_text_table_cell(table, "%" PRIu64, cell_number(node, column));
        return;
    case CELL_DURATION:
        esi_show_duration(cell_number(node, column), text);
        break;
    case CELL_PER_CALL:
        esi_show_duration(row->calls ? row->time_ns / row->calls : 0, text);
        break;
    case CELL_BYTES:
        esi_show_bytes((double)row->bytes, text);
        break;
    case CELL_SHARE:
        snprintf(text, sizeof text, "%.0f %%", 100 * esi_show_share(show, node));
        break;
    case CELL_STATE:
        snprintf(text, sizeof text, "%s", row->silent ? "does not answer" : "");
        break;
    }
    esi_text_table_cell(table, "%s", text);
}

static int print_table(FILE *stream,
                       const struct esi_show *show,
                       const struct esi_show_options *options)
{
    struct esi_text_table_column shown[COLUMNS];
    const struct show_column *chosen[COLUMNS];
    const struct pen *pen = &pens[options && options->ascii];
    size_t count = 0;
    struct es_table *table;
    int result;

    for (size_t i = 0; i < COLUMNS; i++)
        if (is_shown(show, &columns[i])) {
            shown[count] = columns[i].column;
            chosen[count++] = &columns[i];
        }
    result = esi_text_table_create(shown, count, &table);
    if (result < 0)
        return result;
    for (size_t i = 0; i < show->count; i++) {
        char drawing[8 * DEPTH_MAX];

        draw_branches(show, &show->nodes[i], pen, drawing, sizeof drawing);
        for (size_t j = 0; j < count; j++)
            add_cell(table, show, &show->nodes[i], chosen[j], drawing);
    }
    result = esi_text_table_print(table, stream, options ? options->width : 0);
    esi_text_table_destroy(table);
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

static int print_json(FILE *stream,
                      const struct esi_show *show,
                      const struct esi_show_options *options)
{
    struct esi_json_out out;

    (void)options;
    esi_json_out_init(&out, stream);
    for (size_t i = 0; i < show->count; i++)
        write_object(&out, show, i);
    return 0;
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
    /* The hue of a flame, the stronger the more CPU time it takes. */
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
            esi_show_number(tuples, text), tuples == 1 ? "" : "s");
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

/* The root stands on the left, one column for each depth; leaves stand below each other
 * and every other stage in the middle of its children.  So a tree of n leaves is n
 * boxes high, and nothing overlaps. */

enum {
    BOX_WIDTH = 190,
    BOX_HEIGHT = 54,
    COLUMN = 290, /* from one box to the one of the next depth */
    ROW = 66,
    MARGIN = 20,
    HEADING = 34,
    LETTERS = 30, /* that fit into a box */
};

struct show_svg_position {
    double x;
    double y;
    double first; /* y of the first and last child */
    double last;
    bool has_child;
};

/* Leaves from the top down, then parents between their first and last child.  Children
 * stand behind their parent in the list, so one pass backward does. */
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

static void print_character(FILE *stream, const char *text, size_t bytes)
{
    switch (*text) {
    case '&':
        fputs("&amp;", stream);
        break;
    case '<':
        fputs("&lt;", stream);
        break;
    case '>':
        fputs("&gt;", stream);
        break;
    case '"':
        fputs("&quot;", stream);
        break;
    default:
        fwrite(text, 1, bytes, stream);
    }
}

/* As XML; what does not fit into `letters` is cut. */
static void print_text(FILE *stream, const char *text, size_t letters)
{
    char *plain = esi_plain_duplicate(text);
    const char *next = plain ? plain : "";

    for (size_t done = 0; *next; done++) {
        size_t bytes = esi_utf8_length((const unsigned char *)next);

        if (done + 1 == letters && next[bytes]) {
            fputs("\u2026", stream);
            break;
        }
        print_character(stream, next, bytes);
        next += bytes;
    }
    free(plain);
}

static void print_line(FILE *stream,
                       double x,
                       double y,
                       const char *class,
                       const char *text)
{
    fprintf(stream, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    print_text(stream, text, LETTERS);
    fputs("</text>\n", stream);
}

/* From white to orange, the more CPU time the stronger. */
static void print_colour(FILE *stream, double share)
{
    fprintf(stream, "#ff%02x%02x", (unsigned)(255 - 95 * share),
            (unsigned)(255 - 215 * share));
}

/* What the pointer shows: all of the numbers, and the texts uncut. */
static void print_title(FILE *stream, const struct esi_show_node *node)
{
    const struct esi_stage_row *row = &node->row;
    char type[ESI_SHOW_TEXT];
    char time[ESI_SHOW_TEXT];
    char cpu[ESI_SHOW_TEXT];

    fputs("<title>", stream);
    print_text(stream, esi_show_type(node, type), SIZE_MAX);
    if (!node->elements && row->label) {
        fputc(' ', stream);
        print_text(stream, row->label, SIZE_MAX);
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

/* A line is the stronger the more tuples pass, by one step for each power of four. */
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
            y2 - 4, esi_show_number(tuples, text));
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
