/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_scope.c - makes collective calls of tuples. */
#include "config.h"

#include "monitors/collectives_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/run_end.h"

/* Elements that appear join within this time. */
#define REFRESH_NS UINT64_C(200000000)
/* How often the oldest instances are looked at. */
#define SETTLE_NS UINT64_C(500000000)

/* What is known of the communicators of an origin's process, by index. */
struct communicators {
    struct es_communicator_info *items; /* size 0 = not asked for yet */
    size_t count;
};

struct es_collectives_scope {
    struct es_run *run;         /* borrowed */
    struct es_servers *servers; /* borrowed; NULL = this host only */
    struct es_scope *scope;
    const struct es_batch *last;         /* batch of the scope; NULL = none yet */
    struct communicators *communicators; /* by origin */
    size_t origin_count;
    uint64_t refreshed_ns;
    uint64_t newest_ns;  /* run time of the newest exit that was seen */
    uint64_t settled_ns; /* run time up to which the analysis was settled */
    uint64_t unplaced;
    uint64_t between;
};

void es_collectives_scope_config_init(struct es_scope_config *config)
{
    es_scope_config_init(config);
    config->view.selection.classes = 1u << ES_CLASS_COLLECTIVE;
    config->take = ES_TAKE_EVERY;
    config->name = "collectives";
}

int es_collectives_scope_open(struct es_run *run,
                              const struct es_scope_config *config,
                              struct es_error *error,
                              struct es_collectives_scope **ret_scope)
{
    struct es_collectives_scope *scope = calloc(1, sizeof *scope);
    int result;

    if (!scope)
        return -ENOMEM;
    scope->run = run;
    scope->servers = config->servers;
    result = es_scope_open(run, config, error, &scope->scope);
    if (result < 0) {
        free(scope);
        return result;
    }
    *ret_scope = scope;
    return 0;
}

void es_collectives_scope_close(struct es_collectives_scope *scope)
{
    int saved_errno = errno;

    if (!scope)
        return;
    es_scope_close(scope->scope);
    for (size_t i = 0; i < scope->origin_count; i++)
        free(scope->communicators[i].items);
    free(scope->communicators);
    free(scope);
    errno = saved_errno;
}

/* --- Communicators -----------------------------------------------------------------
 */

static int make_room(struct es_collectives_scope *scope,
                     uint32_t origin,
                     uint16_t index)
{
    if (origin >= scope->origin_count) {
        size_t count = es_scope_origin_count(scope->scope);
        struct communicators *more =
            realloc(scope->communicators, count * sizeof *more);

        if (!more)
            return -ENOMEM;
        memset(more + scope->origin_count, 0,
               (count - scope->origin_count) * sizeof *more);
        scope->communicators = more;
        scope->origin_count = count;
    }
    struct communicators *known = &scope->communicators[origin];

    if (index >= known->count) {
        size_t count = (size_t)index + 8;
        struct es_communicator_info *more = realloc(known->items, count * sizeof *more);

        if (!more)
            return -ENOMEM;
        memset(more + known->count, 0, (count - known->count) * sizeof *more);
        known->items = more;
        known->count = count;
    }
    return 0;
}

/* Asked for once: the entries of a table never change, but for their names.  NULL: not
 * known. */
static const struct es_communicator_info *find_communicator(
    struct es_collectives_scope *scope,
    uint32_t origin,
    uint16_t index)
{
    struct es_communicator_info *info;

    if (index == ES_COMMUNICATOR_NONE || make_room(scope, origin, index) < 0)
        return NULL;
    info = &scope->communicators[origin].items[index];
    if (info->size == 0 && es_scope_communicator(scope->scope, origin, index, info) < 0)
        memset(info, 0, sizeof *info);
    return info->size > 0 ? info : NULL;
}

/* --- Calls -------------------------------------------------------------------------
 */

/* False: the tuple is no part of an operation that can be analysed. */
static bool make_call(struct es_collectives_scope *scope,
                      const struct es_tuple *tuple,
                      uint32_t origin_index,
                      struct es_collective_call *ret_call)
{
    const struct es_origin *origin = es_scope_origin(scope->scope, origin_index);
    const struct es_communicator_info *info;
    uint64_t enter_error_ns = 0;
    uint64_t exit_error_ns = 0;

    /* What initializes a persistent operation has no number: each start has. */
    if (tuple->stop == 0 || tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        scope->unplaced++;
        return false;
    }
    info = find_communicator(scope, origin_index, tuple->communicator);
    if (!info) {
        scope->unplaced++;
        return false;
    }
    if (info->remote_size > 0) {
        scope->between++;
        return false;
    }
    *ret_call = (struct es_collective_call){
        .key = {info->key[0], info->key[1]},
        .communicator = info->name,
        .operation = tuple->operation,
        .instance = tuple->sequence,
        .size = info->size,
        .rank = info->rank,
        .world_rank = origin->rank,
        .root = tuple->peer < 0 ? -1 : tuple->peer,
        .bytes = tuple->bytes,
        .enter_ns = es_origin_run_ns(origin, tuple->start, &enter_error_ns),
        .exit_ns = es_origin_run_ns(origin, tuple->stop, &exit_error_ns),
    };
    ret_call->error_ns =
        exit_error_ns > enter_error_ns ? exit_error_ns : enter_error_ns;
    return true;
}

/* Looking for new elements costs more than a pull: not in each of them. */
static int refresh(struct es_collectives_scope *scope, bool now)
{
    uint64_t now_ns = es_now_ns(CLOCK_REALTIME);

    if (!now && now_ns - scope->refreshed_ns < REFRESH_NS)
        return 0;
    scope->refreshed_ns = now_ns;
    return es_scope_refresh(scope->scope);
}

int es_collectives_scope_pull(struct es_collectives_scope *scope, bool drain)
{
    const struct es_batch *batch;
    int result = refresh(scope, drain);

    scope->last = NULL;
    if (result >= 0)
        result = es_scope_pull(scope->scope, drain ? ES_PULL_DRAIN : 0, &batch);
    if (result < 0)
        return result;
    scope->last = batch;
    return batch->more;
}

int es_collectives_scope_add(struct es_collectives_scope *scope,
                             struct es_collectives *analysis)
{
    const struct es_batch *batch = scope->last;

    for (size_t i = 0; batch && i < batch->count; i++) {
        struct es_collective_call call;

        if (es_mark_is_summary(&batch->marks[i]) ||
            !make_call(scope, &batch->tuples[i], batch->marks[i].origin, &call))
            continue;
        if (call.exit_ns > scope->newest_ns)
            scope->newest_ns = call.exit_ns;
        /* What it refuses it counts. */
        if (es_collectives_add(analysis, &call) == -ENOMEM)
            return -ENOMEM;
    }
    /* As long as some elements have more, others may be far ahead of them. */
    if (batch && !batch->more && scope->newest_ns - scope->settled_ns >= SETTLE_NS) {
        scope->settled_ns = scope->newest_ns;
        es_collectives_settle(analysis, scope->newest_ns);
    }
    return 0;
}

/* --- What is known -----------------------------------------------------------------
 */

void es_collectives_scope_losses(const struct es_collectives_scope *scope,
                                 struct es_collectives_losses *ret_losses)
{
    struct es_scope_cost cost;

    es_scope_cost(scope->scope, &cost);
    *ret_losses = (struct es_collectives_losses){
        .lost = cost.lost, .unplaced = scope->unplaced, .between = scope->between};
    for (uint32_t i = 0; i < es_scope_origin_count(scope->scope); i++)
        ret_losses->missed += es_scope_origin(scope->scope, i)->missed;
}

const char *es_collectives_scope_host(const struct es_collectives_scope *scope,
                                      int world_rank)
{
    for (uint32_t i = 0; i < es_scope_origin_count(scope->scope); i++) {
        const struct es_origin *origin = es_scope_origin(scope->scope, i);

        if (origin->rank == world_rank && world_rank >= 0)
            return origin->host;
    }
    return NULL;
}

int es_collectives_scope_ranks(const struct es_collectives_scope *scope)
{
    int most = -1;

    for (uint32_t i = 0; i < es_scope_origin_count(scope->scope); i++)
        if (es_scope_origin(scope->scope, i)->rank > most)
            most = es_scope_origin(scope->scope, i)->rank;
    return most + 1;
}

size_t es_collectives_scope_notices(const struct es_collectives_scope *scope,
                                    const struct es_notice **ret_notices)
{
    if (!scope->last)
        return 0;
    *ret_notices = scope->last->notices;
    return scope->last->notice_count;
}

bool es_collectives_scope_is_over(const struct es_collectives_scope *scope)
{
    return esi_run_is_over(scope->run, scope->scope, scope->servers);
}

bool es_collectives_scope_has_vanished(const struct es_collectives_scope *scope)
{
    return es_scope_has_vanished(scope->scope);
}

bool es_collectives_scope_is_paced(const struct es_collectives_scope *scope)
{
    return es_scope_is_paced(scope->scope);
}

uint64_t es_collectives_scope_start_ns(const struct es_collectives_scope *scope)
{
    return esi_run_start_ns(scope->run, scope->scope);
}
