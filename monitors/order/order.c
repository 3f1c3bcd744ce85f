/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order.c - the order of an event set: selects the store, checks arguments, publishes
 * the number of events of each trace, and answers queries by means of the store.
 */
#include "config.h"

#include "monitors/order/order.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/eventset/segmented.h"
#include "monitors/order/order_private.h"

struct es_order {
    const struct esi_store_ops *ops;
    void *store; /* owned; argument of the operations */
    /* counts: _Atomic uint32_t per trace, the number of events that may be queried;
     * traces: their number.  The writer stores them with release when the store is
     * ready; readers load them with acquire. */
    struct esi_segmented counts;
    _Atomic uint32_t traces;
    _Atomic uint64_t events; /* written by the writer, relaxed, only for statistics */
    _Atomic uint64_t communication_events;
    uint32_t fixed_vector;

    /* State of the sink: the first half of a sync whose other half comes next. */
    bool is_half;
    struct es_event_id half;
    struct es_event_id half_partner;
};

/* A new store needs an entry here and a declaration in order_private.h.  The first one
 * is the default. */
static const struct esi_store_ops *const stores[] = {
    &esi_store_epoch,
    &esi_store_cluster,
    &esi_store_dense,
};

enum { STORES = sizeof stores / sizeof stores[0] };

static const uint32_t MOST_EVENTS = UINT32_MAX - 1; /* per trace */

/* --- Stores ----------------------------------------------------------------------- */

static const struct esi_store_ops *find_store(const char *name)
{
    for (size_t i = 0; i < STORES; i++)
        if (!name || strcmp(stores[i]->name, name) == 0)
            return stores[i];
    return NULL;
}

const char *esi_order_stores(const char *after_default, char out[ES_ORDER_STORES])
{
    size_t length = 0;

    for (size_t i = 0; i < STORES && length < ES_ORDER_STORES; i++)
        length += (size_t)snprintf(out + length, ES_ORDER_STORES - length, "%s%s%s",
                                   i == 0            ? ""
                                   : i + 1 == STORES ? " or "
                                                     : ", ",
                                   stores[i]->name, i == 0 ? after_default : "");
    return out;
}

/* --- Creation and destruction ----------------------------------------------------- */

int esi_order_create(const struct esi_order_config *config,
                     struct es_error *error,
                     struct es_order **ret_order)
{
    const struct esi_store_ops *ops = find_store(config->store);
    struct esi_order_config settled = *config;
    char names[ES_ORDER_STORES];
    struct es_order *order;
    int code;

    if (!ops)
        return es_error_set(error, -EINVAL,
                            "no store of the order is named '%s'; expected %s",
                            config->store, esi_order_stores("", names));
    order = calloc(1, sizeof *order);
    if (!order)
        return es_error_set(error, -ENOMEM, "out of memory");
    order->ops = ops;
    order->fixed_vector = config->fixed_vector;
    esi_segmented_init(&order->counts, sizeof(_Atomic uint32_t), 4);
    order->store = calloc(1, ops->store_bytes);
    if (!settled.tuning)
        settled.tuning = ops->defaults;
    code = order->store ? ops->init(order->store, &settled, error) : -ENOMEM;
    if (code < 0) {
        es_order_destroy(order);
        return es_error_set(error, code, "out of memory");
    }
    *ret_order = order;
    return 0;
}

int es_order_open(const char *store,
                  uint64_t memory_bytes,
                  const char *spill_folder,
                  struct es_error *error,
                  struct es_order **ret_order)
{
    const struct esi_order_config config = {
        .store = store, .memory_bytes = memory_bytes, .spill_folder = spill_folder};
    int result = esi_order_create(&config, error, ret_order);

    return result < 0 ? es_error_set(error, result, "%s", strerror(-result)) : 0;
}

void es_order_destroy(struct es_order *order)
{
    int saved = errno;

    if (!order)
        return;
    if (order->store)
        order->ops->fini(order->store);
    free(order->store);
    esi_segmented_fini(&order->counts);
    free(order);
    errno = saved;
}

/* --- Counts ----------------------------------------------------------------------- */

uint32_t es_order_traces(const struct es_order *order)
{
    /* Pairs with the release store in es_order_add_trace(). */
    return atomic_load_explicit(&order->traces, memory_order_acquire);
}

uint32_t es_order_count(const struct es_order *order, uint32_t trace)
{
    const _Atomic uint32_t *count;

    if (trace >= es_order_traces(order))
        return 0;
    count = esi_segmented_at(&order->counts, trace);
    /* Pairs with the release store in publish_event(). */
    return atomic_load_explicit(count, memory_order_acquire);
}

static void publish_event(struct es_order *order,
                          struct es_event_id id,
                          enum es_event_kind kind)
{
    _Atomic uint32_t *count = esi_segmented_at(&order->counts, id.trace);
    uint64_t events = atomic_load_explicit(&order->events, memory_order_relaxed);
    uint64_t communications =
        atomic_load_explicit(&order->communication_events, memory_order_relaxed);

    /* A reader that acquires it in es_order_count() sees the event in the store. */
    atomic_store_explicit(count, id.index, memory_order_release);
    atomic_store_explicit(&order->events, events + 1, memory_order_relaxed);
    if (kind != ES_EVENT_UNARY)
        atomic_store_explicit(&order->communication_events, communications + 1,
                              memory_order_relaxed);
}

/* --- Appending -------------------------------------------------------------------- */

int es_order_add_trace(struct es_order *order)
{
    uint32_t traces = es_order_traces(order);
    int code;

    if (traces == UINT32_MAX)
        return -ENOMEM;
    if (esi_segmented_count(&order->counts) == traces &&
        !esi_segmented_extend(&order->counts, 1, NULL))
        return -ENOMEM;
    code = order->ops->add_trace(order->store);
    if (code < 0)
        return code;
    atomic_store_explicit(&order->traces, traces + 1, memory_order_release);
    return 0;
}

/* Determines the id of a trace's next event. */
static int next_id(const struct es_order *order,
                   uint32_t trace,
                   struct es_event_id *ret_id)
{
    if (trace >= es_order_traces(order))
        return -EINVAL;
    *ret_id =
        (struct es_event_id){.trace = trace, .index = es_order_count(order, trace) + 1};
    return 0;
}

static bool is_there(const struct es_order *order, struct es_event_id id)
{
    return id.index >= 1 && id.index <= es_order_count(order, id.trace);
}

static bool can_append(const struct es_order *order,
                       enum es_event_kind kind,
                       const struct es_event_id *partners,
                       size_t partner_count)
{
    if (kind != ES_EVENT_RECEIVE)
        return (kind == ES_EVENT_UNARY || kind == ES_EVENT_SEND) && partner_count == 0;
    for (size_t i = 0; i < partner_count; i++)
        if (!is_there(order, partners[i]))
            return false;
    return true;
}

/* Appends the event `id`, which must be the next of its trace. */
static int append_event(struct es_order *order,
                        struct es_event_id id,
                        enum es_event_kind kind,
                        const struct es_event_id *partners,
                        size_t partner_count)
{
    int code;

    if (id.index > MOST_EVENTS)
        return -EOVERFLOW;
    if (!can_append(order, kind, partners, partner_count))
        return -EINVAL;
    code = order->ops->append(order->store, id, kind, partners, partner_count);
    if (code < 0)
        return code;
    publish_event(order, id, kind);
    return 0;
}

static int append_sync(struct es_order *order,
                       struct es_event_id id,
                       struct es_event_id other)
{
    int code;

    if (id.index > MOST_EVENTS || other.index > MOST_EVENTS)
        return -EOVERFLOW;
    code = order->ops->append_sync(order->store, id, other);
    if (code < 0)
        return code;
    publish_event(order, id, ES_EVENT_SYNC);
    publish_event(order, other, ES_EVENT_SYNC);
    return 0;
}

int es_order_append(struct es_order *order,
                    uint32_t trace,
                    enum es_event_kind kind,
                    const struct es_event_id *partners,
                    size_t partner_count)
{
    struct es_event_id id;
    int code = next_id(order, trace, &id);

    return code < 0 ? code : append_event(order, id, kind, partners, partner_count);
}

int es_order_append_sync(struct es_order *order, uint32_t trace, uint32_t other)
{
    struct es_event_id id, other_id;
    int code = trace == other ? -EINVAL : next_id(order, trace, &id);

    if (code == 0)
        code = next_id(order, other, &other_id);
    return code < 0 ? code : append_sync(order, id, other_id);
}

/* --- From a stream ---------------------------------------------------------------- */

static bool is_next(const struct es_order *order, struct es_event_id id)
{
    return id.trace < es_order_traces(order) && id.index >= 1 &&
           id.index - 1 == es_order_count(order, id.trace);
}

static bool is_same(struct es_event_id a, struct es_event_id b)
{
    return a.trace == b.trace && a.index == b.index;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct es_order *order = data;

    (void)name;
    return trace == es_order_traces(order) ? es_order_add_trace(order) : -EINVAL;
}

static int take_half(struct es_order *order, const struct es_set_event *event)
{
    int code;

    if (event->partner_count != 1)
        return -EINVAL;
    if (!order->is_half) {
        if (event->id.trace == event->partners[0].trace ||
            !is_next(order, event->partners[0]))
            return -EINVAL;
        order->half = event->id;
        order->half_partner = event->partners[0];
        order->is_half = true;
        return 0;
    }
    if (!is_same(event->id, order->half_partner) ||
        !is_same(event->partners[0], order->half))
        return -EINVAL;
    code = append_sync(order, order->half, event->id);
    order->is_half = code < 0;
    return code;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct es_order *order = data;

    if (!is_next(order, event->id))
        return -EINVAL;
    if (event->kind == ES_EVENT_SYNC)
        return take_half(order, event);
    if (order->is_half)
        return -EINVAL;
    return append_event(order, event->id, event->kind, event->partners,
                        event->partner_count);
}

struct es_set_sink es_order_sink(struct es_order *order)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = order};
}

int es_order_sink_end(const struct es_order *order)
{
    return order->is_half ? -EINVAL : 0;
}

/* --- Queries ---------------------------------------------------------------------- */

/* On a trace, the predecessors of an event come first, then the events concurrent with
 * it, then its successors; the boundaries are found by bisection. */

static uint32_t forgotten_of(const struct es_order *order, uint32_t trace)
{
    return order->ops->forgotten ? order->ops->forgotten(order->store, trace) : 0;
}

/* An event that is not forgotten after a query was not forgotten during it. */
static bool is_forgotten(const struct es_order *order, struct es_event_id id)
{
    return id.index <= forgotten_of(order, id.trace);
}

/* The events must exist. */
static int precedes_event(const struct es_order *order,
                          struct es_event_id a,
                          struct es_event_id b)
{
    if (a.trace == b.trace)
        return a.index < b.index;
    return order->ops->precedes(order->store, a, b);
}

int es_order_precedes(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b)
{
    int answer;

    if (!is_there(order, a) || !is_there(order, b))
        return -EINVAL;
    answer = precedes_event(order, a, b);
    /* A positive answer of the store is always right; a negative one may be due to
     * forgotten events. */
    if (answer == 0 && a.trace != b.trace &&
        (is_forgotten(order, a) || is_forgotten(order, b)))
        return -ESTALE;
    return answer;
}

int es_order_relation(const struct es_order *order,
                      struct es_event_id a,
                      struct es_event_id b)
{
    int before = es_order_precedes(order, a, b), after;

    if (before == 1)
        return ES_RELATION_BEFORE;
    if (before < 0 && before != -ESTALE)
        return before;
    after = es_order_precedes(order, b, a);
    if (after != 0)
        return after < 0 ? after : ES_RELATION_AFTER;
    if (before < 0)
        return before;
    return a.trace == b.trace ? ES_RELATION_EQUAL : ES_RELATION_CONCURRENT;
}

const char *es_relation_name(enum es_relation relation)
{
    switch (relation) {
    case ES_RELATION_EQUAL:
        return "equal";
    case ES_RELATION_BEFORE:
        return "before";
    case ES_RELATION_AFTER:
        return "after";
    case ES_RELATION_CONCURRENT:
        return "concurrent";
    }
    return "unknown";
}

static bool is_question(const struct es_order *order,
                        struct es_event_id event,
                        uint32_t trace)
{
    return trace < es_order_traces(order) && is_there(order, event);
}

int64_t es_order_greatest_predecessor(const struct es_order *order,
                                      struct es_event_id event,
                                      uint32_t trace)
{
    uint32_t forgotten;
    int64_t found;

    if (!is_question(order, event, trace))
        return -EINVAL;
    if (trace == event.trace)
        return event.index - 1;
    found = order->ops->greatest_predecessor(order->store, event, trace);
    forgotten = forgotten_of(order, trace);
    /* The predecessor may be a forgotten event, or there may be none. */
    if (found >= 0 &&
        (is_forgotten(order, event) || (found <= forgotten && forgotten > 0)))
        return -ESTALE;
    return found;
}

/* Returns the index of the last event of a trace that does not succeed the event. */
static int64_t not_after(const struct es_order *order,
                         struct es_event_id event,
                         uint32_t trace)
{
    /* A kept event does not precede a forgotten one. */
    uint32_t low = forgotten_of(order, trace);
    uint32_t high = es_order_count(order, trace);

    while (low < high) {
        struct es_event_id middle = {.trace = trace,
                                     .index = low + (high - low + 1) / 2};
        int answer = precedes_event(order, event, middle);

        if (answer < 0)
            return answer;
        if (answer == 1)
            high = middle.index - 1;
        else
            low = middle.index;
    }
    return is_forgotten(order, event) ? -ESTALE : (int64_t)low;
}

int64_t es_order_least_successor(const struct es_order *order,
                                 struct es_event_id event,
                                 uint32_t trace)
{
    uint32_t count = es_order_count(order, trace);
    int64_t last;

    if (!is_question(order, event, trace))
        return -EINVAL;
    if (trace == event.trace)
        return event.index < count ? (int64_t)event.index + 1 : 0;
    last = not_after(order, event, trace);
    if (last < 0)
        return last;
    return last < count ? last + 1 : 0;
}

int64_t es_order_greatest_concurrent(const struct es_order *order,
                                     struct es_event_id event,
                                     uint32_t trace)
{
    struct es_event_id found = {.trace = trace};
    int64_t last;
    int code;

    if (!is_question(order, event, trace))
        return -EINVAL;
    if (trace == event.trace)
        return 0;
    last = not_after(order, event, trace);
    if (last <= 0)
        return last;
    found.index = (uint32_t)last;
    code = precedes_event(order, found, event);
    if (code == 0 && (is_forgotten(order, found) || is_forgotten(order, event)))
        return -ESTALE;
    if (code < 0)
        return code;
    return code ? 0 : last;
}

int es_order_concurrent(const struct es_order *order,
                        struct es_event_id event,
                        uint32_t trace,
                        uint32_t *ret_first,
                        uint32_t *ret_last)
{
    int64_t before = es_order_greatest_predecessor(order, event, trace);
    int64_t last;

    if (before < 0 && before != -ESTALE)
        return (int)before;
    if (trace == event.trace)
        return 0;
    last = not_after(order, event, trace);
    if (last < 0)
        return (int)last;
    if (before == -ESTALE && last <= forgotten_of(order, trace))
        return -ESTALE;
    if (before >= last)
        return 0;
    *ret_first = before == -ESTALE ? 0 : (uint32_t)before + 1;
    *ret_last = (uint32_t)last;
    return 1;
}

bool es_order_is_forgotten(const struct es_order *order, struct es_event_id event)
{
    return is_forgotten(order, event);
}

/* --- Statistics ------------------------------------------------------------------- */

void esi_order_statistics(const struct es_order *order,
                          struct esi_order_statistics *ret_statistics)
{
    uint32_t traces = es_order_traces(order);

    *ret_statistics = (struct esi_order_statistics){
        .store = order->ops->name,
        .traces = traces,
        .events = atomic_load_explicit(&order->events, memory_order_relaxed),
        .communication_events =
            atomic_load_explicit(&order->communication_events, memory_order_relaxed),
        .vector_elements = order->fixed_vector ? order->fixed_vector : traces,
        .writer_bytes = esi_segmented_bytes(&order->counts),
    };
    order->ops->statistics(order->store, ret_statistics);
}

/* Returns `elements` relative to the size of vectors of `length` entries for `events`
 * events. */
static double share_state(uint64_t elements, uint64_t events, uint64_t length)
{
    return events && length ? (double)elements / (double)events / (double)length : 0.0;
}

void esi_order_ratios(const struct esi_order_statistics *statistics,
                      struct esi_order_ratios *ret_ratios)
{
    uint64_t events = statistics->events;
    uint64_t communications = statistics->communication_events;

    *ret_ratios = (struct esi_order_ratios){
        .actual = share_state(statistics->actual_elements, events, statistics->traces),
        .fixed = share_state(statistics->fixed_elements, events,
                             statistics->vector_elements),
        .communication_actual = share_state(statistics->communication_actual_elements,
                                            communications, statistics->traces),
        .communication_fixed = share_state(statistics->communication_fixed_elements,
                                           communications, statistics->vector_elements),
        .stored = share_state(statistics->stored_bytes, events,
                              (uint64_t)statistics->traces * sizeof(uint32_t)),
    };
}
