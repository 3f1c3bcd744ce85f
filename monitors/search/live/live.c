/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live.c - runs live searches: passes events to the order and the classes, and each new
 * value to the searches of the predicates. */
#include "config.h"

#include "monitors/search/live/live.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/live/live_private.h"

void esi_live_config_init(struct esi_live_config *config)
{
    *config = (struct esi_live_config){
        .kept_events = 1000000,
        .kept_candidates = 100000,
        .asked_candidates = 64,
        .kept_matches = 1000000,
        .skew_ns = UINT64_C(10000000000),
        .drop_every = 4096,
    };
}

/* --- The queue -------------------------------------------------------------------- */

int esi_live_push(struct esi_live *live, const struct esi_joined *joined)
{
    struct esi_joined_queue *queue = &live->queue;

    if (ESI_ARRAY_RESERVE(queue->items, queue->capacity, queue->count + 1) < 0)
        return -ENOMEM;
    queue->items[queue->count++] = *joined;
    return 0;
}

bool esi_live_is_pending(const struct esi_live *live,
                         const struct esi_domain *domain,
                         struct es_event_id id)
{
    const struct esi_joined_queue *queue = &live->queue;

    for (size_t i = queue->from; i < queue->count; i++) {
        if (queue->items[i].domain != domain)
            continue;
        /* Sets wait in the order of their numbers. */
        if (id.trace == ES_PATTERN_NONE)
            return queue->items[i].id.index <= id.index;
        if (esi_event_is(queue->items[i].id, id))
            return true;
    }
    return false;
}

bool esi_live_find_value(const struct esi_domain *domain,
                         struct es_event_id id,
                         struct esi_domain_value *ret_value)
{
    if (id.trace != ES_PATTERN_NONE)
        return esi_domain_find(domain, id, ret_value);
    *ret_value = (struct esi_domain_value){0, id.index};
    return true;
}

static int joined_class(void *data, uint32_t class_number, struct es_event_id id)
{
    struct esi_live *live = data;
    const struct esi_joined joined = {
        .domain = esi_domains_class(live->domains, class_number),
        .id = id,
        .is_prompt = esi_pattern_class(live->file, class_number)->partner_count == 0,
    };

    return esi_live_push(live, &joined);
}

/* Processes one value after the other; all queries search for what it completes
 * together with earlier values. */
static int search_queue(struct esi_live *live)
{
    int result = 0;

    while (result == 0 && live->queue.from < live->queue.count) {
        struct esi_joined joined = live->queue.items[live->queue.from++];

        if (!esi_live_find_value(joined.domain, joined.id, &joined.value))
            continue;
        for (uint32_t q = 0; result == 0 && q < live->query_count; q++) {
            struct esi_live_query *query = live->queries[q];
            const struct esi_live_use *use = esi_live_query_use(query, joined.domain);

            if (use || query->candidates.count > 0)
                result = esi_live_query_joined(query, use, &joined);
        }
    }
    live->queue.from = live->queue.count = 0;
    return result;
}

/* --- Creation --------------------------------------------------------------------- */

/* What a predicate is needed for. */
struct predicate_need {
    struct esi_program *program; /* owned; NULL if it is not searched */
    bool is_needed;
    bool is_value; /* its matches are values of other predicates */
};

static void need_value(struct predicate_need *needs, uint32_t predicate)
{
    if (predicate != ES_PATTERN_NONE)
        needs[predicate].is_needed = needs[predicate].is_value = true;
}

/* Creates programs for the wanted predicates and for those whose matches are values,
 * which come before their users. */
static int create_programs(const struct esi_live *live,
                           struct predicate_need *needs,
                           struct es_error *error)
{
    for (uint32_t p = es_pattern_predicates(live->file); p > 0; p--) {
        struct predicate_need *need = &needs[p - 1];
        int result;

        if (!need->is_needed)
            continue;
        result = esi_program_create(live->file, p - 1, &need->program, error);
        if (result < 0)
            return result;
        for (uint32_t v = 0; v < need->program->variable_count; v++)
            need_value(needs, need->program->variables[v].predicate);
        for (uint32_t a = 0; a < need->program->atom_count; a++)
            if (need->program->atoms[a].kind == ES_ATOM_COUNT)
                need_value(needs, need->program->atoms[a].counted_predicate);
    }
    return 0;
}

static int create_queries(struct esi_live *live,
                          struct predicate_need *needs,
                          struct es_error *error)
{
    uint32_t count = es_pattern_predicates(live->file);
    int result = create_programs(live, needs, error);

    for (uint32_t p = 0; result == 0 && p < count; p++) {
        struct esi_program *taken = needs[p].program;

        if (!taken)
            continue;
        needs[p].program = NULL;
        result = esi_live_query_create(live, taken, needs[p].is_value,
                                       &live->queries[live->query_count], error);
        live->query_count += result == 0;
    }
    return result;
}

static void find_wanted(struct esi_live *live, const struct esi_live_wanted *wanted)
{
    for (uint32_t i = 0; i < live->wanted_count; i++)
        for (uint32_t q = 0; q < live->query_count; q++)
            if (live->queries[q]->program->predicate == wanted[i].predicate) {
                live->wanted[i] = live->queries[q];
                live->wanted[i]->sink = wanted[i].sink;
            }
}

static int fill_live(struct esi_live *live,
                     const struct esi_live_wanted *wanted,
                     struct es_error *error)
{
    const struct esi_domains_listener listener = {.joined = joined_class, .data = live};
    uint32_t count = es_pattern_predicates(live->file);
    struct predicate_need *needs = calloc(count + 1u, sizeof *needs);
    bool *needed = calloc(count + 1u, sizeof *needed);
    int result = -ENOMEM;

    live->wanted = calloc(live->wanted_count + 1u, sizeof(struct esi_live_query *));
    live->queries = calloc(count + 1u, sizeof(struct esi_live_query *));
    if (needs && needed && live->wanted && live->queries) {
        for (uint32_t i = 0; i < live->wanted_count; i++)
            needs[wanted[i].predicate].is_needed = needed[wanted[i].predicate] = true;
        result =
            esi_domains_create(live->file, needed, &listener, &live->domains, error);
    }
    if (result == 0)
        result = create_queries(live, needs, error);
    for (uint32_t p = 0; needs && p < count; p++)
        esi_program_destroy(needs[p].program);
    free(needs);
    free(needed);
    return result;
}

int esi_live_create(const struct es_pattern_file *file,
                    const struct esi_live_wanted *wanted,
                    uint32_t wanted_count,
                    struct es_order *order,
                    const struct esi_live_config *config,
                    struct esi_live **ret_live,
                    struct es_error *error)
{
    struct esi_live *live = calloc(1, sizeof *live);
    int result;

    if (!live)
        return -ENOMEM;
    live->file = file;
    live->order = order;
    live->config = *config;
    live->wanted_count = wanted_count;
    live->precedence.order = order;
    live->precedence.stamps = &live->stamps;
    result = fill_live(live, wanted, error);
    if (result == 0)
        result = esi_live_retention_init(live);
    if (result < 0) {
        esi_live_destroy(live);
        return result;
    }
    find_wanted(live, wanted);
    live->order_sink = es_order_sink(live->order);
    live->domains_sink = esi_domains_sink(live->domains);
    *ret_live = live;
    return 0;
}

void esi_live_destroy(struct esi_live *live)
{
    if (!live)
        return;
    while (live->query_count > 0)
        esi_live_query_destroy(live->queries[--live->query_count]);
    esi_live_retention_fini(&live->retention);
    esi_domains_destroy(live->domains);
    esi_stamp_cache_fini(&live->stamps);
    free(live->queries);
    free(live->wanted);
    free(live->queue.items);
    free(live);
}

/* --- Events ----------------------------------------------------------------------- */

/* Starts the queries; matches without variables wait for the end. */
static int begin_queries(struct esi_live *live)
{
    int result = 0;

    for (uint32_t q = 0; !live->has_begun && result == 0 && q < live->query_count; q++)
        result = esi_live_query_begin(live->queries[q]);
    live->has_begun = true;
    return result;
}

static int on_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_live *live = data;
    int result = live->order_sink.trace(live->order_sink.data, trace, name);

    if (result >= 0)
        result = live->domains_sink.trace(live->domains_sink.data, trace, name);
    if (result >= 0)
        result = esi_stamp_cache_reserve(&live->stamps, trace + 1);
    return result < 0 ? result : esi_live_retention_add_trace(live);
}

static int on_event(void *data, const struct es_set_event *event)
{
    struct esi_live *live = data;
    int result = begin_queries(live);

    if (result == 0)
        result = live->order_sink.event(live->order_sink.data, event);
    if (result >= 0)
        esi_stamp_cache_note(&live->stamps, event);
    if (result >= 0)
        result = live->domains_sink.event(live->domains_sink.data, event);
    if (result < 0)
        return result;
    live->events++;
    esi_live_retention_on_event(live, event);
    /* The order takes a sync when its other half has arrived. */
    if (es_order_sink_end(live->order) < 0)
        return 0;
    result = search_queue(live);
    if (result == 0)
        esi_live_retention_apply(live);
    return result;
}

struct es_set_sink esi_live_sink(struct esi_live *live)
{
    return (struct es_set_sink){on_trace, on_event, live};
}

int esi_live_end(struct esi_live *live)
{
    int result = es_order_sink_end(live->order);

    if (result == 0)
        result = begin_queries(live);
    if (result == 0)
        result = search_queue(live);
    /* The values of a predicate are complete before its users are decided. */
    for (uint32_t q = 0; result == 0 && q < live->query_count; q++) {
        result = esi_live_candidates_end(live->queries[q]);
        if (result == 0)
            result = search_queue(live);
    }
    return result;
}

/* --- Statistics ------------------------------------------------------------------- */

bool esi_live_has_enough(const struct esi_live *live)
{
    for (uint32_t i = 0; i < live->wanted_count; i++)
        if (!live->wanted[i]->has_enough)
            return false;
    return true;
}

uint64_t esi_live_matches(const struct esi_live *live, uint32_t wanted)
{
    return live->wanted[wanted]->matches;
}

const struct esi_domains *esi_live_domains(const struct esi_live *live)
{
    return live->domains;
}

static void add_query(const struct esi_live_query *query,
                      struct esi_live_statistics *statistics)
{
    statistics->matches += query->matches;
    statistics->candidates += query->candidates.count;
    statistics->lost_candidates += query->candidates.lost;
    statistics->bytes += sizeof *query + esi_seen_bytes(&query->seen) +
                         esi_live_candidates_bytes(query) +
                         (query->sets ? esi_domain_bytes(query->sets) : 0);
    for (uint32_t i = 0; i < query->program->disjunct_count; i++) {
        struct esi_indexed_statistics one;

        if (!query->disjuncts[i].search)
            continue;
        esi_indexed_statistics(query->disjuncts[i].search, &one);
        statistics->comparisons += one.comparisons;
        statistics->unknown += one.unknown;
        statistics->bytes += one.bytes;
    }
}

void esi_live_statistics(const struct esi_live *live,
                         struct esi_live_statistics *ret_statistics)
{
    struct esi_live_statistics statistics = {
        .events = live->events,
        .kept_events = esi_live_retention_kept(live),
        .dropped_events = live->retention.dropped,
        .lost_events = live->retention.evicted,
        .comparisons = live->precedence.comparisons,
        .unknown = live->precedence.unknown,
        .missed_partners = esi_domains_missed(live->domains) + live->retention.missed,
        .bytes = sizeof *live + esi_domains_bytes(live->domains) +
                 esi_stamp_cache_bytes(&live->stamps) +
                 live->queue.capacity * sizeof *live->queue.items,
    };

    for (uint32_t q = 0; q < live->query_count; q++)
        add_query(live->queries[q], &statistics);
    statistics.is_complete = statistics.lost_events == 0 &&
                             statistics.lost_candidates == 0 &&
                             statistics.unknown == 0 && statistics.missed_partners == 0;
    *ret_statistics = statistics;
}

void esi_live_predicate_statistics(const struct esi_live *live,
                                   uint32_t wanted,
                                   struct esi_live_predicate_statistics *ret_statistics)
{
    struct esi_live_statistics sum = {.matches = 0};

    add_query(live->wanted[wanted], &sum);
    *ret_statistics = (struct esi_live_predicate_statistics){
        .matches = sum.matches,
        .candidates = sum.candidates,
        .lost_candidates = sum.lost_candidates,
        .comparisons = sum.comparisons,
        .bytes = sum.bytes,
    };
}
