/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds causality from a live scope.
 *
 * A reading begins when new elements have joined, and is complete when each element has
 * given what it had then, or when a pull found nothing more; only then is the stream
 * settled.  A program that writes faster than we read is so read in complete readings,
 * too.
 */
#include "config.h"

#include "monitors/causality/causality_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/follow/run_end.h"
#include "tuplespace/new_elements.h"

/* A part that is silent holds up the stream for so long. */
#define SILENT_NS UINT64_C(10000000000)
/* Looking for new elements costs more than a pull. */
#define REFRESH_NS UINT64_C(100000000)
#define NO_ELEMENT UINT32_MAX

/* What is known of an origin. */
struct origin {
    uint32_t process;
    uint32_t element;  /* NO_ELEMENT = is not one of the program's */
    uint64_t position; /* next to be read */
    uint64_t goal;     /* what it had when the reading began */
};

/* Which communicators of a process have been told. */
struct told {
    bool *communicators;
    size_t count;
    bool dead;  /* when the reading began */
    bool ended; /* and causality knows */
};

/* The origins of one of the two scopes. */
struct origins {
    struct origin *items;
    size_t count;
};

struct es_causality_scope {
    struct es_run *run;         /* borrowed */
    struct es_servers *servers; /* borrowed; NULL = this host only */
    struct es_scope *scope;
    struct es_scope *open; /* for the operations under way */
    struct es_causality *causality;
    const struct es_batch *last; /* NULL = none yet */
    struct origins origins;
    struct origins open_origins;
    struct told *processes; /* by number */
    size_t process_count;
    bool reading;      /* one has begun and is not complete */
    bool knows_goals;  /* of the reading */
    uint64_t begun_ns; /* when the last one did */
};

/* --- Opening ---------------------------------------------------------------------- */

void es_causality_scope_config_init(struct es_causality_scope_config *config)
{
    *config = (struct es_causality_scope_config){.max = 0};
    es_selection_init(&config->view.selection);
}

static void set_up(const struct es_causality_scope_config *config,
                   struct es_scope_config *scope)
{
    es_scope_config_init(scope);
    scope->view = config->view;
    if (scope->view.selection.classes == 0)
        scope->view.selection.classes = ES_CLASSES_ALL;
    scope->take = config->skip_backlog ? ES_TAKE_NEW : ES_TAKE_EVERY;
    scope->lossless = config->lossless;
    scope->servers = config->servers;
    scope->counters = true;
    if (config->tree)
        scope->tree = *config->tree;
    if (config->max)
        scope->max = config->max;
    scope->name = "causality";
}

static int open_scopes(struct es_causality_scope *scope,
                       const struct es_causality_scope_config *config,
                       struct es_error *error)
{
    struct es_scope_config settings;
    int result;

    set_up(config, &settings);
    result = es_scope_open(scope->run, &settings, error, &scope->scope);
    if (result < 0)
        return result;
    settings.take = ES_TAKE_LATEST;
    settings.tree.reduce = NULL;
    settings.lossless = false;
    settings.counters = false;
    settings.open = true;
    settings.max = SIZE_MAX / 2;
    settings.name = NULL;
    return es_scope_open(scope->run, &settings, error, &scope->open);
}

static int join_all(struct es_causality_scope *scope,
                    const struct es_scope *from,
                    struct origins *origins);

int es_causality_scope_open(struct es_run *run,
                            const struct es_causality_scope_config *config,
                            struct es_error *error,
                            struct es_causality_scope **ret_scope)
{
    struct es_causality_scope *scope = calloc(1, sizeof *scope);
    int result;

    if (!scope)
        return -ENOMEM;
    scope->run = run;
    scope->servers = config->servers;
    result = es_causality_create(&config->causality, &scope->causality);
    if (result >= 0)
        result = open_scopes(scope, config, error);
    if (result >= 0)
        result = join_all(scope, scope->scope, &scope->origins);
    if (result < 0) {
        es_causality_scope_close(scope);
        return result;
    }
    *ret_scope = scope;
    return 0;
}

void es_causality_scope_close(struct es_causality_scope *scope)
{
    int saved_errno = errno;

    if (!scope)
        return;
    es_scope_close(scope->open);
    es_scope_close(scope->scope);
    es_causality_destroy(scope->causality);
    for (size_t i = 0; i < scope->process_count; i++)
        free(scope->processes[i].communicators);
    free(scope->processes);
    free(scope->origins.items);
    free(scope->open_origins.items);
    free(scope);
    errno = saved_errno;
}

/* --- Processes and elements ------------------------------------------------------- */

static int reserve_process(struct es_causality_scope *scope, uint32_t process)
{
    size_t count = scope->process_count ? scope->process_count : 16;
    struct told *more;

    if (process < scope->process_count)
        return 0;
    while (count <= process)
        count *= 2;
    more = realloc(scope->processes, count * sizeof *more);
    if (!more)
        return -ENOMEM;
    memset(more + scope->process_count, 0,
           (count - scope->process_count) * sizeof *more);
    scope->processes = more;
    scope->process_count = count;
    return 0;
}

/* Tells of an origin; what no program writes (trees, monitors) is left out. */
static int join(struct es_causality_scope *scope,
                const struct es_origin *origin,
                struct origin *ret)
{
    struct es_causal_process process = {
        .host = origin->host, .rank = origin->rank, .identity = (uint64_t)origin->pid};
    int result;

    *ret = (struct origin){.element = NO_ELEMENT};
    if (!(origin->classes & ES_CLASSES_ALL))
        return 0;
    result = es_causality_add_process(scope->causality, &process, &ret->process);
    if (result >= 0)
        result = reserve_process(scope, ret->process);
    if (result >= 0)
        result =
            es_causality_add_element(scope->causality, ret->process, origin->thread,
                                     origin->classes, &ret->element);
    return result;
}

/* Those that the scope has beyond what we know. */
static int join_all(struct es_causality_scope *scope,
                    const struct es_scope *from,
                    struct origins *origins)
{
    size_t count = es_scope_origin_count(from);
    struct origin *more;
    int result = 0;

    if (count == origins->count)
        return 0;
    more = realloc(origins->items, count * sizeof *more);
    if (!more)
        return -ENOMEM;
    origins->items = more;
    while (origins->count < count && result >= 0) {
        const struct es_origin *origin =
            es_scope_origin(from, (uint32_t)origins->count);
        struct origin *item = &more[origins->count];

        result = join(scope, origin, item);
        if (result >= 0)
            origins->count++;
        /* What the other scope skips is not lost. */
        if (result >= 0 && from == scope->scope && origin->missed > 0 &&
            item->element != NO_ELEMENT)
            result = es_causality_lose(scope->causality, item->element, origin->missed);
    }
    return result;
}

/* --- Communicators ---------------------------------------------------------------- */

/* World ranks of a group, as far as they are known; of those that do not matter here
 * only the first.  NULL without memory. */
static int32_t *ranks_of(const struct es_scope *from,
                         uint32_t origin,
                         uint16_t index,
                         const struct es_communicator_info *info,
                         bool remote)
{
    int size = remote ? info->remote_size : info->size;
    int32_t *ranks = malloc((size_t)(size > 0 ? size : 1) * sizeof *ranks);
    bool all = info->rank == 0;

    if (!ranks)
        return NULL;
    for (int i = 0; i < size; i++) {
        int rank = all ? es_scope_world_rank(from, origin, index, remote, i) : -1;

        ranks[i] = rank < 0 ? -1 : rank;
    }
    if (size > 0 && ranks[0] < 0)
        ranks[0] = remote ? info->remote_first : info->first;
    return ranks;
}

static int tell_communicator(struct es_causality_scope *scope,
                             const struct es_scope *from,
                             uint32_t origin,
                             uint32_t process,
                             uint16_t index)
{
    struct es_communicator_info info;
    struct es_causal_communicator told;
    int32_t *local, *remote;
    int result = -ENOMEM;

    if (es_scope_communicator(from, origin, index, &info) < 0)
        return 0;
    local = ranks_of(from, origin, index, &info, false);
    remote = ranks_of(from, origin, index, &info, true);
    told = (struct es_causal_communicator){.key = {info.key[0], info.key[1]},
                                           .name = info.name,
                                           .rank = info.rank,
                                           .size = info.size,
                                           .remote_size = info.remote_size,
                                           .world = local,
                                           .remote_world = remote};
    if (local && remote)
        result = es_causality_set_communicator(scope->causality, process, index, &told);
    free(local);
    free(remote);
    if (result == 0)
        scope->processes[process].communicators[index] = true;
    return result;
}

/* Asked for once: the entries of a table never change, but for their names. */
static int know_communicator(struct es_causality_scope *scope,
                             const struct es_scope *from,
                             uint32_t origin,
                             uint32_t process,
                             uint16_t index)
{
    struct told *told = &scope->processes[process];

    if (index == ES_COMMUNICATOR_NONE)
        return 0;
    if (index >= told->count) {
        size_t count = (size_t)index + 8;
        bool *more = realloc(told->communicators, count * sizeof *more);

        if (!more)
            return -ENOMEM;
        memset(more + told->count, 0, (count - told->count) * sizeof *more);
        told->communicators = more;
        told->count = count;
    }
    return told->communicators[index]
               ? 0
               : tell_communicator(scope, from, origin, process, index);
}

/* --- Tuples ----------------------------------------------------------------------- */

static int add(struct es_causality_scope *scope,
               const struct es_scope *from,
               const struct origins *origins,
               const struct es_tuple *tuple,
               uint32_t index)
{
    const struct origin *origin = &origins->items[index];
    const struct es_origin *of = es_scope_origin(from, index);
    struct es_causal_tuple told = {.tuple = *tuple};
    int result;

    if (origin->element == NO_ELEMENT)
        return 0;
    told.start_ns = es_origin_run_ns(of, tuple->start, NULL);
    if (tuple->stop != 0)
        told.stop_ns = es_origin_run_ns(of, tuple->stop, NULL);
    result =
        know_communicator(scope, from, index, origin->process, tuple->communicator);
    return result < 0 ? result
                      : es_causality_add(scope->causality, origin->element, &told);
}

/* Losses, and what there was when the reading began. */
static int take_reports(struct es_causality_scope *scope, const struct es_batch *batch)
{
    int result = 0;

    for (size_t i = 0; i < batch->report_count && result >= 0; i++) {
        const struct es_report *report = &batch->reports[i];
        struct origin *origin = &scope->origins.items[report->origin];

        if (!scope->knows_goals)
            origin->goal = report->head;
        if (report->lost > 0 && origin->element != NO_ELEMENT)
            result = es_causality_lose(scope->causality, origin->element, report->lost);
    }
    scope->knows_goals = true;
    return result;
}

static int take_batch(struct es_causality_scope *scope, const struct es_batch *batch)
{
    int result = take_reports(scope, batch);

    for (size_t i = 0; i < batch->count && result >= 0; i++) {
        const struct es_mark *mark = &batch->marks[i];

        if (es_mark_is_summary(mark) || es_batch_is_open(batch, i))
            continue;
        scope->origins.items[mark->origin].position = mark->position + 1;
        result =
            add(scope, scope->scope, &scope->origins, &batch->tuples[i], mark->origin);
    }
    return result;
}

/* --- Readings --------------------------------------------------------------------- */

/* Who is gone before the reading has, at its end, said all. */
static void note_the_dead(struct es_causality_scope *scope)
{
    for (uint32_t i = 0; i < scope->origins.count; i++) {
        const struct origin *origin = &scope->origins.items[i];
        struct told *process;
        struct es_segment_info info;

        if (origin->element == NO_ELEMENT)
            continue;
        process = &scope->processes[origin->process];
        if (!process->ended && es_scope_process(scope->scope, i, &info) == 0)
            process->dead = !info.alive;
    }
}

static int begin_reading(struct es_causality_scope *scope, bool now)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    if (scope->reading || (!now && !esi_run_has_new_elements(scope->run) &&
                           now_ns - scope->begun_ns < REFRESH_NS))
        return 0;
    scope->begun_ns = now_ns;
    scope->last = NULL;
    result = es_scope_refresh(scope->scope);
    if (result >= 0)
        result = join_all(scope, scope->scope, &scope->origins);
    if (result < 0)
        return result;
    note_the_dead(scope);
    scope->reading = true;
    scope->knows_goals = false;
    return 0;
}

/* Whether a part of the tree has just not delivered. */
static bool is_missing_a_part(const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->notice_count; i++)
        if (batch->notices[i].silent_ns < SILENT_NS)
            return true;
    return false;
}

static bool has_reached_goals(const struct es_causality_scope *scope)
{
    for (size_t i = 0; i < scope->origins.count; i++)
        if (scope->origins.items[i].position < scope->origins.items[i].goal)
            return false;
    return true;
}

static int end_reading(struct es_causality_scope *scope)
{
    for (size_t i = 0; i < scope->process_count; i++) {
        struct told *process = &scope->processes[i];

        if (process->dead && !process->ended) {
            process->ended = true;
            es_causality_end_process(scope->causality, (uint32_t)i);
        }
    }
    scope->reading = false;
    return es_causality_settle(scope->causality);
}

/* Whether some communicator has not come to be known here, as may be for a moment of
 * those on other hosts. */
static bool is_ahead(struct es_causality_scope *scope, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t index = batch->marks[i].origin;
        uint16_t communicator = batch->tuples[i].communicator;
        const struct origin *origin = &scope->origins.items[index];
        const struct told *told;
        struct es_communicator_info info;

        if (origin->element == NO_ELEMENT || communicator == ES_COMMUNICATOR_NONE ||
            es_scope_origin(scope->scope, index)->element)
            continue;
        told = &scope->processes[origin->process];
        if (communicator < told->count && told->communicators[communicator])
            continue;
        if (es_scope_communicator(scope->scope, index, communicator, &info) < 0)
            return true;
    }
    return false;
}

/* Pulls; what we do not know all about yet is pulled once more. */
static int pull(struct es_causality_scope *scope,
                bool drain,
                const struct es_batch **ret_batch)
{
    unsigned flags = drain ? ES_PULL_DRAIN : 0;
    int result = es_scope_pull(scope->scope, flags, ret_batch);

    if (result < 0 || !is_ahead(scope, *ret_batch))
        return result;
    result = es_scope_refresh(scope->scope);
    if (result >= 0)
        result = join_all(scope, scope->scope, &scope->origins);
    if (result >= 0)
        result = es_scope_pull(scope->scope, flags | ES_PULL_REPEAT, ret_batch);
    return result;
}

int es_causality_scope_read(struct es_causality_scope *scope, bool drain)
{
    const struct es_batch *batch;
    int result = begin_reading(scope, drain);

    if (result >= 0)
        result = pull(scope, drain, &batch);
    if (result < 0)
        return result;
    scope->last = batch;
    result = take_batch(scope, batch);
    if (result >= 0 && scope->reading && !is_missing_a_part(batch) &&
        (!batch->more || has_reached_goals(scope)))
        result = end_reading(scope);
    return result < 0 ? result : batch->more;
}

/* --- The end ---------------------------------------------------------------------- */

static int take_open(struct es_causality_scope *scope)
{
    const struct es_batch *batch;
    int result = es_scope_refresh(scope->open);

    if (result >= 0)
        result = join_all(scope, scope->open, &scope->open_origins);
    if (result >= 0)
        result = es_scope_pull(scope->open, 0, &batch);
    for (size_t i = 0; result >= 0 && i < batch->count; i++)
        if (es_batch_is_open(batch, i))
            result = add(scope, scope->open, &scope->open_origins, &batch->tuples[i],
                         batch->marks[i].origin);
    return result;
}

/* A program that lives writes on: what there was when the reading began is enough. */
static int read_rest(struct es_causality_scope *scope)
{
    int more;

    scope->reading = false;
    do
        more = es_causality_scope_read(scope, true);
    while (more > 0 && scope->reading);
    return more;
}

int es_causality_scope_finish(struct es_causality_scope *scope)
{
    int result = read_rest(scope);

    if (result >= 0)
        result = take_open(scope);
    if (result >= 0)
        result = es_causality_finish(scope->causality);
    return result < 0 ? result : 0;
}

/* --- What is known ---------------------------------------------------------------- */

const struct es_causality *es_causality_scope_causality(
    const struct es_causality_scope *scope)
{
    return scope->causality;
}

size_t es_causality_scope_notices(const struct es_causality_scope *scope,
                                  const struct es_notice **ret_notices)
{
    if (!scope->last)
        return 0;
    *ret_notices = scope->last->notices;
    return scope->last->notice_count;
}

bool es_causality_scope_is_over(const struct es_causality_scope *scope)
{
    return esi_run_is_over(scope->run, scope->scope, scope->servers);
}

bool es_causality_scope_has_vanished(const struct es_causality_scope *scope)
{
    return es_scope_has_vanished(scope->scope);
}

bool es_causality_scope_is_paced(const struct es_causality_scope *scope)
{
    return es_scope_is_paced(scope->scope);
}
