/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* observe.c - pulls the threads' latest events and keeps their history. */
#include "config.h"

#include "monitors/verdict/observe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lower_bound.h"
#include "eventspace/operation.h"
#include "monitors/follow/activity.h"
#include "monitors/sites/sites.h"
#include "monitors/follow/follower.h"
#include "monitors/verdict/facts_scope.h"
#include "scopes/origin_process.h"
#include "scopes/scope_started.h"
#include "tuplespace/started.h"

#define NO_THREAD SIZE_MAX

struct esi_observer {
    struct es_run *run; /* borrowed */
    struct esi_observer_config config;
    struct esi_follower *follower;
    struct es_scope *scope;           /* the follower's */
    struct esi_follower *collectives; /* opened at the first long wait */
    uint32_t classes;                 /* the classes that it reads */
    struct esi_sites *sites;          /* owned */

    struct esi_thread_state *threads; /* owned; by process, thread */
    struct esi_thread_state *before;  /* their states at the last pull */
    size_t thread_count;
    size_t thread_capacity;
    size_t *thread_of; /* per origin of the scope, or NO_THREAD; owned */
    size_t origin_count;
    size_t origin_capacity;

    struct esi_fact_reader *reader;
    struct esi_facts *facts; /* the reader's */
    struct esi_fact_entries entered;
    struct esi_verdict_memory memory;
    struct esi_diagnosis diagnosis;
    uint64_t pulls;
};

void esi_observer_destroy(struct esi_observer *observer)
{
    int saved_errno = errno;

    if (!observer)
        return;
    esi_diagnosis_fini(&observer->diagnosis);
    esi_verdict_memory_fini(&observer->memory);
    esi_fact_reader_destroy(observer->reader);
    esi_fact_entries_fini(&observer->entered);
    free(observer->threads);
    free(observer->before);
    free(observer->thread_of);
    esi_follower_close(observer->collectives);
    esi_follower_close(observer->follower);
    esi_sites_destroy(observer->sites);
    free(observer);
    errno = saved_errno;
}

/* --- Threads ----------------------------------------------------------------- */

static int compare_threads(const struct esi_thread_state *a,
                           const struct esi_thread_state *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->birth != b->birth)
        return a->birth < b->birth ? -1 : 1;
    if (strcmp(a->host, b->host) != 0)
        return strcmp(a->host, b->host);
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static struct esi_thread_state thread_of_origin(uint32_t number,
                                                const struct es_origin *origin)
{
    return (struct esi_thread_state){.host = origin->host,
                                     .pid = origin->pid,
                                     .birth = esi_origin_birth(origin),
                                     .rank = origin->rank,
                                     .thread = origin->thread,
                                     .origin = number,
                                     .before_mpi =
                                         origin->classes == ES_CLASSES_STARTED};
}

static bool is_thread_before(const void *item, const void *sought)
{
    return compare_threads(item, sought) < 0;
}

/* First index whose thread is not before `thread`. */
static size_t find_thread(const struct esi_observer *observer,
                          const struct esi_thread_state *thread,
                          bool *ret_is_this)
{
    size_t place = esi_lower_bound(observer->threads, observer->thread_count,
                                   sizeof *observer->threads, is_thread_before, thread);

    *ret_is_this = place < observer->thread_count &&
                   compare_threads(&observer->threads[place], thread) == 0;
    return place;
}

/* Removes the thread of a process that is no rank, because a child of it is, or whose
 * calls cannot be seen. */
static void remove_thread(struct esi_observer *observer, size_t place)
{
    size_t behind = --observer->thread_count - place;

    esi_diagnosis_fini(&observer->diagnosis); /* it refers to the old threads */
    memmove(observer->threads + place, observer->threads + place + 1,
            behind * sizeof *observer->threads);
    memmove(observer->before + place, observer->before + place + 1,
            behind * sizeof *observer->before);
    for (size_t i = 0; i < observer->origin_count; i++)
        if (observer->thread_of[i] == place)
            observer->thread_of[i] = NO_THREAD;
        else if (observer->thread_of[i] != NO_THREAD && observer->thread_of[i] > place)
            observer->thread_of[i]--;
}

/* Adds the thread of a joined origin, if it is new. */
static int take_origin(void *data, uint32_t number, const struct es_origin *origin)
{
    struct esi_observer *observer = data;
    struct esi_thread_state thread = thread_of_origin(number, origin);
    bool is_known;
    size_t place = find_thread(observer, &thread, &is_known);

    if (is_known) {
        observer->threads[place].before_mpi &= thread.before_mpi;
        return 0;
    }
    if (ESI_ARRAY_RESERVE_PAIR(observer->threads, observer->before,
                               observer->thread_capacity,
                               observer->thread_count + 1) < 0)
        return -ENOMEM;
    esi_diagnosis_fini(&observer->diagnosis); /* it refers to the old threads */
    memmove(observer->threads + place + 1, observer->threads + place,
            (observer->thread_count - place) * sizeof *observer->threads);
    observer->threads[place] = thread;
    observer->thread_count++;
    return 0;
}

/* Maps origins to threads, if some have joined. */
static int index_origins(struct esi_observer *observer)
{
    size_t count = es_scope_origin_count(observer->scope);

    if (count == observer->origin_count)
        return 0;
    if (ESI_ARRAY_RESERVE(observer->thread_of, observer->origin_capacity, count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct esi_thread_state thread =
            thread_of_origin(i, es_scope_origin(observer->scope, i));
        bool is_known;
        size_t place = find_thread(observer, &thread, &is_known);

        observer->thread_of[i] = is_known ? place : NO_THREAD;
    }
    observer->origin_count = count;
    return 0;
}

int esi_observer_create(struct es_run *run,
                        const struct esi_observer_config *config,
                        struct es_error *error,
                        struct esi_observer **ret_observer)
{
    struct esi_observer *observer = calloc(1, sizeof *observer);
    struct esi_follower_config follower = {
        .run = run, .on_origin = take_origin, .data = observer};
    struct es_scope_config *scope = &follower.scope;
    int result;

    if (!observer)
        return -ENOMEM;
    observer->run = run;
    observer->config = *config;
    es_scope_config_init(scope);
    scope->take = ES_TAKE_LATEST_OF_THREAD;
    scope->open = true;
    scope->counters = true;
    scope->sites = true;
    /* One entry per thread: a limit would hide some. */
    scope->max = SIZE_MAX / 2;
    scope->servers = config->servers;
    if (config->tree)
        scope->tree = *config->tree;
    scope->view.selection.classes = ES_CLASSES_ALL | ES_CLASSES_STARTED;
    scope->name = "heartbeat";
    result = esi_sites_create(&observer->sites);
    if (result == 0)
        result = esi_follower_open(&follower, error, &observer->follower);
    if (result == 0)
        result = esi_fact_reader_create(observer->follower, run, observer->sites,
                                        &observer->reader);
    if (result < 0) {
        esi_observer_destroy(observer);
        return result;
    }
    observer->scope = esi_follower_scope(observer->follower);
    *ret_observer = observer;
    return 0;
}

/* --- One pull ---------------------------------------------------------------- */

/* Saves the states of the last pull and clears those that this one will fill. */
static void turn_over(struct esi_observer *observer)
{
    if (observer->thread_count == 0)
        return;
    memcpy(observer->before, observer->threads,
           observer->thread_count * sizeof *observer->threads);
    for (size_t i = 0; i < observer->thread_count; i++) {
        struct esi_thread_state *thread = &observer->threads[i];

        thread->events = 0;
        thread->polls = 0;
        thread->elements = 0;
        thread->elements_off = 0;
        thread->last.present = false;
        thread->open.present = false;
    }
}

/* Whether threads that seem not to have called MPI call it unseen. */
static bool misses_calls(const struct esi_observer *observer)
{
    bool has_early = false;

    for (size_t i = 0; i < observer->thread_count; i++)
        has_early |= observer->threads[i].before_mpi;
    return has_early && esi_scope_has_left_init(observer->scope);
}

/* Returns false if the process is no rank, or its calls cannot be seen. */
static bool read_process(struct esi_observer *observer, size_t index, bool is_missed)
{
    struct esi_thread_state *thread = &observer->threads[index];
    uint32_t origin = thread->origin;
    const struct es_element_view *element =
        es_scope_origin(observer->scope, origin)->element;
    struct es_segment_info info;

    if (es_scope_process(observer->scope, origin, &info) < 0)
        return true;
    if (thread->before_mpi && info.rank < 0)
        return false;
    /* Its calls may all be of kinds that are not collected. */
    if (element)
        thread->before_mpi &=
            esi_segment_view_is_before_mpi(es_element_view_segment(element));
    if (thread->before_mpi && is_missed)
        return false;
    thread->process = info.state;
    thread->signal = info.signal;
    thread->exit_code = info.exit_code;
    thread->ended_ns = info.ended_realtime_ns;
    return true;
}

static void read_batch(struct esi_observer *observer, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->report_count; i++) {
        const struct es_report *report = &batch->reports[i];
        size_t place = observer->thread_of[report->origin];

        /* A process that has not called MPI has no element that records it. */
        if (place == NO_THREAD ||
            es_scope_origin(observer->scope, report->origin)->classes ==
                ES_CLASSES_STARTED)
            continue;
        struct esi_thread_state *thread = &observer->threads[place];
        thread->events += report->head;
        thread->polls += report->polls;
        thread->elements++;
        thread->elements_off += (report->flags & ES_REPORT_OFF) != 0;
    }
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t origin = batch->marks[i].origin;
        size_t place = observer->thread_of[origin];

        if (place == NO_THREAD)
            continue;
        struct esi_thread_state *thread = &observer->threads[place];
        struct esi_activity *activity =
            es_batch_is_open(batch, i) ? &thread->open : &thread->last;

        esi_activity_read(observer->scope, origin, &batch->tuples[i], activity);
        activity->site = esi_sites_format(observer->sites, observer->scope, origin,
                                          batch->marks[i].site);
    }
}

static void classify_threads(struct esi_observer *observer, uint64_t now_ns)
{
    bool is_first = observer->pulls == 1;

    /* Threads that joined since the last pull had no state then. */
    for (size_t i = 0; i < observer->thread_count; i++)
        esi_thread_judge(&observer->threads[i], is_first ? NULL : &observer->before[i],
                         observer->config.stalled_after_ns, now_ns);
}

/* --- Waits ------------------------------------------------------------------------ */

static int note_collective(struct esi_observer *observer,
                           uint32_t origin,
                           const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    const struct es_scope *scope = esi_follower_scope(observer->collectives);
    struct esi_fact_entered entered = {.rank = es_scope_origin(scope, origin)->rank,
                                       .instance = tuple->sequence};
    const struct es_communicator_info *info;

    if (!operation || esi_instance_order(operation) == ES_ORDER_NONE ||
        tuple->sequence == ES_SEQUENCE_UNKNOWN)
        return 0;
    info =
        esi_follower_communicator(observer->collectives, origin, tuple->communicator);
    if (!info)
        return 0;
    entered.window = esi_instance_window(
        &(struct esi_activity){.operation = tuple->operation, .tag = tuple->tag});
    memcpy(entered.key, info->key, sizeof entered.key);
    return esi_fact_entries_note(&observer->entered, &entered);
}

static int open_collectives(struct esi_observer *observer)
{
    struct esi_follower_config follower = {.run = observer->run};
    struct es_scope_config *scope = &follower.scope;

    es_scope_config_init(scope);
    scope->view.selection.classes = observer->classes;
    scope->servers = observer->config.servers;
    if (observer->config.tree)
        scope->tree = *observer->config.tree;
    scope->name = "heartbeat-collectives";
    return esi_follower_open(&follower, NULL, &observer->collectives);
}

/* The classes of the collective operations that threads are in. */
static uint32_t find_classes(const struct esi_observer *observer)
{
    uint32_t classes = observer->classes;

    for (size_t i = 0; i < observer->thread_count; i++) {
        const struct esi_activity *open = &observer->threads[i].open;

        if (open->present && esi_instance_is_one(open))
            classes |= 1u << esi_activity_subject(open)->op_class |
                       1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_COMMUNICATOR;
    }
    return classes;
}

static int reopen_collectives(struct esi_observer *observer, uint32_t classes)
{
    esi_follower_close(observer->collectives);
    observer->collectives = NULL;
    observer->classes = classes;
    return open_collectives(observer);
}

/* Reads the instances of the collectives that ranks have completed since the last
 * call. */
static int read_collectives(struct esi_observer *observer)
{
    const struct es_batch *batch;
    uint32_t classes = find_classes(observer);
    int more;
    int result;

    if (classes == 0)
        return 0;
    result = classes == observer->classes
                 ? esi_follower_refresh(observer->collectives, true)
                 : reopen_collectives(observer, classes);
    if (result < 0)
        return result;
    do {
        more = esi_follower_pull(observer->collectives, 0, &batch);
        result = more < 0 ? more : 0;
        for (size_t i = 0; result >= 0 && i < batch->count; i++)
            result =
                note_collective(observer, batch->marks[i].origin, &batch->tuples[i]);
    } while (result >= 0 && more);
    return result < 0 ? result : 0;
}

static bool lacks_ledgers(const struct esi_facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++)
        if (!facts->processes[i].ledger)
            return true;
    return false;
}

static bool has_lasting_waits(const struct esi_observer *observer)
{
    for (size_t i = 0; i < observer->thread_count; i++)
        if (observer->threads[i].lasts)
            return true;
    return observer->facts->over;
}

static int give_verdicts(struct esi_observer *observer, uint64_t now_ns)
{
    struct esi_fact_look look = {.threads = observer->threads,
                                 .count = observer->thread_count,
                                 .now_ns = now_ns,
                                 .entered = &observer->entered};
    int result;

    esi_diagnosis_fini(&observer->diagnosis);
    result = esi_fact_reader_read(observer->reader, &look, &observer->facts);
    if (result == 0 && lacks_ledgers(observer->facts) && has_lasting_waits(observer))
        result = read_collectives(observer);
    if (result < 0)
        return result;
    return esi_diagnosis_make(observer->facts, &observer->memory, &observer->diagnosis);
}

static void fill_observation(const struct esi_observer *observer,
                             const struct es_batch *batch,
                             struct esi_observation *ret_observation)
{
    *ret_observation = (struct esi_observation){
        .number = observer->pulls,
        .diagnosis = &observer->diagnosis,
        .scope = observer->scope,
        .again = (observer->pulls == 1 && !observer->facts->over) ||
                 observer->facts->ends_change,
        .doubtful = observer->diagnosis.count > 0 || observer->memory.count > 0,
        .vanished = es_scope_has_vanished(observer->scope),
        .notices = batch->notices,
        .notice_count = batch->notice_count,
    };
    for (size_t i = 0; i < observer->thread_count; i++)
        ret_observation->verdicts[observer->threads[i].verdict]++;
}

int esi_observer_look(struct esi_observer *observer,
                      struct esi_observation *ret_observation)
{
    const struct es_batch *batch;
    uint64_t now_ns;
    int result = esi_follower_refresh(observer->follower, true);

    if (result >= 0)
        result = esi_follower_pull(observer->follower, 0, &batch);
    if (result >= 0)
        result = index_origins(observer);
    if (result < 0)
        return result;
    now_ns = es_scope_run_now_ns(observer->scope);
    observer->pulls++;
    turn_over(observer);
    bool is_missed = misses_calls(observer);

    for (size_t i = 0; i < observer->thread_count;)
        if (read_process(observer, i, is_missed))
            i++;
        else
            remove_thread(observer, i);
    read_batch(observer, batch);
    classify_threads(observer, now_ns);
    result = give_verdicts(observer, now_ns);
    if (result < 0)
        return result;
    fill_observation(observer, batch, ret_observation);
    return 0;
}
