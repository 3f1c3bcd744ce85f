/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_scope.c - makes collective calls of tuples. */
#include "config.h"

#include "monitors/collectives/collectives_scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/follow/activity.h"
#include "monitors/advice/collectives_advice.h"
#include "monitors/follow/run_end.h"
#include "wrappers/stages/node_edges.h"

/* Elements that appear join within this time. */
#define REFRESH_NS UINT64_C(200000000)
/* How often the oldest instances are looked at. */
#define SETTLE_NS UINT64_C(500000000)

/* What is known of an origin's process. */
struct process {
    struct es_communicator_info *communicators; /* by index; size 0 = not asked for */
    size_t count;
    uint32_t clock; /* number of its host's clock; 0 = not asked for */
};

/* The counters of all processes of a host are one clock.  Each has calibrated it for
 * itself, so their records differ by what they say is their error.  Converted by one
 * record, the first that was seen, times of a host are in the order in which they were
 * read. */
struct host_clock {
    char host[64];
    struct es_clock clock;
};

struct es_collectives_scope {
    struct es_run *run;         /* borrowed */
    struct es_servers *servers; /* borrowed; NULL = this host only */
    struct es_scope *scope;
    struct es_collectives_advice *advice; /* borrowed; NULL = none is wanted */
    const struct es_batch *last;          /* batch of the scope; NULL = none yet */
    struct process *processes;            /* by origin */
    size_t origin_count;
    struct host_clock *clocks; /* by number, from 1 */
    size_t clock_count;
    uint64_t refreshed_ns;
    uint64_t newest_ns;  /* run time of the newest exit that was seen */
    uint64_t settled_ns; /* run time up to which the analysis was settled */
    uint64_t unplaced;
    uint64_t between;
};

void es_collectives_scope_config_init(struct es_scope_config *config)
{
    es_scope_config_init(config);
    config->view.selection.classes =
        1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_CONTRIBUTE;
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
        free(scope->processes[i].communicators);
    free(scope->processes);
    free(scope->clocks);
    free(scope);
    errno = saved_errno;
}

/* --- Processes -------------------------------------------------------------------- */

static int make_room(struct es_collectives_scope *scope, uint32_t origin)
{
    size_t count = es_scope_origin_count(scope->scope);
    struct process *more;

    if (origin < scope->origin_count)
        return 0;
    more = realloc(scope->processes, count * sizeof *more);
    if (!more)
        return -ENOMEM;
    memset(more + scope->origin_count, 0, (count - scope->origin_count) * sizeof *more);
    scope->processes = more;
    scope->origin_count = count;
    return 0;
}

static int make_room_for(struct process *process, uint16_t index)
{
    size_t count = (size_t)index + 8;
    struct es_communicator_info *more;

    if (index < process->count)
        return 0;
    more = realloc(process->communicators, count * sizeof *more);
    if (!more)
        return -ENOMEM;
    memset(more + process->count, 0, (count - process->count) * sizeof *more);
    process->communicators = more;
    process->count = count;
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

    if (index == ES_COMMUNICATOR_NONE || make_room(scope, origin) < 0 ||
        make_room_for(&scope->processes[origin], index) < 0)
        return NULL;
    info = &scope->processes[origin].communicators[index];
    if (info->size == 0 && es_scope_communicator(scope->scope, origin, index, info) < 0)
        memset(info, 0, sizeof *info);
    return info->size > 0 ? info : NULL;
}

/* --- Clocks ----------------------------------------------------------------------- */

/* The number of an origin's clock; 0 without memory. */
static uint32_t find_clock(struct es_collectives_scope *scope,
                           const struct es_origin *origin,
                           struct process *process)
{
    struct host_clock *more;

    if (process->clock != 0)
        return process->clock;
    for (size_t i = 0; i < scope->clock_count; i++)
        if (strcmp(scope->clocks[i].host, origin->host) == 0 &&
            scope->clocks[i].clock.kind == origin->clock->kind) {
            process->clock = (uint32_t)i + 1;
            return process->clock;
        }
    more = realloc(scope->clocks, (scope->clock_count + 1) * sizeof *more);
    if (!more)
        return 0;
    scope->clocks = more;
    more += scope->clock_count++;
    snprintf(more->host, sizeof more->host, "%s", origin->host);
    more->clock = *origin->clock;
    process->clock = (uint32_t)scope->clock_count;
    return process->clock;
}

/* Fills the times of a call. */
static void convert(struct es_collectives_scope *scope,
                    const struct es_tuple *tuple,
                    uint32_t origin_index,
                    struct es_collective_call *call)
{
    struct es_origin origin = *es_scope_origin(scope->scope, origin_index);
    uint64_t enter_error_ns = 0;
    uint64_t exit_error_ns = 0;

    call->clock = find_clock(scope, &origin, &scope->processes[origin_index]);
    if (call->clock != 0)
        origin.clock = &scope->clocks[call->clock - 1].clock;
    call->enter_ns = es_origin_run_ns(&origin, tuple->start, &enter_error_ns);
    call->exit_ns = es_origin_run_ns(&origin, tuple->stop, &exit_error_ns);
    call->error_ns = exit_error_ns > enter_error_ns ? exit_error_ns : enter_error_ns;
}

/* --- Calls ------------------------------------------------------------------------ */

/* What a rank brings into a tree says no more than that there is one: the operation's
 * own tuple has the times. */
static bool is_contribution(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && operation->op_class == ES_CLASS_CONTRIBUTE;
}

/* False: the tuple is no part of an operation that can be analysed. */
static bool make_call(struct es_collectives_scope *scope,
                      const struct es_tuple *tuple,
                      uint32_t origin_index,
                      struct es_collective_call *ret_call)
{
    const struct es_origin *origin = es_scope_origin(scope->scope, origin_index);
    const struct es_communicator_info *info;

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
    };
    convert(scope, tuple, origin_index, ret_call);
    if (is_contribution(tuple)) {
        ret_call->tree = true;
        ret_call->version = esi_tree_tag_version(tuple->tag);
    }
    return true;
}

/* Looking for new elements costs more than a pull: not in each of them. */
static int refresh(struct es_collectives_scope *scope, bool now)
{
    uint64_t now_ns = esi_now_ns(CLOCK_REALTIME);

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

void es_collectives_scope_set_advice(struct es_collectives_scope *scope,
                                     struct es_collectives_advice *advice)
{
    scope->advice = advice;
}

/* Messages are compared by the clocks that operations are, so that those within a host
 * have no error. */
static int tell_end(struct es_collectives_scope *scope,
                    const struct es_tuple *tuple,
                    uint32_t origin_index)
{
    const struct es_origin *origin = es_scope_origin(scope->scope, origin_index);
    struct es_collective_call times = {.clock = 0};
    struct es_activity activity;

    if (make_room(scope, origin_index) < 0)
        return -ENOMEM;
    esi_activity_read(scope->scope, origin_index, tuple, &activity);
    if (tuple->stop != 0) {
        convert(scope, tuple, origin_index, &times);
        activity.start_ns = times.enter_ns;
        activity.stop_ns = times.exit_ns;
        activity.error_ns = times.error_ns;
    }
    return es_collectives_advice_add_end(scope->advice, &activity, origin->rank,
                                         origin->host);
}

/* Whether it is a part of an operation, or tells of one. */
static bool is_call(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return !operation || operation->op_class == ES_CLASS_COLLECTIVE ||
           operation->op_class == ES_CLASS_CONTRIBUTE;
}

int es_collectives_scope_add(struct es_collectives_scope *scope,
                             struct es_collectives *analysis)
{
    const struct es_batch *batch = scope->last;

    for (size_t i = 0; batch && i < batch->count; i++) {
        struct es_collective_call call;
        int result;

        if (es_mark_is_summary(&batch->marks[i]))
            continue;
        if (scope->advice &&
            tell_end(scope, &batch->tuples[i], batch->marks[i].origin) < 0)
            return -ENOMEM;
        if (!is_call(&batch->tuples[i]) ||
            !make_call(scope, &batch->tuples[i], batch->marks[i].origin, &call))
            continue;
        if (call.exit_ns > scope->newest_ns)
            scope->newest_ns = call.exit_ns;
        result = call.tree ? es_collectives_add_tree(analysis, &call)
                           : es_collectives_add(analysis, &call);
        /* What it refuses it counts. */
        if (result == -ENOMEM)
            return -ENOMEM;
    }
    /* As long as some elements have more, others may be far ahead of them. */
    if (batch && !batch->more && scope->newest_ns - scope->settled_ns >= SETTLE_NS) {
        scope->settled_ns = scope->newest_ns;
        es_collectives_settle(analysis, scope->newest_ns);
    }
    return 0;
}

/* --- What is known ---------------------------------------------------------------- */

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
