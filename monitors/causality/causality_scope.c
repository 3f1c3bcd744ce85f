/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Passes the tuples of a live scope to causality.
 *
 * A reading begins when new elements have joined.  It is complete when each element has
 * returned everything that it had at the beginning, or when a pull returned nothing;
 * only then are events settled.  So there are complete readings even if a program
 * writes faster than the scope reads.
 */
#include "config.h"

#include "monitors/causality/causality_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/run/run_follow.h"
#include "monitors/sites/sites.h"

/* Time for which a silent part of the tree holds up the stream. */
#define SILENT_NS UINT64_C(10000000000)
/* Maximum time until a new element joins. */
#define REFRESH_NS UINT64_C(100000000)
/* Minimum time between two looks at the operations under way. */
#define OPEN_NS UINT64_C(200000000)
#define NO_ELEMENT UINT32_MAX

/* State of an origin. */
struct origin {
    struct esi_run_process *process;
    uint32_t element;  /* NO_ELEMENT = does not belong to the program */
    uint64_t position; /* next position to read */
    uint64_t goal;     /* its end when the reading began */
};

/* State of a process. */
struct process_end {
    uint64_t reading; /* last reading in which it was examined */
    bool dead;        /* at the beginning of that reading */
};

struct esi_causality_scope {
    struct esi_follower *follower;
    struct es_scope *scope; /* belongs to the follower */
    struct esi_causality *causality;
    struct esi_run_model *run; /* belongs to causality */
    struct esi_causal_listener listener;
    uint64_t looked_ns;      /* time of the last look at operations under way, by
                                CLOCK_MONOTONIC */
    struct esi_sites *sites; /* owned */
    struct origin *origins;  /* by number */
    size_t origin_count;
    size_t origin_capacity;
    struct process_end *processes; /* by number */
    size_t process_count;
    size_t process_capacity;
    uint64_t readings;    /* number of readings begun */
    uint64_t begun_ns;    /* run time at which the last one began */
    uint64_t complete_ns; /* and at which the last complete one began */
    bool reading;         /* a reading has begun and is not complete */
    bool knows_goals;     /* the goals of this reading are known */
};

/* --- Processes and elements ------------------------------------------------------- */

static int reserve_process(struct esi_causality_scope *scope, uint32_t process)
{
    if (ESI_ARRAY_RESERVE(scope->processes, scope->process_capacity,
                          (size_t)process + 1) < 0)
        return -ENOMEM;
    while (scope->process_count <= process)
        scope->processes[scope->process_count++] = (struct process_end){.dead = false};
    return 0;
}

/* Adds an origin, unless it belongs to trees or monitors instead of the program. */
static int join_origins(struct esi_causality_scope *scope,
                        const struct es_origin *from,
                        struct origin *origin)
{
    struct esi_run_process *process;
    int result;

    if (!(from->classes & ES_CLASSES_ALL))
        return 0;
    result = esi_run_follow_process(scope->run, from, &process);
    if (result < 0)
        return result;
    origin->process = process;
    result = reserve_process(scope, process->number);
    if (result >= 0)
        result = esi_causality_add_element(scope->causality, process, from->thread,
                                           &origin->element);
    return result;
}

static int take_origin(void *data, uint32_t number, const struct es_origin *from)
{
    struct esi_causality_scope *scope = data;
    struct origin *origin;
    int result;

    if (ESI_ARRAY_RESERVE(scope->origins, scope->origin_capacity, (size_t)number + 1) <
        0)
        return -ENOMEM;
    origin = &scope->origins[number];
    *origin = (struct origin){.element = NO_ELEMENT};
    result = join_origins(scope, from, origin);
    if (result < 0)
        return result;
    scope->origin_count = (size_t)number + 1;
    if (from->missed > 0 && origin->element != NO_ELEMENT)
        esi_causality_lose(scope->causality, origin->element, from->missed, 0);
    return 0;
}

static bool is_told(const struct esi_run_process *process, uint16_t index)
{
    return index == ES_COMMUNICATOR_NONE || esi_run_member(process, index);
}

/* --- Tuples ----------------------------------------------------------------------- */

/* Tells up to when an operation under way has lasted. */
static void describe_open(const struct esi_causality_scope *scope,
                          uint32_t number,
                          struct esi_causal_tuple *told)
{
    uint64_t now_ns = es_scope_run_now_ns(scope->scope);
    struct es_segment_info info;

    if (es_scope_process(scope->scope, number, &info) < 0)
        return;
    told->may_last = info.alive;
    told->until_ns =
        info.alive || info.ended_realtime_ns > now_ns ? now_ns : info.ended_realtime_ns;
}

/* Fills in the description of a tuple and adds its communicator. */
static int describe_tuple(struct esi_causality_scope *scope,
                          uint32_t number,
                          const struct es_tuple *tuple,
                          uint64_t site,
                          struct esi_causal_tuple *ret_told)
{
    const struct origin *origin = &scope->origins[number];
    const struct es_origin *from = es_scope_origin(scope->scope, number);

    *ret_told = (struct esi_causal_tuple){.tuple = *tuple};
    ret_told->start_ns = es_origin_run_ns(from, tuple->start, &ret_told->error_ns);
    ret_told->site = esi_sites_format(scope->sites, scope->scope, number, site);
    if (tuple->stop != 0)
        ret_told->stop_ns = es_origin_run_ns(from, tuple->stop, NULL);
    else
        describe_open(scope, number, ret_told);
    if (is_told(origin->process, tuple->communicator))
        return 0;
    return esi_run_follow_communicator(scope->run, scope->follower, number,
                                       origin->process, tuple->communicator, false);
}

/* Handles a tuple that was read, or an operation under way that is only for the
 * listener. */
static int take_tuple(struct esi_causality_scope *scope,
                      uint32_t number,
                      const struct es_tuple *tuple,
                      uint64_t site,
                      bool only_seen)
{
    uint32_t element = scope->origins[number].element;
    struct esi_causal_tuple told;
    int result;

    if (element == NO_ELEMENT)
        return 0;
    result = describe_tuple(scope, number, tuple, site, &told);
    if (result < 0)
        return result;
    return only_seen ? esi_causality_report_open(scope->causality, element, &told)
                     : esi_causality_add(scope->causality, element, &told);
}

static int add_tuple(void *data,
                     uint32_t number,
                     const struct es_tuple *tuple,
                     uint64_t site)
{
    return take_tuple(data, number, tuple, site, false);
}

static int report_open(void *data,
                       uint32_t number,
                       const struct es_tuple *tuple,
                       uint64_t site)
{
    return take_tuple(data, number, tuple, site, true);
}

/* Handles losses, and the positions at the beginning of the reading. */
static void take_reports(struct esi_causality_scope *scope,
                         const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->report_count; i++) {
        const struct es_report *report = &batch->reports[i];
        struct origin *origin = &scope->origins[report->origin];

        if (!scope->knows_goals)
            origin->goal = report->head;
        if (report->lost > 0 && origin->element != NO_ELEMENT)
            esi_causality_lose(scope->causality, origin->element, report->lost,
                               scope->complete_ns);
    }
    scope->knows_goals = true;
}

static int take_batch(struct esi_causality_scope *scope, const struct es_batch *batch)
{
    int result = 0;

    take_reports(scope, batch);
    for (size_t i = 0; i < batch->count && result >= 0; i++) {
        const struct es_mark *mark = &batch->marks[i];

        if (es_mark_is_summary(mark) || es_batch_is_open(batch, i))
            continue;
        scope->origins[mark->origin].position = mark->position + 1;
        result = add_tuple(scope, mark->origin, &batch->tuples[i], mark->site);
    }
    return result;
}

/* --- Readings --------------------------------------------------------------------- */

/* Records which processes had ended before the reading: at its end, they have been read
 * completely.  Each process is examined once, although it has several elements, because
 * the check is expensive. */
static void note_the_dead(struct esi_causality_scope *scope)
{
    scope->readings++;
    for (uint32_t i = 0; i < scope->origin_count; i++) {
        const struct origin *origin = &scope->origins[i];
        struct process_end *process;
        struct es_segment_info info;

        if (origin->element == NO_ELEMENT)
            continue;
        process = &scope->processes[origin->process->number];
        if (origin->process->ended || process->reading == scope->readings)
            continue;
        if (es_scope_process(scope->scope, i, &info) == 0) {
            process->reading = scope->readings;
            process->dead = !info.alive;
        }
    }
}

static int begin_reading(struct esi_causality_scope *scope, bool now)
{
    int result = scope->reading ? 0 : esi_follower_refresh(scope->follower, now);

    if (result <= 0)
        return result;
    note_the_dead(scope);
    scope->reading = true;
    scope->begun_ns = es_scope_run_now_ns(scope->scope);
    scope->knows_goals = false;
    return 0;
}

/* Returns whether a part of the tree did not deliver in this pull. */
static bool is_missing_a_part(const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->notice_count; i++)
        if (batch->notices[i].silent_ns < SILENT_NS)
            return true;
    return false;
}

static bool has_reached_goals(const struct esi_causality_scope *scope)
{
    for (size_t i = 0; i < scope->origin_count; i++)
        if (scope->origins[i].position < scope->origins[i].goal)
            return false;
    return true;
}

static int end_reading(struct esi_causality_scope *scope)
{
    for (size_t i = 0; i < scope->process_count; i++)
        if (scope->processes[i].dead)
            scope->run->processes[i]->ended = true;
    scope->reading = false;
    scope->complete_ns = scope->begun_ns;
    return esi_causality_advance(scope->causality);
}

/* Shows the listener the operations under way if it is time. */
static int look_at_open(struct esi_causality_scope *scope)
{
    const struct esi_causal_listener *listener = &scope->listener;
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    if (!listener->open || now_ns - scope->looked_ns < OPEN_NS)
        return 0;
    scope->looked_ns = now_ns;
    result = listener->open(listener->data, 0, NULL);
    return result < 0
               ? result
               : esi_follower_read_open(scope->follower, report_open, NULL, scope);
}

/* Returns whether a communicator in the batch is not known here yet; this can happen
 * briefly for communicators on other hosts. */
static bool is_ahead(struct esi_causality_scope *scope, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t number = batch->marks[i].origin;
        uint16_t communicator = batch->tuples[i].communicator;
        const struct origin *origin = &scope->origins[number];

        if (origin->element == NO_ELEMENT ||
            es_scope_origin(scope->scope, number)->element ||
            is_told(origin->process, communicator))
            continue;
        if (!esi_follower_communicator(scope->follower, number, communicator))
            return true;
    }
    return false;
}

/* Pulls; if something in the batch is not known yet, refreshes and repeats the pull. */
static int pull_scope(struct esi_causality_scope *scope,
                      bool drain,
                      const struct es_batch **ret_batch)
{
    unsigned flags = drain ? ES_PULL_DRAIN : 0;
    int result = esi_follower_pull(scope->follower, flags, ret_batch);

    if (result < 0 || !is_ahead(scope, *ret_batch))
        return result;
    result = esi_follower_refresh(scope->follower, true);
    return result < 0
               ? result
               : esi_follower_pull(scope->follower, flags | ES_PULL_REPEAT, ret_batch);
}

int esi_causality_scope_read(struct esi_causality_scope *scope, bool drain)
{
    const struct es_batch *batch;
    int result = begin_reading(scope, drain);
    int more = result < 0 ? result : pull_scope(scope, drain, &batch);

    if (more < 0)
        return more;
    result = take_batch(scope, batch);
    if (result >= 0 && scope->reading && !is_missing_a_part(batch) &&
        (!more || has_reached_goals(scope)))
        result = end_reading(scope);
    if (result >= 0)
        result = look_at_open(scope);
    return result < 0 ? result : more;
}

/* --- Opening ---------------------------------------------------------------------- */

void esi_causality_scope_config_init(struct esi_causality_scope_config *config)
{
    *config = (struct esi_causality_scope_config){.causality = {.held_max = 0}};
    es_scope_config_init(&config->scope);
}

static int open_follower(struct esi_causality_scope *scope,
                         struct es_run *run,
                         const struct esi_causality_scope_config *config,
                         struct es_error *error)
{
    struct esi_follower_config follower = {.run = run,
                                           .refresh_ns = REFRESH_NS,
                                           .on_origin = take_origin,
                                           .data = scope,
                                           .scope = config->scope};
    struct es_selection *selection = &follower.scope.view.selection;
    int result;

    if (selection->classes == 0)
        selection->classes = ES_CLASSES_ALL;
    follower.scope.counters = true;
    follower.scope.sites = true;
    follower.scope.name = "causality";
    result = esi_sites_create(&scope->sites);
    if (result == 0)
        result = esi_follower_open(&follower, error, &scope->follower);
    if (result == 0)
        scope->scope = esi_follower_scope(scope->follower);
    return result;
}

int esi_causality_scope_open(struct es_run *run,
                             const struct esi_causality_scope_config *config,
                             struct es_error *error,
                             struct esi_causality_scope **ret_scope)
{
    struct esi_causality_scope *scope = calloc(1, sizeof *scope);
    int result;

    if (!scope)
        return -ENOMEM;
    scope->listener = config->causality.listener;
    result = esi_causality_create(&config->causality, &scope->causality);
    if (result >= 0) {
        scope->run = esi_causality_run(scope->causality);
        result = open_follower(scope, run, config, error);
    }
    if (result >= 0)
        result = begin_reading(scope, true);
    if (result < 0) {
        esi_causality_scope_close(scope);
        return result;
    }
    *ret_scope = scope;
    return 0;
}

void esi_causality_scope_close(struct esi_causality_scope *scope)
{
    int saved_errno = errno;

    if (!scope)
        return;
    esi_follower_close(scope->follower);
    esi_causality_destroy(scope->causality);
    esi_sites_destroy(scope->sites);
    free(scope->processes);
    free(scope->origins);
    free(scope);
    errno = saved_errno;
}

/* --- Ending ----------------------------------------------------------------------- */

/* A live program keeps writing: reading up to the positions at the beginning of the
 * reading is sufficient. */
static int read_rest(struct esi_causality_scope *scope)
{
    int more;

    scope->reading = false;
    do
        more = esi_causality_scope_read(scope, true);
    while (more > 0 && scope->reading);
    return more;
}

int esi_causality_scope_finish(struct esi_causality_scope *scope)
{
    const struct esi_causal_listener *listener = &scope->listener;
    int result = read_rest(scope);

    if (result >= 0 && listener->open) /* they become events */
        result = listener->open(listener->data, 0, NULL);
    if (result >= 0)
        result = esi_follower_read_open(scope->follower, add_tuple, NULL, scope);
    if (result >= 0)
        result = esi_causality_finish(scope->causality);
    return result < 0 ? result : 0;
}

/* --- Access ----------------------------------------------------------------------- */

const struct esi_causality *esi_causality_scope_causality(
    const struct esi_causality_scope *scope)
{
    return scope->causality;
}

const struct esi_follower *esi_causality_scope_follower(
    const struct esi_causality_scope *scope)
{
    return scope->follower;
}
