/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What an order holds and what it takes, for people and programs. */
#include "config.h"

#include "cli/order_show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/json_out.h"
#include "base/plain.h"

struct order_view {
    struct esi_order_statistics is;
    struct esi_order_ratios ratios;
    const struct esi_order_config *config;
    const struct esi_set_source_facts *facts;
    const struct esi_unmatched *unmatched;
    double seconds;
};

static const char *store_of(const struct esi_order_config *config)
{
    return config->store ? config->store : "epoch";
}

static double per_event(const struct order_view *view, double amount)
{
    return view->is.events ? amount / (double)view->is.events : 0;
}

static double event_rate(const struct order_view *view)
{
    return view->seconds > 0 ? (double)view->is.events / view->seconds : 0;
}

static unsigned levels_in_use(const struct order_view *view)
{
    unsigned levels = 0;

    while (levels < ES_ORDER_LEVELS && view->is.clusters[levels] > 0)
        levels++;
    return levels;
}

/* --- Text ------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void print_row(const char *name,
                                                            const char *format,
                                                            ...)
{
    va_list arguments;

    esi_plain_print(stdout, "%-22s", name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void print_levels(const struct order_view *view)
{
    unsigned levels = levels_in_use(view);

    for (unsigned i = 0; i < levels; i++) {
        char name[24];

        snprintf(name, sizeof name, "level %u", i + 1);
        print_row(name,
                  "%" PRIu64 " clusters of up to %" PRIu32 " traces, %" PRIu64
                  " cluster receives",
                  view->is.clusters[i], view->config->max_sizes[i],
                  view->is.cluster_receives[i]);
    }
}

/* All events, or those that communicate. */
static void print_population(const char *name,
                             uint64_t events,
                             uint64_t actual,
                             double actual_ratio,
                             uint64_t fixed,
                             double fixed_ratio)
{
    print_row(name, "%" PRIu64 " events", events);
    print_row("  elements stored", "%" PRIu64 ", %.4g %% of Fidge/Mattern", actual,
              100 * actual_ratio);
    if (fixed > 0) /* only clusters have a size to be fixed at */
        print_row("  elements if fixed", "%" PRIu64 ", %.4g %% of Fidge/Mattern", fixed,
                  100 * fixed_ratio);
}

static void print_bytes(const struct order_view *view)
{
    const struct esi_order_statistics *is = &view->is;

    print_row("bytes stored", "%" PRIu64 ", %.4g an event, %.4g %% of Fidge/Mattern",
              is->stored_bytes, per_event(view, (double)is->stored_bytes),
              100 * view->ratios.stored);
    print_row("bytes of the writer", "%" PRIu64, is->writer_bytes);
    if (is->spilled_bytes)
        print_row("bytes spilled", "%" PRIu64, is->spilled_bytes);
    if (is->forgotten_events)
        print_row("events forgotten", "%" PRIu64, is->forgotten_events);
    if (is->spill_error)
        print_row("could not be spilled", "%s", strerror(-is->spill_error));
}

static void print_matching(const struct order_view *view)
{
    const struct esi_causality_totals *totals = &view->facts->totals;

    if (!view->facts->is_matched)
        return;
    print_row("tuples", "%" PRIu64 ", and %" PRIu64 " lost", totals->tuples,
              totals->lost);
    print_row("messages matched", "%" PRIu64, totals->messages);
    print_row("unmatched", "%" PRIu64 " sends, %" PRIu64 " receives",
              totals->unmatched_sends, totals->unmatched_receives);
    esi_unmatched_print(view->unmatched);
    print_row("collectives", "%" PRIu64 " complete, %" PRIu64 " with members missing",
              totals->collectives, totals->incomplete);
    if (view->facts->is_incomplete)
        puts("The order is a lower bound: what is missing may order more events.");
}

static void show_text(const struct order_view *view)
{
    const struct esi_order_statistics *is = &view->is;

    print_row("store", "%s", store_of(view->config));
    print_row("traces", "%" PRIu32, is->traces);
    print_levels(view);
    if (is->cuts)
        print_row("global cuts", "%" PRIu64 ", %" PRIu64 " of them derived", is->cuts,
                  is->derived_cuts);
    print_population("all", is->events, is->actual_elements, view->ratios.actual,
                     is->fixed_elements, view->ratios.fixed);
    print_population(
        "communication", is->communication_events, is->communication_actual_elements,
        view->ratios.communication_actual, is->communication_fixed_elements,
        view->ratios.communication_fixed);
    print_bytes(view);
    print_row("built in", "%.3g s, %.3g events a second", view->seconds,
              event_rate(view));
    print_matching(view);
}

/* --- JSON ------------------------------------------------------------------------- */

static void json_levels(struct esi_json_out *out, const struct order_view *view)
{
    unsigned levels = levels_in_use(view);

    esi_json_out_begin_array(out, "levels");
    for (unsigned i = 0; i < levels; i++) {
        esi_json_out_begin_object(out, NULL);
        esi_json_out_unsigned(out, "max_size", view->config->max_sizes[i]);
        esi_json_out_unsigned(out, "clusters", view->is.clusters[i]);
        esi_json_out_unsigned(out, "cluster_receives", view->is.cluster_receives[i]);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static void json_population(struct esi_json_out *out,
                            const char *name,
                            uint64_t events,
                            uint64_t actual,
                            double actual_ratio,
                            uint64_t fixed,
                            double fixed_ratio)
{
    esi_json_out_begin_object(out, name);
    esi_json_out_unsigned(out, "events", events);
    esi_json_out_unsigned(out, "actual_elements", actual);
    esi_json_out_real(out, "actual_ratio", actual_ratio);
    esi_json_out_unsigned(out, "fixed_elements", fixed);
    esi_json_out_real(out, "fixed_ratio", fixed_ratio);
    esi_json_out_end(out);
}

static void json_matching(struct esi_json_out *out, const struct order_view *view)
{
    const struct esi_causality_totals *totals = &view->facts->totals;

    esi_json_out_bool(out, "lower_bound", view->facts->is_incomplete);
    if (!view->facts->is_matched)
        return;
    esi_json_out_unsigned(out, "tuples", totals->tuples);
    esi_json_out_unsigned(out, "lost", totals->lost);
    esi_json_out_unsigned(out, "messages", totals->messages);
    esi_json_out_unsigned(out, "unmatched_sends", totals->unmatched_sends);
    esi_json_out_unsigned(out, "unmatched_receives", totals->unmatched_receives);
    esi_unmatched_json(view->unmatched, out);
    esi_json_out_unsigned(out, "collectives", totals->collectives);
    esi_json_out_unsigned(out, "incomplete_collectives", totals->incomplete);
}

static void json_sizes(struct esi_json_out *out, const struct order_view *view)
{
    const struct esi_order_statistics *is = &view->is;

    esi_json_out_unsigned(out, "vector_elements", is->vector_elements);
    esi_json_out_unsigned(out, "stored_bytes", is->stored_bytes);
    esi_json_out_real(out, "stored_ratio", view->ratios.stored);
    esi_json_out_real(out, "bytes_per_event",
                      per_event(view, (double)is->stored_bytes));
    esi_json_out_unsigned(out, "writer_bytes", is->writer_bytes);
    esi_json_out_unsigned(out, "spilled_bytes", is->spilled_bytes);
    esi_json_out_unsigned(out, "forgotten_events", is->forgotten_events);
}

static void show_json(const struct order_view *view)
{
    const struct esi_order_statistics *is = &view->is;
    struct esi_json_out out;

    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "statistics");
    esi_json_out_string(&out, "store", store_of(view->config));
    esi_json_out_unsigned(&out, "traces", is->traces);
    esi_json_out_unsigned(&out, "events", is->events);
    json_levels(&out, view);
    esi_json_out_unsigned(&out, "cuts", is->cuts);
    esi_json_out_unsigned(&out, "derived_cuts", is->derived_cuts);
    json_population(&out, "all", is->events, is->actual_elements, view->ratios.actual,
                    is->fixed_elements, view->ratios.fixed);
    json_population(&out, "communication", is->communication_events,
                    is->communication_actual_elements,
                    view->ratios.communication_actual, is->communication_fixed_elements,
                    view->ratios.communication_fixed);
    json_sizes(&out, view);
    esi_json_out_unsigned(&out, "build_ns", (uint64_t)(view->seconds * 1e9));
    esi_json_out_real(&out, "events_per_second", event_rate(view));
    json_matching(&out, view);
    esi_json_out_end(&out);
}

void esi_order_show(const struct es_order *order,
                    const struct esi_order_config *config,
                    const struct esi_set_source_facts *facts,
                    const struct esi_unmatched *unmatched,
                    uint64_t time_ns,
                    enum esi_format format)
{
    struct order_view view = {.config = config,
                              .facts = facts,
                              .unmatched = unmatched,
                              .seconds = (double)time_ns / 1e9};

    esi_order_statistics(order, &view.is);
    esi_order_ratios(&view.is, &view.ratios);
    if (format == ES_FORMAT_JSON)
        show_json(&view);
    else
        show_text(&view);
}
