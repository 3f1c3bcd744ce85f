/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_show.c - what a search took, for people and programs. */
#include "config.h"

#include "cli/search_show.h"

#include <inttypes.h>

#include "base/json_out.h"

struct view {
    const char *pattern;
    const char *engine;
    const struct es_search_statistics *is;
    struct es_order_statistics order;
    uint64_t domain_bytes;
    uint64_t read_ns;
    bool is_lower_bound;
};

static void print_count(const char *name, uint64_t count)
{
    printf("%-22s%" PRIu64 "\n", name, count);
}

static void print_seconds(const char *name, uint64_t ns)
{
    printf("%-22s%.3g s\n", name, (double)ns / 1e9);
}

static void show_text(const struct view *view)
{
    const struct es_search_statistics *is = view->is;

    printf("%-22s%s\n", "pattern", view->pattern);
    printf("%-22s%s\n", "engine", view->engine);
    print_count("matches", is->matches);
    print_count("assignments", is->assignments);
    print_seconds("searched in", is->elapsed_ns);
    print_count("comparisons", is->comparisons);
    print_count("backtracks", is->backtracks);
    if (is->closures)
        print_count("closures", is->closures);
    print_count("pattern size", is->pattern_size);
    print_count("bytes of the search", is->bytes);
    print_count("bytes of the classes", view->domain_bytes);
    print_count("bytes of the order", view->order.stored_bytes);
    printf("%-22s%" PRIu64 " on %" PRIu32 " traces\n", "events", view->order.events,
           view->order.traces);
    print_seconds("read in", view->read_ns);
    if (is->unknown)
        print_count("not known", is->unknown);
    if (!is->is_complete)
        puts("The search did not come to its end.");
    if (view->is_lower_bound)
        puts("The order is a lower bound: what is missing may order more events.");
}

static void show_json(const struct view *view)
{
    const struct es_search_statistics *is = view->is;
    struct es_json_out out;

    es_json_out_init(&out, stdout);
    es_json_out_begin_object(&out, NULL);
    es_json_out_string(&out, "type", "statistics");
    es_json_out_string(&out, "pattern", view->pattern);
    es_json_out_string(&out, "engine", view->engine);
    es_json_out_unsigned(&out, "matches", is->matches);
    es_json_out_unsigned(&out, "assignments", is->assignments);
    es_json_out_bool(&out, "complete", is->is_complete);
    es_json_out_unsigned(&out, "elapsed_ns", is->elapsed_ns);
    es_json_out_unsigned(&out, "comparisons", is->comparisons);
    es_json_out_unsigned(&out, "backtracks", is->backtracks);
    es_json_out_unsigned(&out, "closures", is->closures);
    es_json_out_unsigned(&out, "pattern_size", is->pattern_size);
    es_json_out_unsigned(&out, "unknown", is->unknown);
    es_json_out_unsigned(&out, "bytes", is->bytes);
    es_json_out_unsigned(&out, "class_bytes", view->domain_bytes);
    es_json_out_unsigned(&out, "order_bytes", view->order.stored_bytes);
    es_json_out_unsigned(&out, "traces", view->order.traces);
    es_json_out_unsigned(&out, "events", view->order.events);
    es_json_out_unsigned(&out, "read_ns", view->read_ns);
    es_json_out_bool(&out, "lower_bound", view->is_lower_bound);
    es_json_out_end(&out);
}

void esi_search_show(const char *pattern,
                     const struct esi_search_options *given,
                     const struct esi_search_events *events,
                     const struct es_search_statistics *statistics)
{
    struct view view = {
        .pattern = pattern,
        .engine =
            given->config.engine ? given->config.engine : es_search_engines()[0].name,
        .is = statistics,
        .domain_bytes = es_domains_bytes(events->domains),
        .read_ns = events->read_ns,
        .is_lower_bound = events->facts.is_incomplete,
    };

    es_order_statistics(events->order, &view.order);
    if (given->format == ES_FORMAT_JSON)
        show_json(&view);
    else
        show_text(&view);
}
