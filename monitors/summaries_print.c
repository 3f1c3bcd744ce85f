/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* summaries_print.c - writes summaries: over which group, of what, and how much. */
#include "config.h"

#include "monitors/summaries_print.h"

#include <errno.h>
#include <inttypes.h>

#include "base/csv.h"
#include "base/json_out.h"
#include "base/plain.h"
#include "eventspace/operation.h"
#include "monitors/describe.h"

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

static int64_t shown_time(const struct es_events_printer *printer, uint64_t time_ns)
{
    return (int64_t)(time_ns - printer->start_ns);
}

static int state_of(const struct es_events_printer *printer)
{
    return ferror(printer->stream) ? -EIO : 0;
}

/* --- Text --------------------------------------------------------------------- */

static const char *describe_group(char *out,
                                  size_t size,
                                  const struct es_summary_row *row)
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

static int print_text(const struct es_events_printer *printer,
                      const struct es_summary_row *row)
{
    const struct es_summary *summary = &row->summary;
    char group[160], figure[192];

    describe_group(group, sizeof group, row);
    describe_figure(figure, sizeof figure, summary);
    es_plain_print(printer->stream, "%16.9f %10" PRIu64 "  %s%s%s\n",
                   (double)shown_time(printer, summary->last_ns) / 1e9, summary->count,
                   group, figure[0] ? ": " : "", figure);
    return state_of(printer);
}

/* --- JSON Lines --------------------------------------------------------------- */

static void put_integer(struct es_json_out *out, const char *key, int value, bool known)
{
    if (known)
        es_json_out_signed(out, key, value);
    else
        es_json_out_null(out, key);
}

static void put_number(struct es_json_out *out,
                       const char *key,
                       uint64_t value,
                       bool known)
{
    if (known)
        es_json_out_unsigned(out, key, value);
    else
        es_json_out_null(out, key);
}

static void put_figures(struct es_json_out *out, const struct es_summary *summary)
{
    struct facts facts = facts_of(summary);

    es_json_out_unsigned(out, "count", summary->count);
    put_number(out, "sum", summary->value, facts.sum);
    put_number(out, "minimum", summary->value, summary->kind == ES_SUMMARY_MINIMUM);
    put_number(out, "maximum", summary->value, summary->kind == ES_SUMMARY_MAXIMUM);
    if (facts.sum)
        es_json_out_real(out, "mean", es_summary_mean(summary));
    else
        es_json_out_null(out, "mean");
    put_number(out, "bucket", summary->bucket, facts.bucket);
    put_number(out, "least", es_summary_bucket_least(summary->bucket), facts.bucket);
    put_number(out, "most", es_summary_bucket_most(summary->bucket), facts.bucket);
}

static int print_json(const struct es_events_printer *printer,
                      const struct es_summary_row *row)
{
    const struct es_summary *summary = &row->summary;
    const struct es_origin *origin = row->origin;
    struct facts facts = facts_of(summary);
    struct es_json_out out;

    es_json_out_init(&out, printer->stream);
    es_json_out_begin_object(&out, NULL);
    es_json_out_string(&out, "type", "summary");
    es_json_out_string(&out, "kind", es_summary_kind_name(summary->kind));
    es_json_out_string(&out, "of", es_summary_field_name(summary->of));
    es_json_out_string(&out, "by", es_summary_group_name(summary->by));
    put_integer(&out, "rank", origin->rank, facts.rank);
    put_integer(&out, "thread", origin->thread, facts.thread);
    es_json_out_string(&out, "host", facts.host ? origin->host : NULL);
    es_json_out_string(&out, "element", facts.element ? origin->name : NULL);
    es_json_out_string(&out, "operation",
                       facts.operation ? es_operation_name(summary->operation) : NULL);
    put_figures(&out, summary);
    es_json_out_signed(&out, "first_ns", shown_time(printer, summary->first_ns));
    es_json_out_signed(&out, "last_ns", shown_time(printer, summary->last_ns));
    es_json_out_end(&out);
    return state_of(printer);
}

/* --- CSV ---------------------------------------------------------------------- */

static void csv_number(const struct es_events_printer *printer,
                       uint64_t value,
                       bool known)
{
    fputc(',', printer->stream);
    if (known)
        fprintf(printer->stream, "%" PRIu64, value);
}

static void csv_integer(const struct es_events_printer *printer, int value, bool known)
{
    fputc(',', printer->stream);
    if (known)
        fprintf(printer->stream, "%d", value);
}

static void csv_word(const struct es_events_printer *printer, const char *word)
{
    fputc(',', printer->stream);
    es_csv_text(printer->stream, word);
}

static void csv_figures(const struct es_events_printer *printer,
                        const struct es_summary *summary)
{
    struct facts facts = facts_of(summary);

    csv_number(printer, summary->count, true);
    csv_number(printer, summary->value, facts.sum);
    csv_number(printer, summary->value, summary->kind == ES_SUMMARY_MINIMUM);
    csv_number(printer, summary->value, summary->kind == ES_SUMMARY_MAXIMUM);
    fputc(',', printer->stream);
    if (facts.sum)
        fprintf(printer->stream, "%.17g", es_summary_mean(summary));
    csv_number(printer, summary->bucket, facts.bucket);
    csv_number(printer, es_summary_bucket_least(summary->bucket), facts.bucket);
    csv_number(printer, es_summary_bucket_most(summary->bucket), facts.bucket);
}

static int print_csv(const struct es_events_printer *printer,
                     const struct es_summary_row *row)
{
    const struct es_summary *summary = &row->summary;
    const struct es_origin *origin = row->origin;
    struct facts facts = facts_of(summary);

    es_plain_print(
        printer->stream, "summary,%s,%s,%s", es_summary_kind_name(summary->kind),
        es_summary_field_name(summary->of), es_summary_group_name(summary->by));
    csv_integer(printer, origin->rank, facts.rank);
    csv_integer(printer, origin->thread, facts.thread);
    csv_word(printer, facts.host ? origin->host : "");
    csv_word(printer, facts.element ? origin->name : "");
    csv_word(printer, facts.operation ? es_operation_name(summary->operation) : "");
    csv_figures(printer, summary);
    fprintf(printer->stream, ",%" PRId64 ",%" PRId64 ",\r\n",
            shown_time(printer, summary->first_ns),
            shown_time(printer, summary->last_ns));
    return state_of(printer);
}

void esi_summaries_print_csv_loss(const struct es_events_printer *printer,
                                  const struct es_origin *origin,
                                  uint64_t lost)
{
    fprintf(printer->stream, "loss,,,,%d,%d", origin->rank, origin->thread);
    csv_word(printer, origin->host);
    csv_word(printer, origin->name);
    fprintf(printer->stream, ",,,,,,,,,,,,%" PRIu64 "\r\n", lost);
}

void esi_summaries_print_csv_end(const struct es_events_printer *printer, uint64_t lost)
{
    fprintf(printer->stream, "end,,,,,,,,,,,,,,,,,,,%" PRIu64 "\r\n", lost);
}

/* --- All ---------------------------------------------------------------------- */

void esi_summaries_print_header(const struct es_events_printer *printer)
{
    if (printer->format == ES_EVENTS_TEXT)
        es_plain_print(printer->stream, "%16s %10s  %s\n", "LAST s", "OPERATIONS",
                       "OF");
    else if (printer->format == ES_EVENTS_CSV)
        fputs("type,kind,of,by,rank,thread,host,element,operation,count,sum,minimum,"
              "maximum,mean,bucket,least,most,first_ns,last_ns,lost\r\n",
              printer->stream);
}

int esi_summaries_print_row(const struct es_events_printer *printer,
                            const struct es_summary_row *row)
{
    static int (*const prints[])(const struct es_events_printer *printer,
                                 const struct es_summary_row *row) = {
        [ES_EVENTS_TEXT] = print_text,
        [ES_EVENTS_JSON] = print_json,
        [ES_EVENTS_CSV] = print_csv,
    };

    return prints[printer->format](printer, row);
}
