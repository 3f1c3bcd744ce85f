/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_svg.c - a window of the diagram as a picture.
 *
 * Colours are those of the page (cli/page/assets/page.css) and can be distinguished by
 * the colour-blind; lost data is hatched, and past and future also differ in their
 * dashes.
 */
#include "config.h"

#include "monitors/diagram/diagram_svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/plain.h"

enum {
    LEFT = 96,   /* for row names */
    TOP = 46,    /* for the title and the axis */
    BOTTOM = 34, /* for the legend */
    ROW_MOST = 22,
    ROW_LEAST = 2,
    HEIGHT = 900,     /* shared by many rows */
    CALLS_MAX = 6000, /* drawn individually */
    MESSAGES_MAX = 2000,
    BANDS_MAX = 400,
    BAND_LEAST = 2, /* columns; narrower bands are omitted */
    TICKS = 8,
};

static const char style[] =
    "<style>\n"
    "text{font:11px system-ui,sans-serif;fill:#222}"
    ".title{font-weight:600;font-size:13px}\n"
    ".back{fill:#fff}.grid{stroke:#c3cad1;stroke-width:1}\n"
    ".send{fill:#2f92cf}.receive{fill:#cf8400}.collective{fill:#00598f}"
    ".poll{fill:#948a00}.other{fill:#95708f}.lost{fill:url(#hatch)}"
    ".computing{fill:#e2e8ed}"
    ".send,.receive,.collective,.poll,.other{stroke:#fff;stroke-width:.5}\n"
    ".flight{fill:none;stroke:#2f92cf;stroke-width:1.5;stroke-dasharray:2 2}\n"
    ".message{stroke:#444;stroke-width:.8;fill:none;opacity:.75}\n"
    ".past{stroke:#b84e00;stroke-width:2;fill:none;stroke-dasharray:6 3}\n"
    ".future{stroke:#007a5a;stroke-width:2;fill:none}\n"
    ".band{fill:#b84e00;opacity:.16}.late{fill:#b84e00;stroke:#fff}"
    ".unsure{fill:#fff;stroke:#b84e00;stroke-width:2}\n"
    ".event{fill:none;stroke:#000;stroke-width:2}.match{fill:none;stroke:#a03c80;"
    "stroke-width:2}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e4e7ea}.back{fill:#15181c}"
    ".computing{fill:#2b353e}.grid{stroke:#444c55}.message{stroke:#c8ced4}"
    ".event{stroke:#fff}.band,.late{fill:#f0803c}.unsure{stroke:#f0803c}}\n"
    "</style>\n"
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<rect width=\"6\" height=\"6\" fill=\"#bbb\"/>"
    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#555\" stroke-width=\"2\"/>"
    "</pattern></defs>\n";

/* State of drawing, and the positions of rows. */
struct svg_drawing {
    struct esi_diagram *diagram;
    const struct esi_diagram_picture *picture;
    struct esi_diagram_extent extent;
    FILE *stream;
    double row_height;
    int32_t *places; /* by row: distance from the top, -1 = not drawn; owned */
    bool *is_wanted; /* by row; owned */
    uint64_t drawn;  /* number of messages */
    unsigned bands;
};

/* --- Positions -------------------------------------------------------------------- */

static double x_of(const struct svg_drawing *drawing, uint64_t position)
{
    const struct esi_diagram_window *window = &drawing->picture->window;
    double share =
        ((double)position - (double)window->from) / (double)(window->to - window->from);

    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return LEFT + share * (double)window->columns;
}

static double y_of(const struct svg_drawing *drawing, int32_t place)
{
    return TOP + drawing->row_height * (double)place;
}

static double bar_height(const struct svg_drawing *drawing)
{
    return drawing->row_height >= 4 ? drawing->row_height - 2 : drawing->row_height;
}

/* --- The frame -------------------------------------------------------------------- */

/* A round number of units between two ticks. */
static double tick_step(double length)
{
    double step = 1;

    while (length / (step * 10) > TICKS)
        step *= 10;
    if (length / step <= TICKS)
        return step;
    if (length / (step * 2) <= TICKS)
        return step * 2;
    return length / (step * 5) <= TICKS ? step * 5 : step * 10;
}

static void print_tick(const struct svg_drawing *drawing, uint64_t position)
{
    const struct esi_diagram_window *window = &drawing->picture->window;
    double x = x_of(drawing, position);
    double bottom = y_of(drawing, (int32_t)drawing->picture->row_count);
    char text[32];

    fprintf(drawing->stream,
            "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\"/>", x,
            TOP - 4, x, bottom);
    fprintf(drawing->stream, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x,
            TOP - 8);
    if (window->axis == ESI_DIAGRAM_LEVEL) {
        fprintf(drawing->stream, "%" PRIu64, position);
    } else {
        esi_duration_format(position - drawing->extent.begin[ESI_DIAGRAM_TIME], text,
                            sizeof text);
        esi_xml_text(drawing->stream, text, SIZE_MAX);
    }
    fputs("</text>\n", drawing->stream);
}

static void print_axis(const struct svg_drawing *drawing)
{
    const struct esi_diagram_window *window = &drawing->picture->window;
    uint64_t origin =
        window->axis == ESI_DIAGRAM_TIME ? drawing->extent.begin[ESI_DIAGRAM_TIME] : 0;
    uint64_t step = (uint64_t)tick_step((double)(window->to - window->from));
    uint64_t first = window->from > origin ? window->from - origin : 0;

    /* Positions may be near the end of their range, where sums would wrap. */
    for (uint64_t i = 0; i <= 2 * TICKS; i++) {
        uint64_t at = (first + step - 1) / step * step + i * step;

        if (at < first || at > window->to - origin)
            return;
        print_tick(drawing, at + origin);
    }
}

static void print_begin(const struct svg_drawing *drawing)
{
    const struct esi_diagram_picture *picture = drawing->picture;
    unsigned width = LEFT + picture->window.columns + 16;
    double height = y_of(drawing, (int32_t)picture->row_count) + BOTTOM;

    fprintf(drawing->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" "
            "viewBox=\"0 0 %u %.0f\" role=\"img\">\n<title>",
            width, height, width, height);
    esi_xml_text(drawing->stream,
                 picture->title ? picture->title : "process-time diagram", SIZE_MAX);
    fprintf(drawing->stream,
            "</title>\n%s<rect class=\"back\" width=\"%u\" height=\"%.0f\"/>\n", style,
            width, height);
    if (!picture->title)
        return;
    fputs("<text class=\"title\" x=\"8\" y=\"18\">", drawing->stream);
    esi_xml_text(drawing->stream, picture->title, SIZE_MAX);
    fputs("</text>\n", drawing->stream);
}

static void print_legend(const struct svg_drawing *drawing)
{
    double y = y_of(drawing, (int32_t)drawing->picture->row_count) + 12;
    int x = LEFT;

    for (int state = 0; state < ESI_DIAGRAM_STATES; state++) {
        const char *name = esi_diagram_state_name((enum esi_diagram_state)state);

        fprintf(drawing->stream,
                "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"12\" height=\"10\"/>"
                "<text x=\"%d\" y=\"%.1f\">%s</text>\n",
                name, x, y, x + 16, y + 9, name);
        x += 28 + 7 * (int)strlen(name);
    }
    if (drawing->bands > 0)
        fprintf(drawing->stream,
                "<path class=\"late\" d=\"M%d %.1fl5 5l-5 5l-5 -5z\"/>"
                "<text x=\"%d\" y=\"%.1f\">came last</text>\n",
                x + 6, y, x + 16, y + 9);
}

/* --- Rows ------------------------------------------------------------------------- */

static void print_bar(const struct svg_drawing *drawing,
                      enum esi_diagram_state state,
                      double from,
                      double to,
                      double y)
{
    fprintf(drawing->stream,
            "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>",
            esi_diagram_state_name(state), from, y, to - from < 0.4 ? 0.4 : to - from,
            bar_height(drawing));
}

static void print_call(const struct svg_drawing *drawing,
                       const struct esi_diagram_row *row,
                       const struct esi_diagram_call *call,
                       double y)
{
    bool is_time = drawing->picture->window.axis == ESI_DIAGRAM_TIME;
    uint64_t end_ns = call->end_ns == 0 ? row->end_ns : call->end_ns;
    double from = x_of(drawing, is_time ? call->begin_ns : call->level[0]);
    double to = x_of(drawing, is_time ? end_ns : (uint64_t)call->level[1] + 1);

    if (call->nonblocking && is_time)
        fprintf(drawing->stream,
                "<line class=\"flight\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" "
                "y2=\"%.1f\"/>",
                from, y + bar_height(drawing), to, y + bar_height(drawing));
    else
        print_bar(drawing, call->state, from, to, y);
}

static enum esi_diagram_state most_of(const struct esi_diagram_cell *cell)
{
    enum esi_diagram_state most = ESI_DIAGRAM_COMPUTING;

    for (int state = 1; state < ESI_DIAGRAM_STATES; state++)
        if (cell->of[state] > cell->of[most])
            most = (enum esi_diagram_state)state;
    return most;
}

static bool is_nothing(const struct esi_diagram_cell *cell)
{
    return cell->of[most_of(cell)] <= 0;
}

/* The main activity of each column, in runs of columns. */
static int print_cells(const struct svg_drawing *drawing, uint32_t row, double y)
{
    const struct esi_diagram_window *window = &drawing->picture->window;
    struct esi_diagram_cell *cells = calloc(window->columns, sizeof *cells);
    int result =
        cells ? esi_diagram_cells(drawing->diagram, row, window, cells) : -ENOMEM;
    uint32_t first = 0;

    for (uint32_t i = 1; i <= window->columns && result == 0; i++) {
        if (i < window->columns && most_of(&cells[i]) == most_of(&cells[first]) &&
            is_nothing(&cells[i]) == is_nothing(&cells[first]))
            continue;
        if (!is_nothing(&cells[first]))
            print_bar(drawing, most_of(&cells[first]), LEFT + first, LEFT + i, y);
        first = i;
    }
    free(cells);
    return result;
}

static void print_row_name(const struct svg_drawing *drawing,
                           const struct esi_diagram_row *row,
                           double y)
{
    if (drawing->row_height < 9)
        return;
    fprintf(drawing->stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6,
            y + drawing->row_height * 0.7);
    esi_xml_text(drawing->stream, row->name, SIZE_MAX);
    fputs("</text>\n", drawing->stream);
}

/* The row's time line, below its calls. */
static void print_row_line(const struct svg_drawing *drawing,
                           const struct esi_diagram_row *row,
                           double y)
{
    double from = LEFT, to = LEFT + drawing->picture->window.columns;

    if (drawing->picture->window.axis == ESI_DIAGRAM_TIME) {
        from = x_of(drawing, row->begin_ns);
        to = x_of(drawing, row->end_ns);
    }
    print_bar(drawing, ESI_DIAGRAM_COMPUTING, from, to, y);
}

static int print_row(const struct svg_drawing *drawing, size_t place, size_t calls_max)
{
    uint32_t number = drawing->picture->rows[place];
    struct esi_diagram_call *calls = calloc(calls_max + 1, sizeof *calls);
    double y = y_of(drawing, (int32_t)place);
    struct esi_diagram_row row;
    int64_t count;
    int result = calls ? esi_diagram_row(drawing->diagram, number, &row) : -ENOMEM;

    if (result < 0) {
        free(calls);
        return result;
    }
    print_row_name(drawing, &row, y);
    count = esi_diagram_calls(drawing->diagram, number, &drawing->picture->window,
                              calls, calls_max);
    if (count >= 0 && (size_t)count <= calls_max && row.kept_from <= 1) {
        print_row_line(drawing, &row, y);
        for (int64_t i = 0; i < count; i++)
            print_call(drawing, &row, &calls[i], y);
    } else {
        result = count < 0 ? (int)count : print_cells(drawing, number, y);
    }
    fputc('\n', drawing->stream);
    free(calls);
    return result;
}

/* --- Messages --------------------------------------------------------------------- */

static int print_message(void *data, const struct esi_diagram_message *message)
{
    struct svg_drawing *drawing = data;
    bool is_time = drawing->picture->window.axis == ESI_DIAGRAM_TIME;
    double middle = bar_height(drawing) / 2;

    fprintf(drawing->stream, "<path class=\"message\" d=\"M%.2f %.1fL%.2f %.1f\"/>",
            x_of(drawing, is_time ? message->ns[0] : message->level[0]),
            y_of(drawing, drawing->places[message->rows[0]]) + middle,
            x_of(drawing, is_time ? message->ns[1] : message->level[1]),
            y_of(drawing, drawing->places[message->rows[1]]) + middle);
    return 0;
}

static int count_message(void *data, const struct esi_diagram_message *message)
{
    struct svg_drawing *drawing = data;

    (void)message;
    return ++drawing->drawn > MESSAGES_MAX;
}

static void print_messages(struct svg_drawing *drawing)
{
    const struct esi_diagram_window *window = &drawing->picture->window;

    if (esi_diagram_foreach_message(drawing->diagram, window, drawing->is_wanted,
                                    count_message, drawing) != 0)
        return;
    esi_diagram_foreach_message(drawing->diagram, window, drawing->is_wanted,
                                print_message, drawing);
    fputc('\n', drawing->stream);
}

/* --- Collective operations -------------------------------------------------------- */

/* Vertical extent: all rows if the operation has as many ranks, otherwise from its
 * first to its last arrival. */
static void find_height(const struct svg_drawing *drawing,
                        const struct esi_diagram_instance *instance,
                        double *ret_top,
                        double *ret_bottom)
{
    int32_t ends[2] = {drawing->places[instance->first.row],
                       drawing->places[instance->last.row]};
    int32_t above = ends[0] < ends[1] ? ends[0] : ends[1];
    int32_t below = ends[0] < ends[1] ? ends[1] : ends[0];

    if ((size_t)instance->size >= drawing->extent.rows) {
        above = 0;
        below = (int32_t)drawing->picture->row_count - 1;
    }
    *ret_top = y_of(drawing, above);
    *ret_bottom = y_of(drawing, below + 1);
}

/* A band from the first to the last arrival, with a diamond at the last one; hollow if
 * clocks cannot tell which was the last. */
static int print_band(void *data, const struct esi_diagram_instance *instance)
{
    struct svg_drawing *drawing = data;
    bool is_time = drawing->picture->window.axis == ESI_DIAGRAM_TIME;
    double from = x_of(drawing, is_time ? instance->first.ns : instance->first.level);
    double to = x_of(drawing, is_time ? instance->last.ns : instance->last.level);
    double width = to > from ? to - from : from - to;
    double top, bottom;

    if (drawing->places[instance->first.row] < 0 ||
        drawing->places[instance->last.row] < 0 || width < BAND_LEAST)
        return 0;
    find_height(drawing, instance, &top, &bottom);
    fprintf(drawing->stream,
            "<rect class=\"band\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
            "height=\"%.1f\"/><path class=\"%s\" d=\"M%.2f %.1fl5 5l-5 5l-5 -5z\"/>\n",
            from < to ? from : to, top, width, bottom - top,
            instance->late > 1 ? "unsure" : "late", to,
            y_of(drawing, drawing->places[instance->last.row]) +
                bar_height(drawing) / 2 - 5);
    return ++drawing->bands >= BANDS_MAX;
}

/* --- Events and cones ------------------------------------------------------------- */

static bool find_place(const struct svg_drawing *drawing,
                       struct es_event_id id,
                       double *ret_x,
                       double *ret_y)
{
    struct esi_diagram_event event;

    if (esi_diagram_event(drawing->diagram, id, &event) < 0 ||
        drawing->places[event.row] < 0)
        return false;
    *ret_x =
        x_of(drawing, drawing->picture->window.axis == ESI_DIAGRAM_TIME ? event.ns
                                                                        : event.level);
    *ret_y = y_of(drawing, drawing->places[event.row]) + bar_height(drawing) / 2;
    return true;
}

static void print_mark(const struct svg_drawing *drawing,
                       struct es_event_id id,
                       const char *class)
{
    double x, y;

    if (find_place(drawing, id, &x, &y))
        fprintf(drawing->stream,
                "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.1f\" r=\"6\"/>\n", class, x,
                y);
}

/* A cut: on each row the last event of the past, or the first of the future. */
static void print_cut(const struct svg_drawing *drawing,
                      const uint32_t *cut,
                      const char *class)
{
    bool is_first = true;

    fprintf(drawing->stream, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < drawing->picture->row_count; i++) {
        uint32_t row = drawing->picture->rows[i];
        struct esi_diagram_row told;
        double x, y;

        if (cut[row] == 0 || esi_diagram_row(drawing->diagram, row, &told) < 0 ||
            !find_place(drawing, (struct es_event_id){told.trace, cut[row]}, &x, &y))
            continue;
        fprintf(drawing->stream, "%c%.2f %.1fV%.1f", is_first ? 'M' : 'L', x,
                y - drawing->row_height / 2, y + drawing->row_height / 2);
        is_first = false;
    }
    fputs("\"/>\n", drawing->stream);
}

static int print_cones(const struct svg_drawing *drawing)
{
    size_t rows = drawing->extent.rows;
    uint32_t *past = calloc(rows + 1, sizeof *past);
    uint32_t *future = calloc(rows + 1, sizeof *future);
    int result = past && future ? 0 : -ENOMEM;

    if (result == 0)
        result = esi_diagram_cone(drawing->diagram, drawing->picture->event, past,
                                  future, rows);
    if (result == 0) {
        print_cut(drawing, past, "past");
        print_cut(drawing, future, "future");
        print_mark(drawing, drawing->picture->event, "event");
    }
    free(past);
    free(future);
    return result;
}

/* --- All -------------------------------------------------------------------------- */

static int place_rows(struct svg_drawing *drawing)
{
    const struct esi_diagram_picture *picture = drawing->picture;

    drawing->places = calloc(drawing->extent.rows + 1, sizeof *drawing->places);
    drawing->is_wanted = calloc(drawing->extent.rows + 1, sizeof *drawing->is_wanted);
    if (!drawing->places || !drawing->is_wanted)
        return -ENOMEM;
    for (size_t i = 0; i < drawing->extent.rows; i++)
        drawing->places[i] = -1;
    for (size_t i = 0; i < picture->row_count; i++) {
        if (picture->rows[i] >= drawing->extent.rows)
            return -EINVAL;
        drawing->places[picture->rows[i]] = (int32_t)i;
        drawing->is_wanted[picture->rows[i]] = true;
    }
    drawing->row_height = HEIGHT / (double)(picture->row_count + 1);
    if (drawing->row_height > ROW_MOST)
        drawing->row_height = ROW_MOST;
    if (drawing->row_height < ROW_LEAST)
        drawing->row_height = ROW_LEAST;
    return 0;
}

static int print_all(struct svg_drawing *drawing)
{
    const struct esi_diagram_picture *picture = drawing->picture;
    size_t calls_max = CALLS_MAX / (picture->row_count + 1);
    int result = 0;

    print_begin(drawing);
    for (size_t i = 0; i < picture->row_count && result == 0; i++)
        result = print_row(drawing, i, calls_max);
    print_axis(drawing);
    print_messages(drawing);
    esi_diagram_foreach_instance(drawing->diagram, &picture->window, print_band,
                                 drawing);
    for (size_t i = 0; i < picture->match_count; i++)
        print_mark(drawing, picture->matches[i], "match");
    if (result == 0 && picture->event.index > 0)
        result = print_cones(drawing);
    print_legend(drawing);
    fputs("</svg>\n", drawing->stream);
    return result < 0 ? result : ferror(drawing->stream) ? -EIO : 0;
}

int esi_diagram_print_svg(struct esi_diagram *diagram,
                          const struct esi_diagram_picture *picture,
                          FILE *stream)
{
    struct svg_drawing drawing = {
        .diagram = diagram, .picture = picture, .stream = stream};
    int result;

    if (picture->window.columns == 0 || picture->window.to <= picture->window.from)
        return -EINVAL;
    esi_diagram_extent(diagram, &drawing.extent);
    result = place_rows(&drawing);
    if (result == 0)
        result = print_all(&drawing);
    free(drawing.places);
    free(drawing.is_wanted);
    return result;
}
