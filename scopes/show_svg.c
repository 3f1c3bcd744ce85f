/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* show_svg.c - gather trees as pictures.
 *
 * The root stands on the left, one column for each depth; leaves stand below each other
 * and every other stage in the middle of its children.  So a tree of n leaves is n
 * boxes high, and nothing overlaps.
 */
#include "config.h"

#include "scopes/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/utf8.h"
#include "scopes/show_private.h"

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

/* --- Where boxes stand --------------------------------------------------------- */

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

/* --- Text ---------------------------------------------------------------------- */

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

/* --- Boxes and edges ------------------------------------------------------------ */

/* From white to orange, the more CPU time the stronger. */
static void print_colour(FILE *stream, double share)
{
    fprintf(stream, "#ff%02x%02x", (unsigned)(255 - 95 * share),
            (unsigned)(255 - 215 * share));
}

/* What the pointer is told: all of the numbers, and the texts uncut. */
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
            ": %llu calls, %llu tuples, %llu bytes, %llu lost, %llu late, %llu "
            "failures; time %s, own CPU %s</title>\n",
            (unsigned long long)row->calls, (unsigned long long)row->tuples,
            (unsigned long long)row->bytes, (unsigned long long)row->lost,
            (unsigned long long)row->late, (unsigned long long)row->failures,
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
        snprintf(text, sizeof text, "%llu lost", (unsigned long long)row->lost);
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

static int print_picture(FILE *stream, const struct esi_show *show)
{
    struct show_svg_position *places = calloc(show->count + 1, sizeof *places);
    double right = MARGIN;
    size_t leaves;

    if (!places)
        return -ENOMEM;
    leaves = place_boxes(show, places);
    for (size_t i = 0; i < show->count; i++)
        right = places[i].x > right ? places[i].x : right;
    print_start(stream, right + BOX_WIDTH + MARGIN,
                HEADING + 2.0 * MARGIN + ROW * (double)leaves);
    fprintf(stream,
            "<text class=\"head\" x=\"%d\" y=\"%d\">%llu pulls; on the lines: tuples "
            "that a pull carries; colour and %%: share of the CPU time</text>\n",
            MARGIN, HEADING - 8, (unsigned long long)show->pulls);
    for (size_t i = 1; i < show->count; i++)
        print_edge(stream, show, i, places);
    for (size_t i = 0; i < show->count; i++)
        print_box(stream, show, i, &places[i]);
    fputs("</svg>\n", stream);
    free(places);
    return esi_show_end(stream);
}

int esi_show_svg(FILE *stream,
                 const struct esi_stage_row *rows,
                 size_t count,
                 const struct esi_show_options *options)
{
    struct esi_show show;
    int result = esi_show_init(&show, rows, count, options);

    if (result < 0)
        return result;
    result = print_picture(stream, &show);
    esi_show_fini(&show);
    return result;
}
