/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* compare_print.c - prints the differences of two runs, for people and for programs. */
#include "config.h"

#include "monitors/compare/compare_print.h"

#include <inttypes.h>
#include <math.h>

#include "base/quantity.h"
#include "eventspace/operation.h"

/* --- Rows ------------------------------------------------------------------------- */

static const char *group_name(enum esi_delay_group group)
{
    return group == ESI_DELAY_BY_RANK   ? "rank"
           : group == ESI_DELAY_BY_LINE ? "line"
                                        : "operation";
}

static void describe_what(struct esi_row *row, const struct esi_compare_row *of)
{
    bool has_name = of->name && *of->name;

    esi_row_signed(esi_row_if(row, of->rank >= 0), "rank", NULL, of->rank);
    esi_row_text(row, "name", NULL, of->name);
    esi_row_text(row, "operation", NULL, of->operation);
    if (of->group == ESI_DELAY_BY_RANK)
        esi_row_words(row, "WHERE", 16, "rank %d", of->rank);
    else
        esi_row_words(row, "WHERE", 16, "%s%s%s",
                      of->operation ? of->operation
                      : has_name    ? of->name
                                    : "",
                      of->operation && has_name ? " at " : "",
                      of->operation && has_name ? of->name : "");
}

static void describe_samples(struct esi_row *row,
                             const struct esi_bootstrap *noise,
                             const char *low,
                             const char *high)
{
    esi_row_signed(esi_row_if(row, noise->known), low, NULL, llround(noise->low));
    esi_row_signed(esi_row_if(row, noise->known), high, NULL, llround(noise->high));
}

static void describe_noise(struct esi_row *row, const struct esi_compare_row *of)
{
    const struct esi_bootstrap *noise = &of->noise;
    char low[ESI_QUANTITY_BYTES], high[ESI_QUANTITY_BYTES];

    esi_row_time(row, "difference_ns", "DIFFERENCE", llround(noise->difference));
    describe_samples(row, noise, "low_ns", "high_ns");
    esi_row_bool(row, "differs", NULL, of->differs);
    if (noise->known)
        esi_row_words(esi_row_minor(row, 1), "99 % OF SAMPLES", 0, "%s to %s",
                      esi_quantity_time(low, sizeof low, noise->low),
                      esi_quantity_time(high, sizeof high, noise->high));
    else
        esi_row_words(esi_row_minor(row, 1), "99 % OF SAMPLES", 0, "not known");
}

/* A row and its context. */
struct difference_row {
    const struct esi_compare_row *row;
    const struct esi_compare_totals *totals;
};

/* Of the critical path, in percent. */
static void describe_share(struct esi_row *row, const struct difference_row *shown)
{
    bool is_path = shown->row->metric == ESI_COMPARE_CRITICAL;
    double a = shown->totals->runs[ESI_COMPARE_A].critical;
    double b = shown->totals->runs[ESI_COMPARE_B].critical;

    a = is_path && a > 0 ? 100 * shown->row->a / a : 0;
    b = is_path && b > 0 ? 100 * shown->row->b / b : 0;
    esi_row_real(esi_row_if(row, is_path), "a_path_percent", NULL, a);
    esi_row_real(esi_row_if(row, is_path), "b_path_percent", NULL, b);
    if (is_path)
        esi_row_words(esi_row_minor(row, 2), "PATH %", 0, "%.1f to %.1f", a, b);
    else
        esi_row_words(esi_row_minor(row, 2), "PATH %", 0, "-");
}

static void describe_row(struct esi_row *row, const void *record)
{
    const struct difference_row *shown = record;
    const struct esi_compare_row *of = shown->row;

    if (esi_row_is_json(row))
        esi_row_text(row, "type", NULL, "difference");
    esi_row_text(row, "metric", "TIME", esi_compare_metric_name(of->metric));
    esi_row_text(row, "group", NULL, group_name(of->group));
    describe_what(row, of);
    esi_row_time(row, "a_ns", "A", llround(of->a));
    esi_row_time(row, "b_ns", "B", llround(of->b));
    describe_noise(row, of);
    describe_share(row, shown);
}

static void describe_value(struct esi_row *row,
                           const char *name,
                           const char *heading,
                           const struct esi_compare_row *of,
                           double value)
{
    if (of->metric == ESI_COMPARE_TIME)
        esi_row_time(row, name, heading, llround(value));
    else if (of->metric == ESI_COMPARE_BYTES)
        esi_row_bytes(row, name, heading, llround(value));
    else
        esi_row_signed(row, name, heading, llround(value));
}

static void describe_profile(struct esi_row *row, const void *record)
{
    const struct difference_row *shown = record;
    const struct esi_compare_row *of = shown->row;

    if (esi_row_is_json(row))
        esi_row_text(row, "type", NULL, "profile");
    esi_row_text(row, "metric", "PROFILE", esi_compare_metric_name(of->metric));
    esi_row_text(row, "group", NULL, group_name(of->group));
    describe_what(row, of);
    describe_value(row, "a", "A", of, of->a);
    describe_value(row, "b", "B", of, of->b);
    describe_value(row, "difference", "DIFFERENCE", of, of->b - of->a);
    describe_samples(row, &of->noise, "low", "high");
    esi_row_bool(row, "differs", NULL, of->differs);
}

/* State of printing rows. */
struct printed_rows {
    const struct esi_compare_row *rows;
    size_t count;
    esi_row_describe *describe;
};

static struct printed_rows times_of(const struct esi_compare *compare)
{
    struct printed_rows shown = {.describe = describe_row};

    shown.rows = esi_compare_rows(compare, &shown.count);
    return shown;
}

static struct printed_rows profiles_of(const struct esi_compare *compare)
{
    struct printed_rows shown = {.describe = describe_profile};

    shown.rows = esi_compare_profile_rows(compare, &shown.count);
    return shown;
}

static int print_rows(const struct printed_rows *of,
                      const struct esi_compare_style *style,
                      enum esi_rows_format format,
                      const struct esi_compare_totals *totals,
                      FILE *stream)
{
    static const struct esi_compare_row empty = {.name = ""};
    struct difference_row shown = {.row = &empty, .totals = totals};
    struct esi_rows rows;
    int result;

    esi_rows_init(&rows, format, stream, of->describe);
    result = esi_rows_begin(&rows, &shown);
    for (size_t i = 0; i < of->count && result == 0; i++) {
        shown.row = &of->rows[i];
        if ((style->top == 0 || i < style->top) && (style->all || shown.row->differs))
            esi_rows_add(&rows, &shown);
    }
    return result < 0 ? result : esi_rows_finish(&rows);
}

/* --- Orders ----------------------------------------------------------------------- */

static void describe_step(struct esi_row *row,
                          const char *name,
                          const struct esi_sequence_step *step)
{
    if (!step) {
        esi_row_none(row, name, NULL);
        return;
    }
    if (!esi_row_begin_object(row, name))
        return;
    esi_row_text(row, "operation", NULL, es_operation_name(step->operation));
    esi_row_text(row, "communicator", NULL, step->communicator);
    esi_row_signed(row, "peer", NULL, step->peer);
    esi_row_signed(row, "tag", NULL, step->tag);
    esi_row_bool(row, "any", NULL, step->any);
    esi_row_text(row, "site", NULL, step->site);
    esi_row_unsigned(row, "start_ns", NULL, step->start_ns);
    esi_row_end(row);
}

static void describe_order(struct esi_row *row, const void *record)
{
    const struct esi_compare_totals *totals = record;
    const struct esi_sequence_difference *first = &totals->first;

    esi_row_text(row, "type", NULL, "order");
    esi_row_unsigned(row, "alike", NULL, totals->alike);
    esi_row_bool(row, "differs", NULL, totals->orders_differ);
    esi_row_signed(esi_row_if(row, totals->orders_differ), "rank", NULL, first->rank);
    esi_row_signed(esi_row_if(row, totals->orders_differ), "thread", NULL,
                   first->thread);
    esi_row_unsigned(esi_row_if(row, totals->orders_differ), "number", NULL,
                     first->number);
    describe_step(row, "a", first->a);
    describe_step(row, "b", first->b);
}

static void print_step(const char *run,
                       const struct esi_sequence_step *step,
                       FILE *stream)
{
    if (!step) {
        esi_text_prose_print(stream, "  %s: nothing more", run);
        return;
    }
    esi_text_prose_print(
        stream, "  %s: %s%s%s%.0d%s on %s%s%s", run, es_operation_name(step->operation),
        step->any ? " from any source" : "", step->peer >= 0 ? ", rank " : "",
        step->peer >= 0 ? step->peer : 0, step->peer == 0 ? "0" : "",
        step->communicator, *step->site ? " at " : "", step->site);
}

static void print_orders(const struct esi_compare_totals *totals,
                         const struct esi_compare_style *style,
                         FILE *stream)
{
    const struct esi_sequence_difference *first = &totals->first;

    if (!totals->orders_differ) {
        esi_text_prose_print(stream,
                             "the order is the same: %" PRIu64
                             " sends, receives and collective operations",
                             totals->alike);
        return;
    }
    esi_text_prose_print(
        stream,
        "the order differs first in operation %zu of rank %d, thread %d "
        "(sends, receives and collective operations):",
        first->number, first->rank, first->thread);
    print_step(style->names[ESI_COMPARE_A], first->a, stream);
    print_step(style->names[ESI_COMPARE_B], first->b, stream);
}

/* --- All -------------------------------------------------------------------------- */

static void print_run(const char *letter,
                      const char *name,
                      const struct esi_delay_totals *totals,
                      FILE *stream)
{
    char span[ESI_QUANTITY_BYTES], waited[ESI_QUANTITY_BYTES],
        critical[ESI_QUANTITY_BYTES], seen[ESI_COVERAGE_BYTES];

    esi_text_prose_print(
        stream, "%s: %s, %zu threads in %s, %s of waiting, critical path %s", letter,
        name, totals->threads,
        esi_quantity_time(span, sizeof span, (double)totals->seen.seen_ns),
        esi_quantity_time(waited, sizeof waited, totals->waited),
        esi_quantity_time(critical, sizeof critical, totals->critical));
    if (esi_coverage_describe(&totals->seen, seen))
        esi_text_prose_print(stream, "  %s", seen);
}

static int print_table(const struct printed_rows *rows,
                       size_t differing,
                       const struct esi_compare_style *style,
                       const struct esi_compare_totals *totals,
                       FILE *stream)
{
    if (rows->count == 0 || (differing == 0 && !style->all))
        return 0;
    fputc('\n', stream);
    return print_rows(rows, style, ESI_ROWS_TABLE, totals, stream);
}

int esi_compare_print_text(const struct esi_compare *compare,
                           const struct esi_compare_style *style,
                           FILE *stream)
{
    struct esi_compare_totals totals;
    struct printed_rows times, profiles;
    int result;

    esi_compare_totals(compare, &totals);
    print_run("A", style->names[ESI_COMPARE_A], &totals.runs[ESI_COMPARE_A], stream);
    print_run("B", style->names[ESI_COMPARE_B], &totals.runs[ESI_COMPARE_B], stream);
    print_orders(&totals, style, stream);
    if (totals.differing == 0)
        esi_text_prose_print(stream, "the data show no difference in times");
    else
        esi_text_prose_print(
            stream, "%zu times differ by more than the runs' own iterations do",
            totals.differing);
    if (totals.profiled)
        esi_text_prose_print(stream, "%zu sums of the profiles differ",
                             totals.profile_differing);
    times = times_of(compare);
    profiles = profiles_of(compare);
    result = print_table(&times, totals.differing, style, &totals, stream);
    return result < 0 ? result
                      : print_table(&profiles, totals.profile_differing, style, &totals,
                                    stream);
}

static void describe_totals(struct esi_row *row, const void *record)
{
    const struct esi_compare_totals *totals = record;
    const struct esi_delay_totals *a = &totals->runs[ESI_COMPARE_A];
    const struct esi_delay_totals *b = &totals->runs[ESI_COMPARE_B];

    esi_row_text(row, "type", NULL, "totals");
    esi_row_unsigned(row, "differing", NULL, totals->differing);
    esi_row_bool(row, "profiled", NULL, totals->profiled);
    esi_row_unsigned(row, "profile_differing", NULL, totals->profile_differing);
    esi_row_unsigned(row, "a_threads", NULL, a->threads);
    esi_row_unsigned(row, "b_threads", NULL, b->threads);
    esi_row_unsigned(row, "a_time_ns", NULL, a->seen.seen_ns);
    esi_row_unsigned(row, "b_time_ns", NULL, b->seen.seen_ns);
    esi_row_unsigned(row, "a_run_ns", NULL, a->seen.end_ns - a->seen.begin_ns);
    esi_row_unsigned(row, "b_run_ns", NULL, b->seen.end_ns - b->seen.begin_ns);
    esi_row_signed(row, "a_waited_ns", NULL, llround(a->waited));
    esi_row_signed(row, "b_waited_ns", NULL, llround(b->waited));
    esi_row_signed(row, "a_critical_ns", NULL, llround(a->critical));
    esi_row_signed(row, "b_critical_ns", NULL, llround(b->critical));
}

int esi_compare_print_json(const struct esi_compare *compare, FILE *stream)
{
    static const struct esi_compare_style whole = {.all = true};
    struct printed_rows times = times_of(compare);
    struct printed_rows profiles = profiles_of(compare);
    struct esi_compare_totals totals;
    int result;

    esi_compare_totals(compare, &totals);
    result = print_rows(&times, &whole, ESI_ROWS_JSON, &totals, stream);
    if (result == 0)
        result = print_rows(&profiles, &whole, ESI_ROWS_JSON, &totals, stream);
    if (result == 0)
        result = esi_rows_print_json(stream, describe_order, &totals);
    return result < 0 ? result : esi_rows_print_json(stream, describe_totals, &totals);
}

int esi_compare_print_csv(const struct esi_compare *compare,
                          const struct esi_compare_style *style,
                          FILE *stream)
{
    struct printed_rows times = times_of(compare);
    struct esi_compare_totals totals;

    esi_compare_totals(compare, &totals);
    return print_rows(&times, style, ESI_ROWS_CSV, &totals, stream);
}
