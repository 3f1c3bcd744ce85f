/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_picture.c - exports a window of the process-time diagram as a picture. */
#include "config.h"

#include "cli/export/export_picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/output_file.h"
#include "cli/command.h"
#include "monitors/diagram/diagram_svg.h"
#include "monitors/eventset/trace_names.h"
#include "monitors/order/question.h"

enum { WIDTH = 1200 };

struct picture_export {
    const struct esi_export_picture *wanted;
    struct esi_diagram *diagram;
    struct esi_trace_names names;
    struct esi_diagram_extent extent;
    struct esi_diagram_picture picture;
    uint32_t *rows; /* owned */
};

/* --- Selection -------------------------------------------------------------------- */

int esi_export_picture_rows(const struct esi_export_picture *picture,
                            struct esi_diagram *diagram,
                            uint32_t **ret_rows,
                            size_t *ret_count)
{
    struct esi_diagram_extent extent;
    struct esi_diagram_row row;
    uint32_t *rows;
    size_t count = 0;

    esi_diagram_extent(diagram, &extent);
    rows = calloc(extent.rows + 1, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < extent.rows; i++) {
        esi_diagram_row(diagram, i, &row);
        if (picture->range_count == 0 ||
            esi_rank_ranges_have(picture->ranges, picture->range_count, row.rank))
            rows[count++] = i;
    }
    *ret_rows = rows;
    *ret_count = count;
    return 0;
}

static int compare_rows(const void *a, const void *b, void *data)
{
    struct esi_diagram *diagram = data;
    struct esi_diagram_row x, y;

    esi_diagram_row(diagram, *(const uint32_t *)a, &x);
    esi_diagram_row(diagram, *(const uint32_t *)b, &y);
    return x.rank != y.rank       ? (x.rank > y.rank) - (x.rank < y.rank)
           : x.thread != y.thread ? (x.thread > y.thread) - (x.thread < y.thread)
                                  : (x.trace > y.trace) - (x.trace < y.trace);
}

/* The selected rows, by rank and thread. */
static int list_rows(struct picture_export *export)
{
    int result = esi_export_picture_rows(export->wanted, export->diagram, &export->rows,
                                         &export->picture.row_count);

    if (result < 0)
        return result;
    qsort_r(export->rows, export->picture.row_count, sizeof *export->rows, compare_rows,
            export->diagram);
    export->picture.rows = export->rows;
    return 0;
}

/* The level at a time: that of the last event before it on any row. */
static uint64_t level_at(const struct picture_export *export, uint64_t ns, bool last)
{
    uint64_t level = last ? 1 : UINT64_MAX;

    for (size_t i = 0; i < export->picture.row_count; i++) {
        struct esi_diagram_event event;
        struct es_event_id id;

        if (esi_diagram_nearest(export->diagram, export->rows[i], ESI_DIAGRAM_TIME, ns,
                                &id) < 0 ||
            esi_diagram_event(export->diagram, id, &event) < 0)
            continue;
        if (last ? event.level >= level : event.level < level)
            level = (uint64_t)event.level + last;
    }
    return level == UINT64_MAX ? 1 : level;
}

bool esi_export_picture_span(const struct esi_export_picture *picture,
                             const struct esi_diagram_extent *extent,
                             uint64_t *ret_begin_ns,
                             uint64_t *ret_end_ns)
{
    uint64_t begin_ns = extent->begin[ESI_DIAGRAM_TIME] + picture->begin_ns;
    uint64_t end_ns = extent->end[ESI_DIAGRAM_TIME];

    if (picture->end_ns > 0)
        end_ns = extent->begin[ESI_DIAGRAM_TIME] + picture->end_ns;
    if (picture->since_ns > 0 && picture->since_ns < end_ns)
        begin_ns = end_ns - picture->since_ns;
    *ret_begin_ns = begin_ns;
    *ret_end_ns = end_ns;
    if (begin_ns < end_ns)
        return true;
    esi_command_fail(ES_EXIT_USAGE,
                     "--begin and --end select nothing: the run ended before");
    return false;
}

static bool set_window(struct picture_export *export)
{
    const struct esi_export_picture *wanted = export->wanted;
    struct esi_diagram_window *window = &export->picture.window;
    uint64_t begin_ns, end_ns;

    if (!esi_export_picture_span(wanted, &export->extent, &begin_ns, &end_ns))
        return false;
    *window = (struct esi_diagram_window){wanted->axis, begin_ns, end_ns,
                                          wanted->width > 0 ? wanted->width : WIDTH};
    if (wanted->axis == ESI_DIAGRAM_LEVEL) {
        window->from = level_at(export, begin_ns, false);
        window->to = level_at(export, end_ns, true);
    }
    return true;
}

/* "TRACE:INDEX". */
static int find_event(struct picture_export *export)
{
    uint32_t *counts = calloc(export->names.count + 1, sizeof *counts);
    struct es_error error = {.text = ""};
    struct esi_question question;
    char *line;
    int result;

    if (!counts || asprintf(&line, "concurrent %s", export->wanted->cone) < 0) {
        free(counts);
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    }
    for (uint32_t i = 0; i < export->names.count; i++)
        counts[i] = es_order_count(esi_diagram_order(export->diagram), i);
    result = esi_question_parse(line, &export->names, counts, &question, &error);
    free(line);
    free(counts);
    if (result <= 0)
        return esi_command_fail(ES_EXIT_USAGE, "--cone %s: %s", export->wanted->cone,
                                error.text[0] ? error.text : "no event given");
    export->picture.event = question.a;
    return ES_EXIT_SUCCESS;
}

/* --- Writing ---------------------------------------------------------------------- */

static int write_picture(const struct picture_export *export)
{
    struct es_error error = {.text = ""};
    struct esi_output_file *file;
    int result = esi_output_file_open(export->wanted->path, &error, &file);

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the picture");
    result = esi_diagram_print_svg(export->diagram, &export->picture,
                                   esi_output_file_stream(file));
    if (result < 0)
        esi_output_file_discard(file);
    else
        result = esi_output_file_close(file, &error);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot write the picture")
                      : ES_EXIT_SUCCESS;
}

static int draw_picture(struct picture_export *export)
{
    int status = ES_EXIT_SUCCESS;

    esi_diagram_extent(export->diagram, &export->extent);
    if (list_rows(export) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    if (export->picture.row_count == 0)
        return esi_command_fail(ES_EXIT_USAGE, "there is no event to draw");
    if (!set_window(export))
        return ES_EXIT_USAGE;
    if (export->wanted->cone)
        status = find_event(export);
    return status == ES_EXIT_SUCCESS ? write_picture(export) : status;
}

int esi_export_picture(struct esi_event_source *source,
                       const struct esi_export_picture *picture)
{
    const struct esi_diagram_config config = {.calls_max = ESI_EXPORT_CALLS};
    struct picture_export export = {.wanted = picture};
    struct esi_set_source_facts facts;
    struct es_set_sink sinks[2];
    int status = esi_event_source_refuse_set(source);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (esi_diagram_create(&config, &export.diagram) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    export.picture.title = source->path;
    source->listener = esi_diagram_listener(export.diagram);
    sinks[0] = esi_diagram_sink(export.diagram);
    sinks[1] = esi_trace_names_sink(&export.names);
    status = esi_event_source_read(source, false, sinks, 2, &facts);
    if (status == ES_EXIT_SUCCESS)
        status = draw_picture(&export);
    if (status == ES_EXIT_SUCCESS)
        esi_event_source_tell_missing(&facts);
    esi_trace_names_fini(&export.names);
    esi_diagram_destroy(export.diagram);
    free(export.rows);
    return status;
}
