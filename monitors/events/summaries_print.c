/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summaries_print.c - writes summaries: over which group, of what, and how much. */
#include "config.h"

#include "monitors/events/summaries_print.h"

#include <errno.h>
#include <inttypes.h>

#include "base/plain.h"
#include "base/rows.h"
#include "eventspace/operation.h"
#include "monitors/follow/describe.h"

/* What of a summary is there to be shown. */
struct facts {
    bool operation; /* of the group */
    bool element;
    bool thread;
    bool rank;
    bool host;
    bool sum;
    bool bucket;
};

static struct facts facts_of(const struct es_summary *summary)
{
    enum es_summary_group by = summary->by;
    bool origin = by == ES_SUMMARY_BY_ORIGIN;
    bool thread = origin || by == ES_SUMMARY_BY_THREAD;

    return (struct facts){
        .operation = by == ES_SUMMARY_BY_OPERATION,
        .element = origin,
        .thread = thread,
        .rank = thread || by == ES_SUMMARY_BY_RANK,
        .host = thread || by == ES_SUMMARY_BY_HOST,
        .sum = summary->kind == ES_SUMMARY_SUM || summary->kind == ES_SUMMARY_MEAN ||
               summary->kind == ES_SUMMARY_HISTOGRAM,
        .bucket = summary->kind == ES_SUMMARY_HISTOGRAM,
    };
}

static int64_t shown_time(const struct esi_events_printer *printer, uint64_t time_ns)
{
    return (int64_t)(time_ns - printer->start_ns);
}

static int state_of(const struct esi_events_printer *printer)
{
    return ferror(printer->stream) ? -EIO : 0;
}

/* --- Text --------------------------------------------------------------------- */

static const char *describe_group(char *out,
                                  size_t size,
                                  const struct esi_summary_row *row)
{
    const struct es_origin *origin = row->origin;

    switch (row->summary.by) {
    case ES_SUMMARY_BY_OPERATION:
        snprintf(out, size, "%s", es_operation_name(row->summary.operation));
        break;
    case ES_SUMMARY_BY_ORIGIN:
        snprintf(out, size, "%d.%d %s", origin->rank, origin->thread, origin->name);
        break;
    case ES_SUMMARY_BY_THREAD:
        snprintf(out, size, "thread %d.%d", origin->rank, origin->thread);
        break;
    case ES_SUMMARY_BY_RANK:
        snprintf(out, size, "rank %d", origin->rank);
        break;
    case ES_SUMMARY_BY_HOST:
        snprintf(out, size, "host %s", origin->host);
        break;
    default:
        snprintf(out, size, "all");
    }
    return out;
}

/* "350 us", "64 bytes". */
static const char *describe_value(char *out,
                                  size_t size,
                                  const struct es_summary *summary,
                                  uint64_t value)
{
    if (summary->of == ES_SUMMARY_DURATION)
        return esi_describe_span(out, size, value);
    snprintf(out, size, "%" PRIu64 " bytes", value);
    return out;
}

static void describe_figure(char *out, size_t size, const struct es_summary *summary)
{
    const char *of = es_summary_field_name(summary->of);
    char one[64], other[64];

    describe_value(one, sizeof one, summary, summary->value);
    switch (summary->kind) {
    case ES_SUMMARY_COUNT:
        out[0] = '\0';
        return;
    case ES_SUMMARY_MEAN:
        describe_value(one, sizeof one, summary, (uint64_t)es_summary_mean(summary));
        snprintf(out, size, "mean %s %s", of, one);
        return;
    case ES_SUMMARY_HISTOGRAM:
        describe_value(one, sizeof one, summary,
                       es_summary_bucket_least(summary->bucket));
        describe_value(other, sizeof other, summary,
                       es_summary_bucket_most(summary->bucket));
        snprintf(out, size, "%s %s to %s", of, one, other);
        return;
    default:
        snprintf(out, size, "%s %s %s", es_summary_kind_name(summary->kind), of, one);
    }
}

static int print_text(const struct esi_events_printer *printer,
                      const struct esi_summary_row *row)
{
    const struct es_summary *summary = &row->summary;
    char group[160], figure[192];

    describe_group(group, sizeof group, row);
    describe_figure(figure, sizeof figure, summary);
    esi_plain_print(printer->stream, "%16.9f %10" PRIu64 "  %s%s%s\n",
                    (double)shown_time(printer, summary->last_ns) / 1e9, summary->count,
                    group, figure[0] ? ": " : "", figure);
    return state_of(printer);
}

/* --- JSON Lines and CSV ----------------------------------------------------------- */

/* One line: a summary, or lost tuples. */
struct summary_line {
    const struct esi_events_printer *printer;
    const char *type;
    const struct es_summary *summary; /* NULL: lost tuples */
    const struct es_origin *origin;   /* NULL: of the whole scope */
    struct facts facts;
    uint64_t lost;
};

static void describe_integer(struct esi_row *row,
                             const char *name,
                             bool known,
                             int64_t value)
{
    if (known)
        esi_row_signed(row, name, NULL, value);
    else
        esi_row_none(row, name, NULL);
}

static void describe_number(struct esi_row *row,
                            const char *name,
                            bool known,
                            uint64_t value)
{
    if (known)
        esi_row_unsigned(row, name, NULL, value);
    else
        esi_row_none(row, name, NULL);
}

static void describe_origin(struct esi_row *row, const struct summary_line *line)
{
    const struct es_origin *origin = line->origin;
    struct facts facts = line->facts;

    describe_integer(row, "rank", facts.rank, facts.rank ? origin->rank : 0);
    describe_integer(row, "thread", facts.thread, facts.thread ? origin->thread : 0);
    esi_row_text(row, "host", NULL, facts.host ? origin->host : NULL);
    esi_row_text(row, "element", NULL, facts.element ? origin->name : NULL);
}

static void describe_figures(struct esi_row *row,
                             const struct es_summary *summary,
                             struct facts facts)
{
    static const struct es_summary none = {.kind = ES_SUMMARY_COUNT};
    const struct es_summary *all = summary ? summary : &none;

    describe_number(row, "count", summary, all->count);
    describe_number(row, "sum", facts.sum, all->value);
    describe_number(row, "minimum", all->kind == ES_SUMMARY_MINIMUM, all->value);
    describe_number(row, "maximum", all->kind == ES_SUMMARY_MAXIMUM, all->value);
    if (facts.sum)
        esi_row_real(row, "mean", NULL, es_summary_mean(all));
    else
        esi_row_none(row, "mean", NULL);
    describe_number(row, "bucket", facts.bucket, all->bucket);
    describe_number(row, "least", facts.bucket, es_summary_bucket_least(all->bucket));
    describe_number(row, "most", facts.bucket, es_summary_bucket_most(all->bucket));
}

static void describe_line(struct esi_row *row, const void *record)
{
    const struct summary_line *line = record;
    const struct es_summary *summary = line->summary;

    esi_row_text(row, "type", NULL, line->type);
    esi_row_text(row, "kind", NULL,
                 summary ? es_summary_kind_name(summary->kind) : NULL);
    esi_row_text(row, "of", NULL, summary ? es_summary_field_name(summary->of) : NULL);
    esi_row_text(row, "by", NULL, summary ? es_summary_group_name(summary->by) : NULL);
    describe_origin(row, line);
    esi_row_text(row, "operation", NULL,
                 line->facts.operation ? es_operation_name(summary->operation) : NULL);
    describe_figures(row, summary, line->facts);
    describe_integer(row, "first_ns", summary,
                     summary ? shown_time(line->printer, summary->first_ns) : 0);
    describe_integer(row, "last_ns", summary,
                     summary ? shown_time(line->printer, summary->last_ns) : 0);
    if (!esi_row_json(row))
        describe_number(row, "lost", !summary, line->lost);
}

static int print_line(const struct esi_events_printer *printer,
                      enum esi_rows_format format,
                      const struct summary_line *line)
{
    struct esi_rows rows;

    esi_rows_init(&rows, format, printer->stream, describe_line);
    esi_rows_add(&rows, line);
    return state_of(printer);
}

static int print_row(const struct esi_events_printer *printer,
                     enum esi_rows_format format,
                     const struct esi_summary_row *row)
{
    struct summary_line line = {
        .printer = printer,
        .type = "summary",
        .summary = &row->summary,
        .origin = row->origin,
        .facts = facts_of(&row->summary),
    };

    return print_line(printer, format, &line);
}

void esi_summaries_print_csv_loss(const struct esi_events_printer *printer,
                                  const struct es_origin *origin,
                                  uint64_t lost)
{
    struct summary_line line = {
        .type = "loss",
        .origin = origin,
        .facts = {.rank = true, .thread = true, .host = true, .element = true},
        .lost = lost,
    };

    print_line(printer, ESI_ROWS_CSV, &line);
}

void esi_summaries_print_csv_end(const struct esi_events_printer *printer,
                                 uint64_t lost)
{
    print_line(printer, ESI_ROWS_CSV,
               &(struct summary_line){.type = "end", .lost = lost});
}

/* --- All ---------------------------------------------------------------------- */

void esi_summaries_print_header(const struct esi_events_printer *printer)
{
    struct esi_rows rows;

    if (printer->format == ES_EVENTS_TEXT) {
        esi_plain_print(printer->stream, "%16s %10s  %s\n", "LAST s", "OPERATIONS",
                        "OF");
    } else if (printer->format == ES_EVENTS_CSV) {
        esi_rows_init(&rows, ESI_ROWS_CSV, printer->stream, describe_line);
        esi_rows_begin(&rows, &(struct summary_line){.type = NULL});
    }
}

int esi_summaries_print_row(const struct esi_events_printer *printer,
                            const struct esi_summary_row *row)
{
    switch (printer->format) {
    case ES_EVENTS_JSON:
        return print_row(printer, ESI_ROWS_JSON, row);
    case ES_EVENTS_CSV:
        return print_row(printer, ESI_ROWS_CSV, row);
    default:
        return print_text(printer, row);
    }
}
