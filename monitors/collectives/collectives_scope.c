/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_scope.c - converts tuples to collective calls. */
#include "config.h"

#include "monitors/collectives/collectives_scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/follow/activity.h"
#include "monitors/sites/sites.h"
#include "wrappers/stages/node_edges.h"

/* New elements join within this time. */
#define REFRESH_NS UINT64_C(200000000)
/* How often old instances are checked. */
#define SETTLE_NS UINT64_C(500000000)

/* The counters of all processes of a host are one clock, but each process calibrates it
 * separately, so their clock records differ by up to their errors.  Times of a host are
 * converted by one record, the first seen, so that they keep the order of reading. */
struct host_clock {
    char host[64];
    struct es_clock clock;
};

struct esi_collectives_scope {
    struct esi_follower *follower;
    struct es_scope *scope;  /* the follower's */
    struct esi_sites *sites; /* owned */
    struct esi_collectives_listener listener;
    const struct es_batch *last; /* NULL = none yet */
    size_t *clock_of;            /* per origin: number of its host's clock */
    size_t clock_of_capacity;
    struct host_clock *clocks; /* by number */
    size_t clock_count;
    size_t clock_capacity;
    uint64_t newest_ns;  /* run time of the newest exit */
    uint64_t settled_ns; /* run time up to which old instances were given up */
    uint64_t unplaced;
    uint64_t between;
};

void esi_collectives_scope_config_init(struct es_scope_config *config)
{
    es_scope_config_init(config);
    config->view.selection.classes =
        1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_CONTRIBUTE;
    config->take = ES_TAKE_EVERY;
    config->sites = true;
    config->name = "collectives";
}

/* --- Clocks ----------------------------------------------------------------------- */

/* The number of an origin's clock. */
static int find_clock(struct esi_collectives_scope *scope,
                      const struct es_origin *origin,
                      size_t *ret_clock)
{
    struct host_clock *added;

    for (size_t i = 0; i < scope->clock_count; i++)
        if (strcmp(scope->clocks[i].host, origin->host) == 0 &&
            scope->clocks[i].clock.kind == origin->clock->kind) {
            *ret_clock = i;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(scope->clocks, scope->clock_capacity,
                          scope->clock_count + 1) < 0)
        return -ENOMEM;
    *ret_clock = scope->clock_count++;
    added = &scope->clocks[*ret_clock];
    snprintf(added->host, sizeof added->host, "%s", origin->host);
    added->clock = *origin->clock;
    return 0;
}

static int take_origin(void *data, uint32_t number, const struct es_origin *origin)
{
    struct esi_collectives_scope *scope = data;

    if (ESI_ARRAY_RESERVE(scope->clock_of, scope->clock_of_capacity,
                          (size_t)number + 1) < 0)
        return -ENOMEM;
    return find_clock(scope, origin, &scope->clock_of[number]);
}

/* Sets the times of a call. */
static void convert_time(struct esi_collectives_scope *scope,
                         const struct es_tuple *tuple,
                         uint32_t origin_index,
                         struct esi_collective_call *call)
{
    struct es_origin origin = *es_scope_origin(scope->scope, origin_index);
    uint64_t enter_error_ns = 0;
    uint64_t exit_error_ns = 0;

    call->clock = (uint32_t)scope->clock_of[origin_index] + 1;
    origin.clock = &scope->clocks[call->clock - 1].clock;
    call->enter_ns = es_origin_run_ns(&origin, tuple->start, &enter_error_ns);
    call->exit_ns = es_origin_run_ns(&origin, tuple->stop, &exit_error_ns);
    call->error_ns = exit_error_ns > enter_error_ns ? exit_error_ns : enter_error_ns;
}

/* --- Opening ---------------------------------------------------------------------- */

int esi_collectives_scope_open(struct es_run *run,
                               const struct es_scope_config *config,
                               struct es_error *error,
                               struct esi_collectives_scope **ret_scope)
{
    struct esi_collectives_scope *scope = calloc(1, sizeof *scope);
    struct esi_follower_config follower = {.run = run,
                                           .scope = *config,
                                           .refresh_ns = REFRESH_NS,
                                           .on_origin = take_origin,
                                           .data = scope};
    int result;

    if (!scope)
        return -ENOMEM;
    result = esi_sites_create(&scope->sites);
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
    esi_sites_destroy(scope->sites);
    free(scope->clock_of);
    free(scope->clocks);
    free(scope);
    errno = saved_errno;
}

/* --- Calls ------------------------------------------------------------------------ */

/* A contribution only shows that the operation uses a tree; its times are in the
 * operation's own tuple. */
static bool is_contribution(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && operation->op_class == ES_CLASS_CONTRIBUTE;
}

/* Returns false if the tuple is not part of an operation that can be analysed. */
static bool make_call(struct esi_collectives_scope *scope,
                      const struct es_tuple *tuple,
                      const struct es_mark *mark,
                      struct esi_collective_call *ret_call)
{
    uint32_t origin_index = mark->origin;
    const struct es_origin *origin = es_scope_origin(scope->scope, origin_index);
    const struct es_communicator_info *info;

    if (es_tuple_error(tuple) != 0)
        return false;
    /* The call that initializes a persistent operation has no number; each start has
     * one. */
    if (tuple->stop == 0 || tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        scope->unplaced++;
        return false;
    }
    info =
        esi_follower_communicator(scope->follower, origin_index, tuple->communicator);
    if (!info) {
        scope->unplaced++;
        return false;
    }
    if (info->remote_size > 0) {
        scope->between++;
        return false;
    }
    *ret_call = (struct esi_collective_call){
        .key = {info->key[0], info->key[1]},
        .communicator = info->name,
        .operation = tuple->operation,
        .instance = tuple->sequence,
        .size = info->size,
        .rank = info->rank,
        .world_rank = origin->rank,
        .root = tuple->peer < 0 ? -1 : tuple->peer,
        .bytes = es_tuple_bytes(tuple),
        .site = esi_sites_format(scope->sites, scope->scope, origin_index, mark->site),
    };
    convert_time(scope, tuple, origin_index, ret_call);
    if (is_contribution(tuple)) {
        ret_call->tree = true;
        ret_call->version = esi_tree_tag_version(tuple->tag);
    }
    return true;
}

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

/* Messages use the same clocks as operations, so that times within a host have no
 * error. */
static int tell_end(struct esi_collectives_scope *scope,
                    const struct es_tuple *tuple,
                    uint32_t origin_index)
{
    const struct es_origin *origin = es_scope_origin(scope->scope, origin_index);
    struct esi_collective_call times = {.clock = 0};
    struct esi_activity activity;

    esi_activity_read(scope->scope, origin_index, tuple, &activity);
    if (tuple->stop != 0) {
        convert_time(scope, tuple, origin_index, &times);
        activity.start_ns = times.enter_ns;
        activity.stop_ns = times.exit_ns;
        activity.error_ns = times.error_ns;
    }
    return scope->listener.on_end(scope->listener.data, &activity, origin->rank,
                                  origin->host);
}

/* Whether the tuple is part of an operation, or shows one. */
static bool is_call(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return !operation || operation->op_class == ES_CLASS_COLLECTIVE ||
           operation->op_class == ES_CLASS_CONTRIBUTE;
}

int esi_collectives_scope_add(struct esi_collectives_scope *scope,
                              struct esi_collectives *analysis)
{
    const struct es_batch *batch = scope->last;

    for (size_t i = 0; batch && i < batch->count; i++) {
        struct esi_collective_call call;
        int result;

        if (es_mark_is_summary(&batch->marks[i]))
            continue;
        if (scope->listener.on_end &&
            tell_end(scope, &batch->tuples[i], batch->marks[i].origin) < 0)
            return -ENOMEM;
        if (!is_call(&batch->tuples[i]) ||
            !make_call(scope, &batch->tuples[i], &batch->marks[i], &call))
            continue;
        if (call.exit_ns > scope->newest_ns)
            scope->newest_ns = call.exit_ns;
        result = call.tree ? esi_collectives_add_tree(analysis, &call)
                           : esi_collectives_add(analysis, &call);
        /* Refused calls are counted there. */
        if (result == -ENOMEM)
            return -ENOMEM;
    }
    /* While some elements have more data, others may be far ahead of them. */
    if (batch && !batch->more && scope->newest_ns - scope->settled_ns >= SETTLE_NS) {
        scope->settled_ns = scope->newest_ns;
        esi_collectives_expire(analysis, scope->newest_ns);
    }
    return 0;
}

/* --- Queries ---------------------------------------------------------------------- */

void esi_collectives_scope_losses(const struct esi_collectives_scope *scope,
                                  struct esi_collectives_losses *ret_losses)
{
    *ret_losses = (struct esi_collectives_losses){.unplaced = scope->unplaced,
                                                  .between = scope->between};
    esi_follower_losses(scope->follower, &ret_losses->lost, &ret_losses->missed);
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
