/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_show.c - what a search took, for people and programs. */
#include "config.h"

#include "cli/search_show.h"

#include <inttypes.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "base/quantity.h"

void esi_search_show_count(const struct esi_search_file *file,
                           uint32_t predicate,
                           uint64_t matches,
                           bool is_complete,
                           enum esi_format format)
{
    const char *pattern = esi_pattern_predicate(file->file, predicate)->name;
    struct esi_json_out out;

    if (format == ES_FORMAT_TEXT) {
        if (file->predicate_count > 1)
            esi_plain_print(stdout, "%s: ", pattern);
        printf("%" PRIu64 "\n", matches);
        return;
    }
    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "count");
    esi_json_out_string(&out, "pattern", pattern);
    esi_json_out_unsigned(&out, "matches", matches);
    esi_json_out_bool(&out, "complete", is_complete);
    esi_json_out_end(&out);
}

/* --- A search of what is there ---------------------------------------------------- */

struct search_view {
    const char *pattern;
    const char *engine;
    const struct esi_search_statistics *is;
    struct esi_order_statistics order;
    uint64_t domain_bytes;
    uint64_t detail_bytes;
    uint64_t read_ns;
    bool is_lower_bound;
};

static void print_count(const char *name, uint64_t count)
{
    esi_plain_print(stdout, "%-22s%" PRIu64 "\n", name, count);
}

static void print_time(const char *name, uint64_t ns)
{
    char words[ESI_QUANTITY_BYTES];

    esi_plain_print(stdout, "%-22s%s\n", name,
                    esi_quantity_time(words, sizeof words, (double)ns));
}

static void show_text(const struct search_view *view)
{
    const struct esi_search_statistics *is = view->is;

    esi_plain_print(stdout, "%-22s%s\n", "pattern", view->pattern);
    esi_plain_print(stdout, "%-22s%s\n", "engine", view->engine);
    print_count("matches", is->matches);
    print_count("assignments", is->assignments);
    print_time("searched in", is->elapsed_ns);
    print_count("comparisons", is->comparisons);
    print_count("backtracks", is->backtracks);
    if (is->closures)
        print_count("closures", is->closures);
    print_count("pattern size", is->pattern_size);
    print_count("bytes of the search", is->bytes);
    print_count("bytes of the classes", view->domain_bytes);
    if (view->detail_bytes)
        print_count("bytes of attributes", view->detail_bytes);
    print_count("bytes of the order", view->order.stored_bytes);
    esi_plain_print(stdout, "%-22s%" PRIu64 " on %" PRIu32 " traces\n", "events",
                    view->order.events, view->order.traces);
    print_time("read in", view->read_ns);
    if (is->unknown)
        print_count("not known", is->unknown);
    if (!is->is_complete)
        puts("The search did not come to its end.");
    if (view->is_lower_bound)
        printf("The events are incomplete: %s.\n", esi_event_source_lower_bound);
}

static void show_json(const struct search_view *view)
{
    const struct esi_search_statistics *is = view->is;
    struct esi_json_out out;

    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "statistics");
    esi_json_out_string(&out, "pattern", view->pattern);
    esi_json_out_string(&out, "engine", view->engine);
    esi_json_out_unsigned(&out, "matches", is->matches);
    esi_json_out_unsigned(&out, "assignments", is->assignments);
    esi_json_out_bool(&out, "complete", is->is_complete);
    esi_json_out_unsigned(&out, "elapsed_ns", is->elapsed_ns);
    esi_json_out_unsigned(&out, "comparisons", is->comparisons);
    esi_json_out_unsigned(&out, "backtracks", is->backtracks);
    esi_json_out_unsigned(&out, "closures", is->closures);
    esi_json_out_unsigned(&out, "pattern_size", is->pattern_size);
    esi_json_out_unsigned(&out, "unknown", is->unknown);
    esi_json_out_unsigned(&out, "bytes", is->bytes);
    esi_json_out_unsigned(&out, "class_bytes", view->domain_bytes);
    esi_json_out_unsigned(&out, "detail_bytes", view->detail_bytes);
    esi_json_out_unsigned(&out, "order_bytes", view->order.stored_bytes);
    esi_json_out_unsigned(&out, "traces", view->order.traces);
    esi_json_out_unsigned(&out, "events", view->order.events);
    esi_json_out_unsigned(&out, "read_ns", view->read_ns);
    esi_json_out_bool(&out, "lower_bound", view->is_lower_bound);
    esi_json_out_end(&out);
}

void esi_search_show(const char *pattern,
                     const struct esi_search_options *given,
                     const struct esi_search_events *events,
                     const struct esi_search_statistics *statistics)
{
    struct search_view view = {
        .pattern = pattern,
        .engine =
            given->config.engine ? given->config.engine : esi_search_engines()[0].name,
        .is = statistics,
        .domain_bytes = esi_domains_bytes(events->domains),
        .detail_bytes = events->details ? esi_details_bytes(events->details) : 0,
        .read_ns = events->read_ns,
        .is_lower_bound = events->facts.is_incomplete,
    };

    esi_order_statistics(events->order, &view.order);
    if (given->format == ES_FORMAT_JSON)
        show_json(&view);
    else
        show_text(&view);
}

/* --- A search while events come --------------------------------------------------- */

static void show_live_text(const struct esi_order_statistics *order,
                           const struct esi_live_statistics *is,
                           uint64_t time_ns)
{
    print_count("matches", is->matches);
    esi_plain_print(stdout, "%-22s%" PRIu64 " on %" PRIu32 " traces\n", "events",
                    is->events, order->traces);
    print_time("followed for", time_ns);
    print_count("events kept", is->kept_events);
    print_count("events dropped", is->dropped_events);
    print_count("events lost", is->lost_events);
    print_count("candidates", is->candidates);
    print_count("candidates lost", is->lost_candidates);
    print_count("comparisons", is->comparisons);
    print_count("not known", is->unknown);
    print_count("partners missed", is->missed_partners);
    print_count("bytes of the search", is->bytes);
    print_count("bytes of the order", order->stored_bytes + order->writer_bytes);
}

static void show_live_json(const struct esi_order_statistics *order,
                           const struct esi_live_statistics *is,
                           const struct esi_set_source_facts *facts,
                           uint64_t time_ns)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "statistics");
    esi_json_out_string(&out, "engine", "live");
    esi_json_out_unsigned(&out, "matches", is->matches);
    esi_json_out_bool(&out, "complete", is->is_complete);
    esi_json_out_unsigned(&out, "elapsed_ns", time_ns);
    esi_json_out_unsigned(&out, "comparisons", is->comparisons);
    esi_json_out_unsigned(&out, "unknown", is->unknown);
    esi_json_out_unsigned(&out, "kept_events", is->kept_events);
    esi_json_out_unsigned(&out, "dropped_events", is->dropped_events);
    esi_json_out_unsigned(&out, "lost_events", is->lost_events);
    esi_json_out_unsigned(&out, "candidates", is->candidates);
    esi_json_out_unsigned(&out, "lost_candidates", is->lost_candidates);
    esi_json_out_unsigned(&out, "missed_partners", is->missed_partners);
    esi_json_out_unsigned(&out, "bytes", is->bytes);
    esi_json_out_unsigned(&out, "order_bytes",
                          order->stored_bytes + order->writer_bytes);
    esi_json_out_unsigned(&out, "traces", order->traces);
    esi_json_out_unsigned(&out, "events", is->events);
    esi_json_out_bool(&out, "lower_bound", facts->is_incomplete);
    esi_json_out_end(&out);
}

void esi_search_show_live(const struct es_order *order,
                          const struct esi_live_statistics *statistics,
                          const struct esi_set_source_facts *facts,
                          uint64_t time_ns,
                          enum esi_format format)
{
    struct esi_order_statistics of_order;

    esi_order_statistics(order, &of_order);
    if (format == ES_FORMAT_JSON)
        show_live_json(&of_order, statistics, facts, time_ns);
    else
        show_live_text(&of_order, statistics, time_ns);
}

void esi_search_show_live_predicate(
    const char *pattern,
    const struct esi_live_predicate_statistics *statistics,
    enum esi_format format)
{
    struct esi_json_out out;

    if (format == ES_FORMAT_TEXT) {
        esi_plain_print(stdout,
                        "%-22s%" PRIu64 " matches, %" PRIu64 " candidates (%" PRIu64
                        " lost), %" PRIu64 " comparisons, %" PRIu64 " bytes\n",
                        pattern, statistics->matches, statistics->candidates,
                        statistics->lost_candidates, statistics->comparisons,
                        statistics->bytes);
        return;
    }
    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "predicate statistics");
    esi_json_out_string(&out, "pattern", pattern);
    esi_json_out_unsigned(&out, "matches", statistics->matches);
    esi_json_out_unsigned(&out, "candidates", statistics->candidates);
    esi_json_out_unsigned(&out, "lost_candidates", statistics->lost_candidates);
    esi_json_out_unsigned(&out, "comparisons", statistics->comparisons);
    esi_json_out_unsigned(&out, "bytes", statistics->bytes);
    esi_json_out_end(&out);
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
