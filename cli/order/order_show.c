/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Prints the content and the cost of an order. */
#include "config.h"

#include "cli/order/order_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "cli/event_source.h"

enum { SHOWN = 5 }; /* maximum number of channels in text */

/* --- Channels with unmatched messages --------------------------------------------- */

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
    const struct esi_set_source_facts *facts;
    const struct esi_order_origin *origin;
    double seconds;
};

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

/* Sends without receives, or vice versa. */
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

/* Whether a missing receive was not called, and will not be. */
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

/* Whether only receives that were not called are missing: then no edge is missing. */
static bool has_all_edges(const struct esi_set_source_facts *facts)
{
    const struct esi_causality_totals *totals = &facts->totals;

    return is_settled(facts) && !totals->unmatched_receives && !totals->unnumbered &&
           !totals->incomplete && !totals->late && !totals->unplaced;
}

static void print_missing(const struct order_view *view)
{
    const struct esi_causality_totals *totals = &view->facts->totals;
    char missing[ES_MISSING_BYTES];

    print_unmatched(view->origin->unmatched, name_unreceived(view->facts),
                    totals->unmatched_sends, true);
    print_unmatched(view->origin->unmatched, "send not seen",
                    totals->unmatched_receives, false);
    if (!has_all_edges(view->facts) &&
        esi_event_source_format_missing(view->facts, missing))
        printf("%-22s%s:\n  %s\n", "incomplete", missing, esi_event_source_lower_bound);
}

/* --- For files: events with unmatched ends ---------------------------------------- */

struct events_print {
    const struct esi_trace_names *names;
    unsigned shown;
};

/* In the form used in questions. */
static bool print_event(void *data, struct es_event_id id)
{
    struct events_print *print = data;

    esi_plain_print(stdout, "%s%s:%" PRIu32, print->shown > 0 ? ", " : "",
                    print->names->names[id.trace], id.index);
    return ++print->shown < SHOWN;
}

/* "1 message, event 0.0:3". */
static void print_events(const struct esi_order_origin *origin,
                         const char *name,
                         uint64_t count,
                         bool sends)
{
    struct events_print print = {.names = origin->names};

    if (count == 0)
        return;
    printf("%-22s%" PRIu64 " message%s, event%s ", name, count, count == 1 ? "" : "s",
           count == 1 ? "" : "s");
    esi_set_messages_foreach_unmatched(origin->messages, sends, print_event, &print);
    if (count > print.shown)
        printf(" and %" PRIu64 " more", count - print.shown);
    putchar('\n');
}

/* In text only. */
static void describe_summary(struct esi_row *row, const void *record)
{
    const struct order_view *view = record;
    const struct esi_causality_totals *totals = &view->facts->totals;
    bool is_matched = view->facts->is_matched;

    esi_row_unsigned(row, NULL, is_matched ? "ranks" : "traces",
                     is_matched ? totals->processes : view->is.traces);
    esi_row_unsigned(row, NULL, "events", view->is.events);
    esi_row_unsigned(row, NULL, "messages matched",
                     is_matched ? totals->messages : view->origin->messages->matched);
    esi_row_unsigned(esi_row_if(row, is_matched), NULL, "collectives complete",
                     totals->collectives);
}

/* The most important facts. */
static void show_summary(const struct order_view *view)
{
    const struct esi_order_origin *origin = view->origin;

    esi_rows_print(ESI_ROWS_LIST, stdout, describe_summary, view);
    if (view->facts->is_matched) {
        print_missing(view);
        return;
    }
    print_events(origin, "receive not seen", origin->messages->unmatched_sends, true);
    print_events(origin, "send not seen", origin->messages->unmatched_receives, false);
}

/* --- Figures for text, and all members for JSON ----------------------------------- */

static void describe_levels(struct esi_row *row, const struct order_view *view)
{
    unsigned levels = levels_in_use(view);
    bool is_array = esi_row_begin_array(row, "levels");

    for (unsigned i = 0; i < levels; i++) {
        char name[24];

        if (esi_row_begin_object(row, NULL)) {
            esi_row_unsigned(row, "max_size", NULL, view->is.max_sizes[i]);
            esi_row_unsigned(row, "clusters", NULL, view->is.clusters[i]);
            esi_row_unsigned(row, "cluster_receives", NULL,
                             view->is.cluster_receives[i]);
            esi_row_end(row);
            continue;
        }
        snprintf(name, sizeof name, "level %u", i + 1);
        esi_row_quantity(row, name,
                         "%" PRIu64 " clusters of up to %" PRIu32 " traces, %" PRIu64
                         " cluster receives",
                         view->is.clusters[i], view->is.max_sizes[i],
                         view->is.cluster_receives[i]);
    }
    if (is_array)
        esi_row_end(row);
}

/* All events, or those that communicate. */
struct population {
    uint64_t events;
    uint64_t actual; /* number of elements */
    double actual_ratio;
    uint64_t fixed; /* number of elements; 0: only clusters can have a fixed size */
    double fixed_ratio;
};

/* In text only. */
static void describe_elements(struct esi_row *row,
                              const char *heading,
                              uint64_t elements,
                              double ratio)
{
    char percent[ESI_QUANTITY_BYTES];

    esi_row_quantity(row, heading, "%" PRIu64 ", %s %% of Fidge/Mattern", elements,
                     esi_quantity_number(percent, sizeof percent, 100 * ratio));
}

static void describe_population(struct esi_row *row,
                                const char *name,
                                const struct population *of)
{
    if (esi_row_begin_object(row, name)) {
        esi_row_unsigned(row, "events", NULL, of->events);
        esi_row_unsigned(row, "actual_elements", NULL, of->actual);
        esi_row_real(row, "actual_ratio", NULL, of->actual_ratio);
        esi_row_unsigned(row, "fixed_elements", NULL, of->fixed);
        esi_row_real(row, "fixed_ratio", NULL, of->fixed_ratio);
        esi_row_end(row);
        return;
    }
    esi_row_quantity(row, name, "%" PRIu64 " events", of->events);
    describe_elements(row, "  elements stored", of->actual, of->actual_ratio);
    describe_elements(esi_row_if(row, of->fixed > 0), "  elements if fixed", of->fixed,
                      of->fixed_ratio);
}

static void describe_sizes(struct esi_row *row, const struct order_view *view)
{
    const struct esi_order_statistics *is = &view->is;
    double each = per_event(view, (double)is->stored_bytes);
    char bytes[ESI_QUANTITY_BYTES], of_each[ESI_QUANTITY_BYTES],
        percent[ESI_QUANTITY_BYTES];

    esi_row_unsigned(row, "vector_elements", NULL, is->vector_elements);
    esi_row_unsigned(row, "stored_bytes", NULL, is->stored_bytes);
    esi_row_real(row, "stored_ratio", NULL, view->ratios.stored);
    esi_row_real(row, "bytes_per_event", NULL, each);
    esi_row_quantity(
        row, "stored", "%s, %s B an event, %s %% of Fidge/Mattern",
        esi_quantity_bytes(bytes, sizeof bytes, (double)is->stored_bytes),
        esi_quantity_number(of_each, sizeof of_each, each),
        esi_quantity_number(percent, sizeof percent, 100 * view->ratios.stored));
    esi_row_unsigned(row, "writer_bytes", NULL, is->writer_bytes);
    esi_row_text(row, NULL, "held by the writer",
                 esi_quantity_bytes(bytes, sizeof bytes, (double)is->writer_bytes));
    esi_row_unsigned(row, "spilled_bytes", NULL, is->spilled_bytes);
    esi_row_text(esi_row_if(row, is->spilled_bytes), NULL, "spilled",
                 esi_quantity_bytes(bytes, sizeof bytes, (double)is->spilled_bytes));
    esi_row_unsigned(row, "forgotten_events", NULL, is->forgotten_events);
    esi_row_unsigned(esi_row_if(row, is->forgotten_events), NULL, "events forgotten",
                     is->forgotten_events);
    esi_row_text(row, NULL, "could not be spilled",
                 is->spill_error ? strerror(-is->spill_error) : NULL);
}

static void describe_unmatched(struct esi_row *row,
                               const struct esi_unmatched *unmatched)
{
    esi_row_begin_array(row, "unmatched");
    for (size_t i = 0; i < unmatched->count; i++) {
        const struct esi_causal_channel *channel = &unmatched->items[i];

        esi_row_begin_object(row, NULL);
        esi_row_text(row, "communicator", NULL, channel->communicator);
        esi_row_signed(row, "source", NULL, channel->source);
        esi_row_signed(row, "destination", NULL, channel->destination);
        esi_row_signed(row, "tag", NULL, channel->tag);
        esi_row_unsigned(row, "sends", NULL, channel->sends);
        esi_row_unsigned(row, "receives", NULL, channel->receives);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static void describe_ends(struct esi_row *row,
                          uint64_t messages,
                          uint64_t sends,
                          uint64_t receives)
{
    esi_row_unsigned(row, "messages", NULL, messages);
    esi_row_unsigned(row, "unmatched_sends", NULL, sends);
    esi_row_unsigned(row, "unmatched_receives", NULL, receives);
}

/* Text has these in the summary. */
static void describe_matching(struct esi_row *row, const struct order_view *view)
{
    const struct esi_causality_totals *totals = &view->facts->totals;
    const struct esi_set_messages *messages = view->origin->messages;

    esi_row_bool(row, "lower_bound", NULL, view->facts->is_incomplete);
    if (!esi_row_is_json(row))
        return;
    if (!view->facts->is_matched) {
        describe_ends(row, messages->matched, messages->unmatched_sends,
                      messages->unmatched_receives);
        return;
    }
    esi_row_unsigned(row, "tuples", NULL, totals->tuples);
    esi_row_unsigned(row, "lost", NULL, totals->lost);
    describe_ends(row, totals->messages, totals->unmatched_sends,
                  totals->unmatched_receives);
    describe_unmatched(row, view->origin->unmatched);
    esi_row_unsigned(row, "collectives", NULL, totals->collectives);
    esi_row_unsigned(row, "incomplete_collectives", NULL, totals->incomplete);
}

static void describe_order(struct esi_row *row, const void *record)
{
    const struct order_view *view = record;
    const struct esi_order_statistics *is = &view->is;
    const struct esi_order_ratios *ratios = &view->ratios;
    const struct esi_causality_totals *totals = &view->facts->totals;
    char span[ESI_QUANTITY_BYTES], rate[ESI_QUANTITY_BYTES];

    esi_row_text(row, "type", NULL, "statistics");
    esi_row_text(row, "store", "store", view->is.store);
    esi_row_unsigned(row, "traces", "traces", is->traces);
    esi_row_unsigned(row, "events", NULL, is->events);
    esi_row_quantity(esi_row_if(row, view->facts->is_matched), "tuples",
                     "%" PRIu64 ", and %" PRIu64 " lost", totals->tuples, totals->lost);
    describe_levels(row, view);
    esi_row_unsigned(row, "cuts", NULL, is->cuts);
    esi_row_unsigned(row, "derived_cuts", NULL, is->derived_cuts);
    esi_row_quantity(esi_row_if(row, is->cuts), "global cuts",
                     "%" PRIu64 ", %" PRIu64 " of them derived", is->cuts,
                     is->derived_cuts);
    describe_population(row, "all",
                        &(struct population){is->events, is->actual_elements,
                                             ratios->actual, is->fixed_elements,
                                             ratios->fixed});
    describe_population(row, "communication",
                        &(struct population){is->communication_events,
                                             is->communication_actual_elements,
                                             ratios->communication_actual,
                                             is->communication_fixed_elements,
                                             ratios->communication_fixed});
    describe_sizes(row, view);
    esi_row_unsigned(row, "build_ns", NULL, (uint64_t)(view->seconds * 1e9));
    esi_row_real(row, "events_per_second", NULL, event_rate(view));
    esi_row_quantity(row, "built in", "%s, %s events a second",
                     esi_quantity_time(span, sizeof span, view->seconds * 1e9),
                     esi_quantity_number(rate, sizeof rate, event_rate(view)));
    describe_matching(row, view);
}

void esi_order_show(const struct es_order *order,
                    const struct esi_order_origin *origin,
                    bool has_figures,
                    enum esi_format format)
{
    struct order_view view = {.facts = &origin->facts,
                              .origin = origin,
                              .seconds = (double)origin->time_ns / 1e9};

    esi_order_statistics(order, &view.is);
    esi_order_ratios(&view.is, &view.ratios);
    if (format == ES_FORMAT_JSON) {
        esi_rows_print_json(stdout, describe_order, &view);
        return;
    }
    show_summary(&view);
    if (has_figures)
        esi_rows_print(ESI_ROWS_LIST, stdout, describe_order, &view);
}
