/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live.c - drives live searches: events to the order and to classes, values that joined
 * to the searches of the predicates, one after the other. */
#include "config.h"

#include "monitors/search/live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/domains/domain_columns.h"
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
    if (live->queue_count == live->queue_capacity) {
        size_t capacity = 2 * live->queue_capacity + 64;
        struct esi_joined *queue = realloc(live->queue, capacity * sizeof *queue);
        if (!queue)
            return -ENOMEM;
        live->queue = queue;
        live->queue_capacity = capacity;
    }
    live->queue[live->queue_count++] = *joined;
    return 0;
}

bool esi_live_is_pending(const struct esi_live *live,
                         uint32_t class_number,
                         struct es_event_id id)
{
    for (size_t i = live->queue_from; i < live->queue_count; i++)
        if (live->queue[i].class_number == class_number &&
            esi_event_is(live->queue[i].id, id))
            return true;
    return false;
}

bool esi_joined_find(const struct esi_domain *domain,
                     const struct esi_joined *joined,
                     struct esi_domain_value *ret_value)
{
    if (joined->class_number != ES_PATTERN_NONE)
        return esi_domain_find(domain, joined->id, ret_value);
    *ret_value = (struct esi_domain_value){0, joined->set};
    return true;
}

static int joined_class(void *data, uint32_t class_number, struct es_event_id id)
{
    struct esi_joined joined = {
        .class_number = class_number, .predicate = ES_PATTERN_NONE, .id = id};

    return esi_live_push(data, &joined);
}

/* One value after the other, each by all parts: what it completes with those before
 * it. */
static int search_queue(struct esi_live *live)
{
    int result = 0;

    while (result == 0 && live->queue_from < live->queue_count) {
        struct esi_joined joined = live->queue[live->queue_from++];

        if (joined.class_number == ES_PATTERN_NONE)
            live->parts[joined.predicate]->processed = joined.set + 1;
        for (uint32_t p = 0; result == 0 && p < live->part_count; p++)
            if (live->parts[p])
                result = esi_live_part_joined(live->parts[p], &joined);
    }
    live->queue_from = live->queue_count = 0;
    return result;
}

/* --- Making it -------------------------------------------------------------------- */

static void mark_inner(const struct esi_program *program, bool *is_value)
{
    for (uint32_t v = 0; v < program->variable_count; v++)
        if (program->variables[v].predicate != ES_PATTERN_NONE)
            is_value[program->variables[v].predicate] = true;
    for (uint32_t a = 0; a < program->atom_count; a++)
        if (program->atoms[a].kind == ES_ATOM_COUNT &&
            program->atoms[a].counted_predicate != ES_PATTERN_NONE)
            is_value[program->atoms[a].counted_predicate] = true;
}

/* Programs of what is wanted, and of those whose matches are values: they stand above
 * their users. */
static int create_programs(const struct esi_live *live,
                           struct esi_program **programs,
                           bool *is_value,
                           struct es_error *error)
{
    for (uint32_t p = live->part_count; p > 0; p--) {
        bool is_needed = is_value[p - 1];
        int result;

        for (uint32_t i = 0; i < live->wanted_count; i++)
            is_needed |= live->wanted[i].predicate == p - 1;
        if (!is_needed)
            continue;
        result = esi_program_create(live->file, p - 1, &programs[p - 1], error);
        if (result < 0)
            return result;
        mark_inner(programs[p - 1], is_value);
    }
    return 0;
}

/* A part takes its program, also if it cannot be made. */
static int create_part(struct esi_live *live,
                       uint32_t predicate,
                       struct esi_program **program,
                       bool is_value,
                       struct es_error *error)
{
    struct esi_program *taken = *program;
    struct esi_live_part *part;
    int result;

    *program = NULL;
    result = esi_live_part_create(live, predicate, taken, &part, error);
    if (result < 0)
        return result;
    live->parts[predicate] = part;
    part->is_value = is_value;
    for (uint32_t i = 0; i < live->wanted_count; i++)
        if (live->wanted[i].predicate == predicate)
            part->sink = &live->wanted[i].sink;
    return is_value ? esi_domain_create_sets(live->domains, &part->sets) : 0;
}

static int create_parts(struct esi_live *live, struct es_error *error)
{
    struct esi_program **programs = calloc(live->part_count + 1u, sizeof *programs);
    bool *is_value = calloc(live->part_count + 1u, sizeof *is_value);
    int result = programs && is_value ? 0 : -ENOMEM;

    if (result == 0)
        result = create_programs(live, programs, is_value, error);
    for (uint32_t p = 0; result == 0 && p < live->part_count; p++)
        if (programs[p])
            result = create_part(live, p, &programs[p], is_value[p], error);
    for (uint32_t p = 0; programs && p < live->part_count; p++)
        esi_program_destroy(programs[p]);
    free(programs);
    free(is_value);
    return result;
}

static int create_domains(struct esi_live *live, struct es_error *error)
{
    const struct esi_domains_listener listener = {joined_class, live};
    bool *needed = calloc(live->part_count + 1u, sizeof *needed);
    int result = -ENOMEM;

    if (needed) {
        for (uint32_t i = 0; i < live->wanted_count; i++)
            needed[live->wanted[i].predicate] = true;
        result =
            esi_domains_create(live->file, needed, &listener, &live->domains, error);
    }
    free(needed);
    return result;
}

static int fill_domains(struct esi_live *live,
                        const struct esi_live_wanted *wanted,
                        struct es_error *error)
{
    int result;

    live->wanted = calloc(live->wanted_count + 1u, sizeof *live->wanted);
    live->parts = calloc(live->part_count + 1u, sizeof(struct esi_live_part *));
    if (!live->wanted || !live->parts)
        return -ENOMEM;
    for (uint32_t i = 0; i < live->wanted_count; i++)
        live->wanted[i] = wanted[i];
    result = create_domains(live, error);
    if (result == 0)
        result = create_parts(live, error);
    if (result == 0)
        result = esi_live_drop_init(live);
    if (result < 0)
        return result;
    live->order_sink = es_order_sink(live->order);
    live->domains_sink = esi_domains_sink(live->domains);
    return 0;
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
    live->part_count = es_pattern_predicates(file);
    live->precedence.order = order;
    result = fill_domains(live, wanted, error);
    if (result < 0) {
        esi_live_destroy(live);
        return result;
    }
    *ret_live = live;
    return 0;
}

void esi_live_destroy(struct esi_live *live)
{
    if (!live)
        return;
    for (uint32_t p = live->part_count; live->parts && p > 0; p--)
        esi_live_part_destroy(live->parts[p - 1]);
    esi_live_drop_fini(live);
    esi_domains_destroy(live->domains);
    free(live->parts);
    free(live->wanted);
    free(live->queue);
    free(live);
}

/* --- Events ----------------------------------------------------------------------- */

/* What waits for the end from the beginning. */
static int begin_part(struct esi_live *live)
{
    int result = 0;

    if (live->has_begun)
        return 0;
    live->has_begun = true;
    for (uint32_t p = 0; result == 0 && p < live->part_count; p++)
        if (live->parts[p])
            result = esi_live_part_begin(live->parts[p]);
    return result;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_live *live = data;
    int result = live->order_sink.trace(live->order_sink.data, trace, name);

    if (result >= 0)
        result = live->domains_sink.trace(live->domains_sink.data, trace, name);
    return result < 0 ? result : esi_live_drop_trace(live);
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_live *live = data;
    int result = begin_part(live);

    if (result == 0)
        result = live->order_sink.event(live->order_sink.data, event);
    if (result >= 0)
        result = live->domains_sink.event(live->domains_sink.data, event);
    if (result < 0)
        return result;
    live->events++;
    esi_live_drop_event(live, event);
    /* The order has a sync when its other half has come, too. */
    if (es_order_sink_end(live->order) < 0)
        return 0;
    result = search_queue(live);
    if (result == 0)
        esi_live_drop(live);
    return result;
}

struct es_set_sink esi_live_sink(struct esi_live *live)
{
    return (struct es_set_sink){take_trace, take_event, live};
}

int esi_live_end(struct esi_live *live)
{
    int result = es_order_sink_end(live->order);

    if (result == 0)
        result = begin_part(live);
    if (result == 0)
        result = search_queue(live);
    /* Values of a predicate are complete before those that use them are decided. */
    for (uint32_t p = 0; result == 0 && p < live->part_count; p++) {
        if (!live->parts[p])
            continue;
        result = esi_live_candidates_end(live->parts[p]);
        if (result == 0)
            result = search_queue(live);
    }
    return result;
}

/* --- Asking ----------------------------------------------------------------------- */

bool esi_live_has_enough(const struct esi_live *live)
{
    for (uint32_t i = 0; i < live->wanted_count; i++)
        if (!live->parts[live->wanted[i].predicate]->has_enough)
            return false;
    return true;
}

uint64_t esi_live_matches(const struct esi_live *live, uint32_t wanted)
{
    return live->parts[live->wanted[wanted].predicate]->matches;
}

static void add_part(const struct esi_live_part *part,
                     struct esi_live_statistics *statistics)
{
    statistics->matches += part->matches;
    statistics->lost_candidates += part->lost_candidates;
    statistics->bytes += sizeof *part + esi_seen_bytes(&part->seen) +
                         esi_live_candidates_bytes(part) +
                         (part->sets ? esi_domain_bytes(part->sets) : 0);
    for (uint32_t i = 0; i < part->program->support_count; i++) {
        struct esi_indexed_statistics one;
        if (!part->supports[i].search)
            continue;
        esi_indexed_statistics(part->supports[i].search, &one);
        statistics->comparisons += one.comparisons;
        statistics->unknown += one.unknown;
        statistics->bytes += one.bytes;
    }
}

const struct esi_domains *esi_live_domains(const struct esi_live *live)
{
    return live->domains;
}

void esi_live_statistics(const struct esi_live *live,
                         struct esi_live_statistics *ret_statistics)
{
    struct esi_live_statistics statistics = {
        .events = live->events,
        .kept_events = esi_live_kept(live),
        .dropped_events = live->dropped_events,
        .lost_events = live->lost_events,
        .candidates = live->candidates,
        .comparisons = live->precedence.comparisons,
        .unknown = live->precedence.unknown,
        .missed_partners = esi_domains_missed(live->domains) + live->missed_sends,
        .bytes = sizeof *live + esi_domains_bytes(live->domains) +
                 live->queue_capacity * sizeof *live->queue,
    };

    for (uint32_t p = 0; p < live->part_count; p++)
        if (live->parts[p])
            add_part(live->parts[p], &statistics);
    statistics.is_complete = statistics.lost_events == 0 &&
                             statistics.lost_candidates == 0 &&
                             statistics.unknown == 0 && statistics.missed_partners == 0;
    *ret_statistics = statistics;
}

void esi_live_predicate_statistics(const struct esi_live *live,
                                   uint32_t wanted,
                                   struct esi_live_predicate_statistics *ret_statistics)
{
    const struct esi_live_part *part = live->parts[live->wanted[wanted].predicate];
    struct esi_live_statistics sum = {.matches = 0};

    add_part(part, &sum);
    *ret_statistics = (struct esi_live_predicate_statistics){
        .matches = sum.matches,
        .candidates = part->candidate_count,
        .lost_candidates = sum.lost_candidates,
        .comparisons = sum.comparisons,
        .bytes = sum.bytes,
    };
}
