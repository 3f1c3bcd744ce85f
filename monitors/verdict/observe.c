/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat.c - pulls the threads' latest events and keeps their history. */
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

struct esi_heartbeat {
    struct es_run *run; /* borrowed */
    struct esi_heartbeat_config config;
    struct esi_follower *follower;
    struct es_scope *scope;           /* the follower's */
    struct esi_follower *collectives; /* opened at the first long wait */
    uint32_t classes;                 /* the classes that it reads */
    struct esi_sites *sites;          /* owned */

    struct esi_thread_state *threads; /* owned; by process, thread */
    struct esi_thread_state *before;  /* their states at the last pull */
    size_t thread_count;
    size_t thread_capacity;
    uint32_t *first_origin; /* per thread; owned */
    size_t first_capacity;
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

void esi_heartbeat_destroy(struct esi_heartbeat *heartbeat)
{
    int saved_errno = errno;

    if (!heartbeat)
        return;
    esi_diagnosis_fini(&heartbeat->diagnosis);
    esi_verdict_memory_fini(&heartbeat->memory);
    esi_fact_reader_destroy(heartbeat->reader);
    esi_fact_entries_fini(&heartbeat->entered);
    free(heartbeat->threads);
    free(heartbeat->before);
    free(heartbeat->first_origin);
    free(heartbeat->thread_of);
    esi_follower_close(heartbeat->collectives);
    esi_follower_close(heartbeat->follower);
    esi_sites_destroy(heartbeat->sites);
    free(heartbeat);
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

static struct esi_thread_state thread_of_origin(const struct es_origin *origin)
{
    return (struct esi_thread_state){.host = origin->host,
                                     .pid = origin->pid,
                                     .birth = esi_origin_birth(origin),
                                     .rank = origin->rank,
                                     .thread = origin->thread,
                                     .before_mpi =
                                         origin->classes == ES_CLASSES_STARTED};
}

static bool is_thread_before(const void *item, const void *sought)
{
    return compare_threads(item, sought) < 0;
}

/* First index whose thread is not before `thread`. */
static size_t find_thread(const struct esi_heartbeat *heartbeat,
                          const struct esi_thread_state *thread)
{
    return esi_lower_bound(heartbeat->threads, heartbeat->thread_count,
                           sizeof *heartbeat->threads, is_thread_before, thread);
}

static void insert_thread(struct esi_heartbeat *heartbeat,
                          size_t place,
                          const struct esi_thread_state *thread,
                          uint32_t origin)
{
    size_t behind = heartbeat->thread_count - place;

    memmove(heartbeat->threads + place + 1, heartbeat->threads + place,
            behind * sizeof *heartbeat->threads);
    memmove(heartbeat->first_origin + place + 1, heartbeat->first_origin + place,
            behind * sizeof *heartbeat->first_origin);
    heartbeat->threads[place] = *thread;
    heartbeat->first_origin[place] = origin;
    heartbeat->thread_count++;
}

/* Removes the thread of a process that is no rank, because a child of it is, or whose
 * calls cannot be seen. */
static void remove_thread(struct esi_heartbeat *heartbeat, size_t place)
{
    size_t behind = --heartbeat->thread_count - place;

    esi_diagnosis_fini(&heartbeat->diagnosis); /* it refers to the old threads */
    memmove(heartbeat->threads + place, heartbeat->threads + place + 1,
            behind * sizeof *heartbeat->threads);
    memmove(heartbeat->before + place, heartbeat->before + place + 1,
            behind * sizeof *heartbeat->before);
    memmove(heartbeat->first_origin + place, heartbeat->first_origin + place + 1,
            behind * sizeof *heartbeat->first_origin);
    for (size_t i = 0; i < heartbeat->origin_count; i++)
        if (heartbeat->thread_of[i] == place)
            heartbeat->thread_of[i] = NO_THREAD;
        else if (heartbeat->thread_of[i] != NO_THREAD &&
                 heartbeat->thread_of[i] > place)
            heartbeat->thread_of[i]--;
}

/* Adds the thread of a joined origin, if it is new. */
static int take_origin(void *data, uint32_t number, const struct es_origin *origin)
{
    struct esi_heartbeat *heartbeat = data;
    struct esi_thread_state thread = thread_of_origin(origin);
    size_t place = find_thread(heartbeat, &thread);

    if (place < heartbeat->thread_count &&
        compare_threads(&heartbeat->threads[place], &thread) == 0) {
        heartbeat->threads[place].before_mpi &= thread.before_mpi;
        return 0;
    }
    if (ESI_ARRAY_RESERVE_PAIR(heartbeat->threads, heartbeat->before,
                               heartbeat->thread_capacity,
                               heartbeat->thread_count + 1) < 0 ||
        ESI_ARRAY_RESERVE(heartbeat->first_origin, heartbeat->first_capacity,
                          heartbeat->thread_count + 1) < 0)
        return -ENOMEM;
    esi_diagnosis_fini(&heartbeat->diagnosis); /* it refers to the old threads */
    insert_thread(heartbeat, place, &thread, number);
    return 0;
}

/* Maps origins to threads, if some have joined. */
static int index_origins(struct esi_heartbeat *heartbeat)
{
    size_t count = es_scope_origin_count(heartbeat->scope);

    if (count == heartbeat->origin_count)
        return 0;
    if (ESI_ARRAY_RESERVE(heartbeat->thread_of, heartbeat->origin_capacity, count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct esi_thread_state thread =
            thread_of_origin(es_scope_origin(heartbeat->scope, i));

        size_t place = find_thread(heartbeat, &thread);

        heartbeat->thread_of[i] =
            place < heartbeat->thread_count &&
                    compare_threads(&heartbeat->threads[place], &thread) == 0
                ? place
                : NO_THREAD;
    }
    heartbeat->origin_count = count;
    return 0;
}

int esi_heartbeat_create(struct es_run *run,
                         const struct esi_heartbeat_config *config,
                         struct es_error *error,
                         struct esi_heartbeat **ret_heartbeat)
{
    struct esi_heartbeat *heartbeat = calloc(1, sizeof *heartbeat);
    struct esi_follower_config follower = {
        .run = run, .on_origin = take_origin, .data = heartbeat};
    struct es_scope_config *scope = &follower.scope;
    int result;

    if (!heartbeat)
        return -ENOMEM;
    heartbeat->run = run;
    heartbeat->config = *config;
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
    result = esi_sites_create(&heartbeat->sites);
    if (result == 0)
        result = esi_follower_open(&follower, error, &heartbeat->follower);
    if (result == 0)
        result = esi_fact_reader_create(heartbeat->follower, run, heartbeat->sites,
                                        &heartbeat->reader);
    if (result < 0) {
        esi_heartbeat_destroy(heartbeat);
        return result;
    }
    heartbeat->scope = esi_follower_scope(heartbeat->follower);
    *ret_heartbeat = heartbeat;
    return 0;
}

/* --- One pull ---------------------------------------------------------------- */

/* Saves the states of the last pull and clears those that this one will fill. */
static void turn_over(struct esi_heartbeat *heartbeat)
{
    if (heartbeat->thread_count == 0)
        return;
    memcpy(heartbeat->before, heartbeat->threads,
           heartbeat->thread_count * sizeof *heartbeat->threads);
    for (size_t i = 0; i < heartbeat->thread_count; i++) {
        struct esi_thread_state *thread = &heartbeat->threads[i];

        thread->events = 0;
        thread->polls = 0;
        thread->elements = 0;
        thread->elements_off = 0;
        thread->last.present = false;
        thread->open.present = false;
    }
}

/* Whether threads that seem not to have called MPI call it unseen. */
static bool misses_calls(const struct esi_heartbeat *heartbeat)
{
    bool has_early = false;

    for (size_t i = 0; i < heartbeat->thread_count; i++)
        has_early |= heartbeat->threads[i].before_mpi;
    return has_early && esi_scope_has_left_init(heartbeat->scope);
}

/* Returns false if the process is no rank, or its calls cannot be seen. */
static bool read_process(struct esi_heartbeat *heartbeat, size_t index, bool is_missed)
{
    struct esi_thread_state *thread = &heartbeat->threads[index];
    uint32_t origin = heartbeat->first_origin[index];
    const struct es_element_view *element =
        es_scope_origin(heartbeat->scope, origin)->element;
    struct es_segment_info info;

    if (es_scope_process(heartbeat->scope, origin, &info) < 0)
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

static void read_batch(struct esi_heartbeat *heartbeat, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->report_count; i++) {
        const struct es_report *report = &batch->reports[i];
        size_t place = heartbeat->thread_of[report->origin];

        /* A process that has not called MPI has no element that records it. */
        if (place == NO_THREAD ||
            es_scope_origin(heartbeat->scope, report->origin)->classes ==
                ES_CLASSES_STARTED)
            continue;
        struct esi_thread_state *thread = &heartbeat->threads[place];
        thread->events += report->head;
        thread->polls += report->polls;
        thread->elements++;
        thread->elements_off += (report->flags & ES_REPORT_OFF) != 0;
    }
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t origin = batch->marks[i].origin;
        size_t place = heartbeat->thread_of[origin];

        if (place == NO_THREAD)
            continue;
        struct esi_thread_state *thread = &heartbeat->threads[place];
        struct esi_activity *activity =
            es_batch_is_open(batch, i) ? &thread->open : &thread->last;

        esi_activity_read(heartbeat->scope, origin, &batch->tuples[i], activity);
        activity->site = esi_sites_format(heartbeat->sites, heartbeat->scope, origin,
                                          batch->marks[i].site);
    }
}

static void classify_threads(struct esi_heartbeat *heartbeat, uint64_t now_ns)
{
    bool is_first = heartbeat->pulls == 1;

    /* Threads that joined since the last pull had no state then. */
    for (size_t i = 0; i < heartbeat->thread_count; i++)
        esi_thread_judge(&heartbeat->threads[i],
                         is_first ? NULL : &heartbeat->before[i],
                         heartbeat->config.stalled_after_ns, now_ns);
}

/* --- Waits ------------------------------------------------------------------------ */

static int note_collective(struct esi_heartbeat *heartbeat,
                           uint32_t origin,
                           const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    const struct es_scope *scope = esi_follower_scope(heartbeat->collectives);
    struct esi_fact_entered entered = {.rank = es_scope_origin(scope, origin)->rank,
                                       .instance = tuple->sequence};
    const struct es_communicator_info *info;

    if (!operation || esi_instance_order(operation) == ES_ORDER_NONE ||
        tuple->sequence == ES_SEQUENCE_UNKNOWN)
        return 0;
    info =
        esi_follower_communicator(heartbeat->collectives, origin, tuple->communicator);
    if (!info)
        return 0;
    entered.window = esi_instance_window(
        &(struct esi_activity){.operation = tuple->operation, .tag = tuple->tag});
    memcpy(entered.key, info->key, sizeof entered.key);
    return esi_fact_entries_note(&heartbeat->entered, &entered);
}

static int open_collectives(struct esi_heartbeat *heartbeat)
{
    struct esi_follower_config follower = {.run = heartbeat->run};
    struct es_scope_config *scope = &follower.scope;

    es_scope_config_init(scope);
    scope->view.selection.classes = heartbeat->classes;
    scope->servers = heartbeat->config.servers;
    if (heartbeat->config.tree)
        scope->tree = *heartbeat->config.tree;
    scope->name = "heartbeat-collectives";
    return esi_follower_open(&follower, NULL, &heartbeat->collectives);
}

/* The classes of the collective operations that threads are in. */
static uint32_t find_classes(const struct esi_heartbeat *heartbeat)
{
    uint32_t classes = heartbeat->classes;

    for (size_t i = 0; i < heartbeat->thread_count; i++) {
        const struct esi_activity *open = &heartbeat->threads[i].open;

        if (open->present && esi_instance_is_one(open))
            classes |= 1u << esi_activity_subject(open)->op_class |
                       1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_COMMUNICATOR;
    }
    return classes;
}

static int reopen_collectives(struct esi_heartbeat *heartbeat, uint32_t classes)
{
    esi_follower_close(heartbeat->collectives);
    heartbeat->collectives = NULL;
    heartbeat->classes = classes;
    return open_collectives(heartbeat);
}

/* Reads the instances of the collectives that ranks have completed since the last
 * call. */
static int read_collectives(struct esi_heartbeat *heartbeat)
{
    const struct es_batch *batch;
    uint32_t classes = find_classes(heartbeat);
    int more;
    int result;

    if (classes == 0)
        return 0;
    result = classes == heartbeat->classes
                 ? esi_follower_refresh(heartbeat->collectives, true)
                 : reopen_collectives(heartbeat, classes);
    if (result < 0)
        return result;
    do {
        more = esi_follower_pull(heartbeat->collectives, 0, &batch);
        result = more < 0 ? more : 0;
        for (size_t i = 0; result >= 0 && i < batch->count; i++)
            result =
                note_collective(heartbeat, batch->marks[i].origin, &batch->tuples[i]);
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

static bool has_lasting_waits(const struct esi_heartbeat *heartbeat)
{
    for (size_t i = 0; i < heartbeat->thread_count; i++)
        if (heartbeat->threads[i].lasts)
            return true;
    return heartbeat->facts->over;
}

static int give_verdicts(struct esi_heartbeat *heartbeat, uint64_t now_ns)
{
    struct esi_fact_look look = {.threads = heartbeat->threads,
                                 .origins = heartbeat->first_origin,
                                 .count = heartbeat->thread_count,
                                 .now_ns = now_ns,
                                 .entered = &heartbeat->entered};
    int result;

    esi_diagnosis_fini(&heartbeat->diagnosis);
    result = esi_fact_reader_read(heartbeat->reader, &look, &heartbeat->facts);
    if (result == 0 && lacks_ledgers(heartbeat->facts) && has_lasting_waits(heartbeat))
        result = read_collectives(heartbeat);
    if (result < 0)
        return result;
    return esi_diagnosis_make(heartbeat->facts, &heartbeat->memory,
                              &heartbeat->diagnosis);
}

static size_t count_verdicts(const struct esi_heartbeat *heartbeat,
                             enum esi_verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < heartbeat->thread_count; i++)
        count += heartbeat->threads[i].verdict == verdict;
    return count;
}

static void fill_report(const struct esi_heartbeat *heartbeat,
                        const struct es_batch *batch,
                        uint64_t now_ns,
                        struct esi_heartbeat_report *ret_report)
{
    *ret_report = (struct esi_heartbeat_report){
        .run = es_run_name(heartbeat->run),
        .pull = heartbeat->pulls,
        .realtime_ns = now_ns,
        .threads = heartbeat->threads,
        .waits = heartbeat->diagnosis.conditions.waits,
        .thread_count = heartbeat->thread_count,
        .origins = heartbeat->first_origin,
        .scope = heartbeat->scope,
        .diagnosis = &heartbeat->diagnosis,
        .again = (heartbeat->pulls == 1 && !heartbeat->facts->over) ||
                 heartbeat->facts->ends_change,
        .doubtful = heartbeat->diagnosis.count > 0 || heartbeat->memory.count > 0,
        .stalled = count_verdicts(heartbeat, ES_VERDICT_STALLED),
        .dead = count_verdicts(heartbeat, ES_VERDICT_DEAD),
        .finished = count_verdicts(heartbeat, ES_VERDICT_FINISHED),
        .unknown = count_verdicts(heartbeat, ES_VERDICT_UNKNOWN),
        .paced = es_scope_is_paced(heartbeat->scope),
        .vanished = es_scope_has_vanished(heartbeat->scope),
        .notices = batch->notices,
        .notice_count = batch->notice_count,
    };
}

int esi_heartbeat_beat(struct esi_heartbeat *heartbeat,
                       struct esi_heartbeat_report *ret_report)
{
    const struct es_batch *batch;
    uint64_t now_ns;
    int result = esi_follower_refresh(heartbeat->follower, true);

    if (result >= 0)
        result = esi_follower_pull(heartbeat->follower, 0, &batch);
    if (result >= 0)
        result = index_origins(heartbeat);
    if (result < 0)
        return result;
    now_ns = es_scope_run_now_ns(heartbeat->scope);
    heartbeat->pulls++;
    turn_over(heartbeat);
    bool is_missed = misses_calls(heartbeat);

    for (size_t i = 0; i < heartbeat->thread_count;)
        if (read_process(heartbeat, i, is_missed))
            i++;
        else
            remove_thread(heartbeat, i);
    read_batch(heartbeat, batch);
    classify_threads(heartbeat, now_ns);
    result = give_verdicts(heartbeat, now_ns);
    if (result < 0)
        return result;
    fill_report(heartbeat, batch, now_ns, ret_report);
    return 0;
}
