/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_scope.c - passes the tuples of collective operations to causality. */
#include "config.h"

#include "monitors/collectives/collectives_scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/run/run_follow.h"
#include "monitors/sites/sites.h"

#define NO_ELEMENT UINT32_MAX
/* New elements join within this time. */
#define REFRESH_NS UINT64_C(200000000)
/* How often old instances are checked. */
#define SETTLE_NS UINT64_C(500000000)
/* A contribution shows that an operation uses an instrumented tree. */
#define OPERATION_CLASSES (1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_CONTRIBUTE)

/* State of an element. */
struct contributor {
    struct esi_run_process *process;
    uint32_t element; /* of causality; NO_ELEMENT = it has no collective operations */
};

struct esi_collectives_scope {
    struct esi_causality *causality;
    struct esi_follower *follower;
    struct es_scope *scope;  /* the follower's */
    struct esi_sites *sites; /* owned */
    struct esi_collectives_listener listener;
    const struct es_batch *last; /* NULL = none yet */
    struct contributor *origins; /* by number */
    size_t origin_capacity;
    /* The counters of all processes of a host are one clock, but each process
     * calibrates it separately, so their clock records differ by up to their errors.
     * Times of a host are converted by one record, the first seen, so that they keep
     * the order of reading. */
    struct es_clock *clocks; /* by number */
    size_t clock_count;
    size_t clock_capacity;
    uint64_t newest_ns;  /* run time of the newest exit */
    uint64_t settled_ns; /* run time up to which old instances were given up */
};

void esi_collectives_scope_config_init(struct es_scope_config *config)
{
    es_scope_config_init(config);
    config->view.selection.classes = OPERATION_CLASSES;
    config->take = ES_TAKE_EVERY;
    config->sites = true;
    config->name = "collectives";
}

/* --- Elements --------------------------------------------------------------------- */

static int take_origin(void *data, uint32_t number, const struct es_origin *from)
{
    struct esi_collectives_scope *scope = data;
    struct contributor *origin;

    if (ESI_ARRAY_RESERVE(scope->origins, scope->origin_capacity, (size_t)number + 1) <
            0 ||
        ESI_ARRAY_RESERVE(scope->clocks, scope->clock_capacity,
                          scope->clock_count + 1) < 0)
        return -ENOMEM;
    origin = &scope->origins[number];
    origin->element = NO_ELEMENT;
    if (esi_run_follow_process(esi_causality_run(scope->causality), from,
                               &origin->process) < 0)
        return -ENOMEM;
    if (origin->process->clock == scope->clock_count)
        scope->clocks[scope->clock_count++] = *from->clock;
    return from->classes & OPERATION_CLASSES
               ? esi_causality_add_element(scope->causality, origin->process,
                                           from->thread, &origin->element)
               : 0;
}

/* Sets the times of a tuple. */
static void convert_time(struct esi_collectives_scope *scope,
                         uint32_t number,
                         struct esi_causal_tuple *told)
{
    struct es_origin origin = *es_scope_origin(scope->scope, number);
    uint64_t enter_error_ns = 0;
    uint64_t exit_error_ns = 0;

    origin.clock = &scope->clocks[scope->origins[number].process->clock];
    told->start_ns = es_origin_run_ns(&origin, told->tuple.start, &enter_error_ns);
    if (told->tuple.stop != 0)
        told->stop_ns = es_origin_run_ns(&origin, told->tuple.stop, &exit_error_ns);
    told->error_ns = exit_error_ns > enter_error_ns ? exit_error_ns : enter_error_ns;
}

/* --- Opening ---------------------------------------------------------------------- */

int esi_collectives_scope_open(struct es_run *run,
                               const struct es_scope_config *config,
                               const struct esi_causality_config *causality,
                               struct es_error *error,
                               struct esi_collectives_scope **ret_scope)
{
    struct esi_collectives_scope *scope = calloc(1, sizeof *scope);
    struct esi_follower_config follower = {.run = run,
                                           .scope = *config,
                                           .refresh_ns = REFRESH_NS,
                                           .on_origin = take_origin,
                                           .data = scope};
    struct esi_causality_config matching = *causality;
    int result;

    if (!scope)
        return -ENOMEM;
    matching.only_instances = true;
    result = esi_sites_create(&scope->sites);
    if (result == 0)
        result = esi_causality_create(&matching, &scope->causality);
    if (result == 0)
        result = esi_follower_open(&follower, error, &scope->follower);
    if (result < 0) {
        esi_collectives_scope_close(scope);
        return result;
    }
    scope->scope = esi_follower_scope(scope->follower);
    *ret_scope = scope;
    return 0;
}

void esi_collectives_scope_close(struct esi_collectives_scope *scope)
{
    int saved_errno = errno;

    if (!scope)
        return;
    esi_follower_close(scope->follower);
    esi_causality_destroy(scope->causality);
    esi_sites_destroy(scope->sites);
    free(scope->origins);
    free(scope->clocks);
    free(scope);
    errno = saved_errno;
}

/* --- Tuples ----------------------------------------------------------------------- */

int esi_collectives_scope_pull(struct esi_collectives_scope *scope, bool drain)
{
    int result = esi_follower_refresh(scope->follower, drain);

    scope->last = NULL;
    return result < 0 ? result
                      : esi_follower_pull(scope->follower, drain ? ES_PULL_DRAIN : 0,
                                          &scope->last);
}

void esi_collectives_scope_set_listener(struct esi_collectives_scope *scope,
                                        const struct esi_collectives_listener *listener)
{
    scope->listener = *listener;
}

/* Whether the tuple is part of an operation, or shows one. */
static bool is_part(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return !operation || 1u << operation->op_class & OPERATION_CLASSES;
}

static int take_tuple(struct esi_collectives_scope *scope,
                      const struct es_tuple *tuple,
                      const struct es_mark *mark)
{
    const struct contributor *origin = &scope->origins[mark->origin];
    struct esi_causal_tuple told = {.tuple = *tuple};
    uint16_t communicator = tuple->communicator;

    /* Messages use the same clocks as operations, so that times within a host have no
     * error. */
    convert_time(scope, mark->origin, &told);
    if (scope->listener.on_tuple && tuple->stop != 0 &&
        scope->listener.on_tuple(scope->listener.data, scope->follower, mark->origin,
                                 &told) < 0)
        return -ENOMEM;
    if (origin->element == NO_ELEMENT || !is_part(tuple))
        return 0;
    if (told.stop_ns > scope->newest_ns)
        scope->newest_ns = told.stop_ns;
    told.site = esi_sites_format(scope->sites, scope->scope, mark->origin, mark->site);
    if (!esi_run_member(origin->process, communicator) &&
        esi_run_follow_communicator(esi_causality_run(scope->causality),
                                    scope->follower, mark->origin, origin->process,
                                    communicator, false) < 0)
        return -ENOMEM;
    return esi_causality_add(scope->causality, origin->element, &told);
}

int esi_collectives_scope_add(struct esi_collectives_scope *scope)
{
    const struct es_batch *batch = scope->last;
    int result = 0;

    for (size_t i = 0; batch && i < batch->count && result >= 0; i++)
        if (!es_mark_is_summary(&batch->marks[i]))
            result = take_tuple(scope, &batch->tuples[i], &batch->marks[i]);
    if (result >= 0 && batch && !batch->more && scope->listener.on_read)
        result = scope->listener.on_read(scope->listener.data);
    /* While some elements have more data, others may be far ahead of them. */
    if (result >= 0 && batch && !batch->more &&
        scope->newest_ns - scope->settled_ns >= SETTLE_NS) {
        scope->settled_ns = scope->newest_ns;
        result = esi_causality_advance(scope->causality);
    }
    return result;
}

/* --- Queries ---------------------------------------------------------------------- */

struct esi_causality *esi_collectives_scope_causality(
    const struct esi_collectives_scope *scope)
{
    return scope->causality;
}

const char *esi_collectives_scope_host(const struct esi_collectives_scope *scope,
                                       int world_rank)
{
    for (uint32_t i = 0; i < es_scope_origin_count(scope->scope); i++) {
        const struct es_origin *origin = es_scope_origin(scope->scope, i);

        if (origin->rank == world_rank && world_rank >= 0)
            return origin->host;
    }
    return NULL;
}

int esi_collectives_scope_ranks(const struct esi_collectives_scope *scope)
{
    int most = -1;

    for (uint32_t i = 0; i < es_scope_origin_count(scope->scope); i++)
        if (es_scope_origin(scope->scope, i)->rank > most)
            most = es_scope_origin(scope->scope, i)->rank;
    return most + 1;
}

const struct esi_follower *esi_collectives_scope_follower(
    const struct esi_collectives_scope *scope)
{
    return scope->follower;
}
