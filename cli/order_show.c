/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What an order holds and what it takes, for people and programs. */
#include "config.h"

#include "cli/order_show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_out.h"
#include "base/plain.h"
#include "base/quantity.h"
#include "cli/event_source.h"

enum { SHOWN = 5 }; /* channels of those that are there, to people */

/* --- Channels with missing ends --------------------------------------------------- */

void esi_unmatched_fini(struct esi_unmatched *unmatched)
{
    for (size_t i = 0; i < unmatched->count; i++)
        free((char *)unmatched->items[i].communicator);
    free(unmatched->items);
    *unmatched = (struct esi_unmatched){.count = 0};
}

static void add_channel(void *data, const struct esi_causal_channel *channel)
{
    struct esi_unmatched *unmatched = data;
    struct esi_causal_channel item = *channel;

    item.communicator = strdup(channel->communicator ? channel->communicator : "?");
    if (!item.communicator || ESI_ARRAY_RESERVE(unmatched->items, unmatched->capacity,
                                                unmatched->count + 1) < 0) {
        free((char *)item.communicator);
        unmatched->lacks_memory = true;
        return;
    }
    unmatched->items[unmatched->count++] = item;
}

static uint64_t missing_ends(const struct esi_causal_channel *channel)
{
    return channel->sends + channel->receives;
}

static int compare_channels(const void *a, const void *b)
{
    const struct esi_causal_channel *x = a, *y = b;

    if (missing_ends(x) != missing_ends(y))
        return missing_ends(x) > missing_ends(y) ? -1 : 1;
    if (strcmp(x->communicator, y->communicator) != 0)
        return strcmp(x->communicator, y->communicator);
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

void esi_unmatched_take(void *data, const struct esi_causality *causality)
{
    struct esi_unmatched *unmatched = data;

    esi_unmatched_fini(unmatched);
    esi_causality_foreach_unmatched(causality, add_channel, unmatched);
    if (unmatched->lacks_memory) {
        esi_unmatched_fini(unmatched);
        esi_command_note("no memory for the channels on which ends are missing");
    }
    if (unmatched->count > 0)
        qsort(unmatched->items, unmatched->count, sizeof *unmatched->items,
              compare_channels);
}

/* --- What is shown ---------------------------------------------------------------- */

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

static void print_ranks(int rank, const char *behind)
{
    if (rank < 0)
        printf("an unknown rank%s", behind);
    else
        printf("%d%s", rank, behind);
}

/* "rank 2 to 0, tag 8". */
static void print_channel(const struct esi_causal_channel *channel)
{
    fputs("rank ", stdout);
    print_ranks(channel->source, " to ");
    print_ranks(channel->destination, "");
    printf(", tag %d", channel->tag);
    if (strcmp(channel->communicator, "MPI_COMM_WORLD") != 0)
        esi_plain_print(stdout, ", on %s", channel->communicator);
}

static uint64_t ends_of(const struct esi_causal_channel *channel, bool sends)
{
    return sends ? channel->sends : channel->receives;
}

static size_t count_channels(const struct esi_unmatched *unmatched, bool sends)
{
    size_t count = 0;

    for (size_t i = 0; i < unmatched->count; i++)
        count += ends_of(&unmatched->items[i], sends) > 0;
    return count;
}

/* Sends without receives, or the other way round. */
static void print_unmatched(const struct esi_unmatched *unmatched,
                            const char *name,
                            uint64_t count,
                            bool sends)
{
    size_t channels = count_channels(unmatched, sends), shown = 0;

    if (count == 0)
        return;
    printf("%-22s%" PRIu64 " message%s%s", name, count, count == 1 ? "" : "s",
           channels == 1 ? ", " : "\n");
    for (size_t i = 0; i < unmatched->count && shown < SHOWN; i++) {
        const struct esi_causal_channel *channel = &unmatched->items[i];

        if (ends_of(channel, sends) == 0)
            continue;
        if (channels > 1)
            printf("  %" PRIu64 " from ", ends_of(channel, sends));
        print_channel(channel);
        putchar('\n');
        shown++;
    }
    if (channels > shown)
        printf("  and on %zu more channels\n", channels - shown);
}

/* Whether a receive that is not there was not called, and will not be. */
static bool is_settled(const struct esi_set_source_facts *facts)
{
    return facts->totals.lost == 0 && !facts->is_under_way;
}

static const char *name_unreceived(const struct esi_set_source_facts *facts)
{
    if (facts->totals.lost > 0)
        return "receive not seen";
    return facts->is_under_way ? "not received yet" : "never received";
}

/* Whether all that is missing are receives that were not called: no edge lacks then. */
static bool has_all_edges(const struct esi_set_source_facts *facts)
{
    const struct esi_causality_totals *totals = &facts->totals;

    return is_settled(facts) && !totals->unmatched_receives && !totals->unnumbered &&
           !totals->incomplete && !totals->late && !totals->unplaced;
}

static void print_found(const struct order_view *view)
{
    const struct esi_causality_totals *totals = &view->facts->totals;
    char missing[ES_MISSING_BYTES];

    print_row("messages matched", "%" PRIu64, totals->messages);
    print_row("collectives complete", "%" PRIu64, totals->collectives);
    print_unmatched(view->unmatched, name_unreceived(view->facts),
                    totals->unmatched_sends, true);
    print_unmatched(view->unmatched, "send not seen", totals->unmatched_receives,
                    false);
    if (!has_all_edges(view->facts) &&
        esi_event_source_format_missing(view->facts, missing))
        printf("%-22s%s:\n  %s\n", "incomplete", missing, esi_event_source_lower_bound);
}

/* What users ask first. */
static void show_summary(const struct order_view *view)
{
    if (view->facts->is_matched)
        print_row("ranks", "%zu", view->facts->totals.processes);
    else
        print_row("traces", "%" PRIu32, view->is.traces);
    print_row("events", "%" PRIu64, view->is.events);
    if (view->facts->is_matched)
        print_found(view);
}

static void show_figures(const struct order_view *view)
{
    const struct esi_order_statistics *is = &view->is;
    char span[ESI_QUANTITY_BYTES], rate[ESI_QUANTITY_BYTES];

    print_row("store", "%s", store_of(view->config));
    print_row("traces", "%" PRIu32, is->traces);
    if (view->facts->is_matched)
        print_row("tuples", "%" PRIu64 ", and %" PRIu64 " lost",
                  view->facts->totals.tuples, view->facts->totals.lost);
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
    print_row("built in", "%s, %s events a second",
              esi_quantity_time(span, sizeof span, view->seconds * 1e9),
              esi_quantity_number(rate, sizeof rate, event_rate(view)));
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

static void json_unmatched(const struct esi_unmatched *unmatched,
                           struct esi_json_out *out)
{
    esi_json_out_begin_array(out, "unmatched");
    for (size_t i = 0; i < unmatched->count; i++) {
        const struct esi_causal_channel *channel = &unmatched->items[i];

        esi_json_out_begin_object(out, NULL);
        esi_json_out_string(out, "communicator", channel->communicator);
        esi_json_out_signed(out, "source", channel->source);
        esi_json_out_signed(out, "destination", channel->destination);
        esi_json_out_signed(out, "tag", channel->tag);
        esi_json_out_unsigned(out, "sends", channel->sends);
        esi_json_out_unsigned(out, "receives", channel->receives);
        esi_json_out_end(out);
    }
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
    json_unmatched(view->unmatched, out);
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
                    bool has_figures,
                    enum esi_format format)
{
    struct order_view view = {.config = config,
                              .facts = facts,
                              .unmatched = unmatched,
                              .seconds = (double)time_ns / 1e9};

    esi_order_statistics(order, &view.is);
    esi_order_ratios(&view.is, &view.ratios);
    if (format == ES_FORMAT_JSON) {
        show_json(&view);
        return;
    }
    show_summary(&view);
    if (has_figures)
        show_figures(&view);
}
