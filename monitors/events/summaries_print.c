/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summaries_print.c - prints summaries: the group, the quantity and its values. */
#include "config.h"

#include "monitors/events/summaries_print.h"

#include <inttypes.h>

#include "base/quantity.h"
#include "base/table.h"
#include "eventspace/operation.h"

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
    case ES_SUMMARY_BY_SITE:
        snprintf(out, size, "%s", row->site && *row->site ? row->site : "unknown site");
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
        return esi_quantity_time(out, size, (double)value);
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

void esi_summary_print_text(const struct esi_events_printer *printer,
                            const struct esi_summary_row *row)
{
    const struct es_summary *summary = &row->summary;
    char group[288], figure[192];

    describe_group(group, sizeof group, row);
    describe_figure(figure, sizeof figure, summary);
    esi_text_line_print(printer->stream, printer->width, "%16.6f %10" PRIu64 "  %s%s%s",
                        (double)esi_events_shown_time(printer, summary->last_ns) / 1e9,
                        summary->count, group, figure[0] ? ": " : "", figure);
}

/* --- JSON Lines and CSV ----------------------------------------------------------- */

static void describe_members(struct esi_row *row,
                             enum es_summary_group by,
                             const struct es_origin *origin,
                             uint16_t operation)
{
    static const struct es_origin nobody = {.rank = 0};
    bool is_element = by == ES_SUMMARY_BY_ORIGIN;
    bool is_thread = is_element || by == ES_SUMMARY_BY_THREAD;
    bool is_rank = is_thread || by == ES_SUMMARY_BY_RANK;
    bool is_host = is_thread || by == ES_SUMMARY_BY_HOST;

    if (!origin)
        origin = &nobody;
    esi_row_signed(esi_row_if(row, is_rank), "rank", NULL, origin->rank);
    esi_row_signed(esi_row_if(row, is_thread), "thread", NULL, origin->thread);
    esi_row_text(esi_row_if(row, is_host), "host", NULL, origin->host);
    esi_row_text(esi_row_if(row, is_element), "element", NULL, origin->name);
    esi_row_text(esi_row_if(row, by == ES_SUMMARY_BY_OPERATION), "operation", NULL,
                 es_operation_name(operation));
}

static void describe_figures(struct esi_row *row, const struct es_summary *summary)
{
    enum es_summary_kind kind = summary->kind;
    bool is_bucket = kind == ES_SUMMARY_HISTOGRAM;
    bool is_sum = is_bucket || kind == ES_SUMMARY_SUM || kind == ES_SUMMARY_MEAN;

    esi_row_unsigned(esi_row_if(row, is_sum), "sum", NULL, summary->value);
    esi_row_unsigned(esi_row_if(row, kind == ES_SUMMARY_MINIMUM), "minimum", NULL,
                     summary->value);
    esi_row_unsigned(esi_row_if(row, kind == ES_SUMMARY_MAXIMUM), "maximum", NULL,
                     summary->value);
    esi_row_real(esi_row_if(row, is_sum), "mean", NULL, es_summary_mean(summary));
    esi_row_unsigned(esi_row_if(row, is_bucket), "bucket", NULL, summary->bucket);
    esi_row_unsigned(esi_row_if(row, is_bucket), "least", NULL,
                     es_summary_bucket_least(summary->bucket));
    esi_row_unsigned(esi_row_if(row, is_bucket), "most", NULL,
                     es_summary_bucket_most(summary->bucket));
}

void esi_summary_describe(struct esi_row *row, const void *record)
{
    const struct esi_event_line *line = record;
    const struct es_summary none = {.kind = ES_SUMMARY_KINDS,
                                    .by = line->origin ? ES_SUMMARY_BY_ORIGIN
                                                       : ES_SUMMARY_BY_NONE};
    const struct es_summary *summary = line->summary ? &line->summary->summary : &none;
    bool is = line->summary != NULL;

    esi_row_text(row, "type", NULL, line->type);
    esi_row_text(row, "kind", NULL, is ? es_summary_kind_name(summary->kind) : NULL);
    esi_row_text(row, "of", NULL, is ? es_summary_field_name(summary->of) : NULL);
    esi_row_text(row, "by", NULL, is ? es_summary_group_name(summary->by) : NULL);
    describe_members(row, summary->by, line->origin, summary->operation);
    if (summary->by == ES_SUMMARY_BY_SITE)
        esi_row_text(row, "site", NULL, is ? line->summary->site : NULL);
    esi_row_unsigned(esi_row_if(row, is), "count", NULL, summary->count);
    describe_figures(row, summary);
    esi_row_signed(esi_row_if(row, is), "first_ns", NULL,
                   esi_events_shown_time(line->printer, summary->first_ns));
    esi_row_signed(esi_row_if(row, is), "last_ns", NULL,
                   esi_events_shown_time(line->printer, summary->last_ns));
    if (!esi_row_is_json(row))
        esi_row_unsigned(esi_row_if(row, !is), "lost", NULL, line->lost);
}
