/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order.c - the order of an event set: finds the store, checks what is appended, and
 * publishes how many events each trace has.
 */
#include "config.h"

#include "monitors/order/order.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/order_state.h"

/* A new store is a row here and a line in order_private.h. */
static const struct esi_store_ops *const stores[] = {
    &esi_store_dense,
    &esi_store_cluster,
    &esi_store_epoch,
};

enum { STORES = sizeof stores / sizeof stores[0] };

static const char DEFAULT_STORE[] = "epoch";
static const uint32_t MOST_EVENTS = UINT32_MAX - 1; /* of a trace */

/* --- Stores ----------------------------------------------------------------------- */

static struct esi_order_store_help store_helps[STORES + 1];
static pthread_once_t store_helps_once = PTHREAD_ONCE_INIT;

static void fill_store_helps(void)
{
    for (size_t i = 0; i < STORES; i++) {
        store_helps[i].name = stores[i]->name;
        store_helps[i].help = stores[i]->help;
    }
}

const struct esi_order_store_help *esi_order_stores(void)
{
    pthread_once(&store_helps_once, fill_store_helps);
    return store_helps;
}

static const struct esi_store_ops *find_store(const char *name)
{
    for (size_t i = 0; i < STORES; i++)
        if (strcmp(stores[i]->name, name) == 0)
            return stores[i];
    return NULL;
}

/* --- Life ------------------------------------------------------------------------- */

void esi_order_config_init(struct esi_order_config *config)
{
    *config =
        (struct esi_order_config){.levels = 1, .max_sizes = {13}, .threshold = 10.0};
}

int esi_order_create(const struct esi_order_config *config,
                     struct es_error *error,
                     struct es_order **ret_order)
{
    const char *name = config->store ? config->store : DEFAULT_STORE;
    const struct esi_store_ops *ops = find_store(name);
    struct es_order *order;
    int code;

    if (!ops)
        return es_error_set(error, -EINVAL,
                            "no store of the order is named '%s'; expected epoch, "
                            "cluster or dense",
                            name);
    order = calloc(1, sizeof *order);
    if (!order)
        return es_error_set(error, -ENOMEM, "out of memory");
    order->ops = ops;
    order->fixed_vector = config->fixed_vector;
    esi_segmented_init(&order->counts, sizeof(_Atomic uint32_t), 4);
    code = ops->create(config, error, &order->store);
    if (code < 0) {
        free(order);
        return code;
    }
    *ret_order = order;
    return 0;
}

void es_order_destroy(struct es_order *order)
{
    int saved = errno;

    if (!order)
        return;
    order->ops->destroy(order->store);
    esi_segmented_fini(&order->counts);
    free(order);
    errno = saved;
}

/* --- Counts ----------------------------------------------------------------------- */

uint32_t es_order_traces(const struct es_order *order)
{
    /* Pairs with the release in es_order_add_trace(). */
    return atomic_load_explicit(&order->traces, memory_order_acquire);
}

uint32_t es_order_count(const struct es_order *order, uint32_t trace)
{
    const _Atomic uint32_t *count;

    if (trace >= es_order_traces(order))
        return 0;
    count = esi_segmented_at(&order->counts, trace);
    /* Pairs with the release in publish_state(). */
    return atomic_load_explicit(count, memory_order_acquire);
}

static void publish_state(struct es_order *order,
                          struct es_event_id id,
                          enum es_event_kind kind)
{
    _Atomic uint32_t *count = esi_segmented_at(&order->counts, id.trace);
    uint64_t events = atomic_load_explicit(&order->events, memory_order_relaxed);
    uint64_t communications =
        atomic_load_explicit(&order->communication_events, memory_order_relaxed);

    /* Whoever acquires it in es_order_count() finds the event in the store. */
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

/* The id of a trace's next event. */
static int next_id(const struct es_order *order,
                   uint32_t trace,
                   struct es_event_id *ret_id)
{
    uint32_t count = es_order_count(order, trace);

    if (trace >= es_order_traces(order))
        return -EINVAL;
    if (count >= MOST_EVENTS)
        return -EOVERFLOW;
    *ret_id = (struct es_event_id){.trace = trace, .index = count + 1};
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

int es_order_append(struct es_order *order,
                    uint32_t trace,
                    enum es_event_kind kind,
                    const struct es_event_id *partners,
                    size_t partner_count)
{
    struct es_event_id id;
    int code = next_id(order, trace, &id);

    if (code < 0)
        return code;
    if (!can_append(order, kind, partners, partner_count))
        return -EINVAL;
    code = order->ops->append(order->store, id, kind, partners, partner_count);
    if (code < 0)
        return code;
    publish_state(order, id, kind);
    return 0;
}

int es_order_append_sync(struct es_order *order, uint32_t trace, uint32_t other)
{
    struct es_event_id id, other_id;
    int code = trace == other ? -EINVAL : next_id(order, trace, &id);

    if (code >= 0)
        code = next_id(order, other, &other_id);
    if (code >= 0)
        code = order->ops->append_sync(order->store, id, other_id);
    if (code < 0)
        return code;
    publish_state(order, id, ES_EVENT_SYNC);
    publish_state(order, other_id, ES_EVENT_SYNC);
    return 0;
}

/* --- What it costs ---------------------------------------------------------------- */

void esi_order_statistics(const struct es_order *order,
                          struct esi_order_statistics *ret_statistics)
{
    uint32_t traces = es_order_traces(order);

    *ret_statistics = (struct esi_order_statistics){
        .traces = traces,
        .events = atomic_load_explicit(&order->events, memory_order_relaxed),
        .communication_events =
            atomic_load_explicit(&order->communication_events, memory_order_relaxed),
        .vector_elements = order->fixed_vector ? order->fixed_vector : traces,
        .writer_bytes = esi_segmented_bytes(&order->counts),
    };
    order->ops->statistics(order->store, ret_statistics);
}

/* `elements` of what vectors of `length` for all `events` would have. */
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
