/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_show.c - prints the statistics of a search. */
#include "config.h"

#include "cli/search/search_show.h"

#include <inttypes.h>

#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"

/* --- Fields ----------------------------------------------------------------------- */

/* In text only if not 0. */
static void describe_some(struct esi_row *row,
                          const char *name,
                          const char *heading,
                          uint64_t count)
{
    esi_row_unsigned(row, name, NULL, count);
    esi_row_unsigned(esi_row_if(row, count > 0), NULL, heading, count);
}

/* In text only if not 0. */
static void describe_size(struct esi_row *row,
                          const char *name,
                          const char *heading,
                          uint64_t bytes)
{
    esi_row_unsigned(row, name, NULL, bytes);
    esi_row_bytes(esi_row_if(row, bytes > 0), NULL, heading, (int64_t)bytes);
}

static void describe_events(struct esi_row *row, uint64_t events, uint32_t traces)
{
    esi_row_unsigned(row, "events", NULL, events);
    esi_row_unsigned(row, "traces", NULL, traces);
    esi_row_quantity(row, "events", "%" PRIu64 " on %" PRIu32 " traces", events,
                     traces);
}

static void print_record(enum esi_format format,
                         esi_row_describe *describe,
                         const void *record)
{
    esi_rows_print(format == ES_FORMAT_JSON ? ESI_ROWS_JSON : ESI_ROWS_LIST, stdout,
                   describe, record);
}

/* --- The number of matches -------------------------------------------------------- */

struct count_view {
    const char *pattern;
    uint64_t matches;
    bool is_complete;
};

static void describe_count(struct esi_row *row, const void *record)
{
    const struct count_view *view = record;

    esi_row_text(row, "type", NULL, "count");
    esi_row_text(row, "pattern", NULL, view->pattern);
    esi_row_unsigned(row, "matches", NULL, view->matches);
    esi_row_bool(row, "complete", NULL, view->is_complete);
}

void esi_search_show_count(const struct esi_search_file *file,
                           uint32_t predicate,
                           uint64_t matches,
                           bool is_complete,
                           enum esi_format format)
{
    const struct count_view view = {esi_pattern_predicate(file->file, predicate)->name,
                                    matches, is_complete};

    if (format == ES_FORMAT_JSON) {
        esi_rows_print_json(stdout, describe_count, &view);
        return;
    }
    if (file->predicate_count > 1)
        esi_plain_print(stdout, "%s: ", view.pattern);
    printf("%" PRIu64 "\n", matches);
}

/* --- A search of present events --------------------------------------------------- */

struct search_view {
    const char *pattern;
    const struct esi_engine_ops *engine;
    const struct esi_search_statistics *is;
    struct esi_order_statistics order;
    uint64_t domain_bytes;
    uint64_t detail_bytes;
    uint64_t read_ns;
    bool is_lower_bound;
};

static void describe_search(struct esi_row *row, const void *record)
{
    const struct search_view *view = record;
    const struct esi_search_statistics *is = view->is;

    esi_row_text(row, "type", NULL, "statistics");
    esi_row_text(row, "pattern", "pattern", view->pattern);
    esi_row_text(row, "engine", "engine", view->engine->name);
    esi_row_unsigned(row, "matches", "matches", is->matches);
    esi_row_unsigned(row, "assignments", "assignments", is->assignments);
    esi_row_bool(row, "complete", NULL, is->is_complete);
    esi_row_time(row, "elapsed_ns", "searched in", (int64_t)is->elapsed_ns);
    esi_row_unsigned(row, "comparisons", "comparisons", is->comparisons);
    esi_row_unsigned(row, "backtracks", "backtracks", is->backtracks);
    for (unsigned i = 0; esi_engines[i]; i++)
        if (esi_engines[i]->counted)
            describe_some(row, esi_engines[i]->counted, esi_engines[i]->counted,
                          esi_engines[i] == view->engine ? is->special : 0);
    esi_row_unsigned(row, "pattern_size", "pattern size", is->pattern_size);
    describe_size(row, "bytes", "memory of the search", is->bytes);
    describe_size(row, "class_bytes", "memory of the classes", view->domain_bytes);
    describe_size(row, "detail_bytes", "memory of attributes", view->detail_bytes);
    describe_size(row, "order_bytes", "memory of the order", view->order.stored_bytes);
    describe_events(row, view->order.events, view->order.traces);
    esi_row_time(row, "read_ns", "read in", (int64_t)view->read_ns);
    describe_some(row, "unknown", "not known", is->unknown);
    esi_row_bool(row, "lower_bound", NULL, view->is_lower_bound);
}

void esi_search_show(const char *pattern,
                     const struct esi_search_options *given,
                     const struct esi_search_events *events,
                     const struct esi_search_statistics *statistics)
{
    struct search_view view = {
        .pattern = pattern,
        .engine = esi_engine_find(given->config.engine),
        .is = statistics,
        .domain_bytes = esi_domains_bytes(events->domains),
        .detail_bytes = events->details ? esi_details_bytes(events->details) : 0,
        .read_ns = events->read_ns,
        .is_lower_bound = events->facts.is_incomplete,
    };

    esi_order_statistics(events->order, &view.order);
    print_record(given->format, describe_search, &view);
    if (given->format == ES_FORMAT_JSON)
        return;
    if (!statistics->is_complete)
        puts("The search did not finish.");
    if (view.is_lower_bound)
        printf("The events are incomplete: %s.\n", esi_event_source_lower_bound);
}

/* --- A live search ---------------------------------------------------------------- */

struct live_view {
    const struct esi_live_statistics *is;
    struct esi_order_statistics order;
    uint64_t time_ns;
    bool is_lower_bound;
};

static void describe_live(struct esi_row *row, const void *record)
{
    const struct live_view *view = record;
    const struct esi_live_statistics *is = view->is;

    esi_row_text(row, "type", NULL, "statistics");
    esi_row_text(row, "engine", NULL, "live");
    esi_row_unsigned(row, "matches", "matches", is->matches);
    esi_row_bool(row, "complete", NULL, is->is_complete);
    describe_events(row, is->events, view->order.traces);
    esi_row_time(row, "elapsed_ns", "followed for", (int64_t)view->time_ns);
    esi_row_unsigned(row, "kept_events", "events kept", is->kept_events);
    esi_row_unsigned(row, "dropped_events", "events dropped", is->dropped_events);
    esi_row_unsigned(row, "lost_events", "events lost", is->lost_events);
    esi_row_unsigned(row, "candidates", "candidates", is->candidates);
    esi_row_unsigned(row, "lost_candidates", "candidates lost", is->lost_candidates);
    esi_row_unsigned(row, "comparisons", "comparisons", is->comparisons);
    esi_row_unsigned(row, "unknown", "not known", is->unknown);
    esi_row_unsigned(row, "missed_partners", "partners missed", is->missed_partners);
    describe_size(row, "bytes", "memory of the search", is->bytes);
    describe_size(row, "order_bytes", "memory of the order",
                  view->order.stored_bytes + view->order.writer_bytes);
    esi_row_bool(row, "lower_bound", NULL, view->is_lower_bound);
}

void esi_search_show_live(const struct es_order *order,
                          const struct esi_live_statistics *statistics,
                          const struct esi_set_source_facts *facts,
                          uint64_t time_ns,
                          enum esi_format format)
{
    struct live_view view = {
        .is = statistics, .time_ns = time_ns, .is_lower_bound = facts->is_incomplete};

    esi_order_statistics(order, &view.order);
    print_record(format, describe_live, &view);
}

struct predicate_view {
    const char *pattern;
    const struct esi_live_predicate_statistics *is;
};

static void describe_predicate(struct esi_row *row, const void *record)
{
    const struct predicate_view *view = record;
    const struct esi_live_predicate_statistics *is = view->is;
    char bytes[ESI_QUANTITY_BYTES];

    esi_row_text(row, "type", NULL, "predicate statistics");
    esi_row_text(row, "pattern", NULL, view->pattern);
    esi_row_unsigned(row, "matches", NULL, is->matches);
    esi_row_unsigned(row, "candidates", NULL, is->candidates);
    esi_row_unsigned(row, "lost_candidates", NULL, is->lost_candidates);
    esi_row_unsigned(row, "comparisons", NULL, is->comparisons);
    esi_row_unsigned(row, "bytes", NULL, is->bytes);
    esi_row_quantity(row, view->pattern,
                     "%" PRIu64 " matches, %" PRIu64 " candidates (%" PRIu64
                     " lost), %" PRIu64 " comparisons, %s",
                     is->matches, is->candidates, is->lost_candidates, is->comparisons,
                     esi_quantity_bytes(bytes, sizeof bytes, (double)is->bytes));
}

void esi_search_show_live_predicate(
    const char *pattern,
    const struct esi_live_predicate_statistics *statistics,
    enum esi_format format)
{
    const struct predicate_view view = {pattern, statistics};

    print_record(format, describe_predicate, &view);
}

void esi_search_without_add(struct esi_search_without *without, const char *name)
{
    enum { NAMED = sizeof without->names / sizeof without->names[0] };

    if (without->count < NAMED)
        without->names[without->count] = name;
    without->count++;
}

void esi_search_without_tell(const struct esi_search_without *without,
                             const struct esi_search_options *given,
                             const struct es_order *order)
{
    enum { NAMED = sizeof without->names / sizeof without->names[0] };
    struct esi_order_statistics statistics;
    char names[512] = "", more[32] = "";

    if (without->count == 0 || given->is_count || given->format != ES_FORMAT_TEXT)
        return;
    for (uint32_t i = 0, length = 0;
         i < without->count && i < NAMED && length < sizeof names; i++)
        length += (uint32_t)snprintf(names + length, sizeof names - length, "%s%s",
                                     i ? ", " : "", without->names[i]);
    if (without->count > NAMED)
        snprintf(more, sizeof more, " and %" PRIu32 " more", without->count - NAMED);
    esi_order_statistics(order, &statistics);
    esi_command_note("no match of %s%s in %" PRIu64 " events", names, more,
                     statistics.events);
}
