/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * collectives_monitor.c - the thread that reads the contributions.
 *
 * It holds the lock while it analyses a pull, and releases it while it pulls and
 * pauses, so a front end waits for one batch at most.  Only the thread uses the scope
 * itself: what the front end needs of it is copied under the lock.
 */
#include "config.h"

#include "monitors/collectives/collectives_monitor.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/condition.h"
#include "base/nearest.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/collectives/collective_judge.h"
#include "monitors/collectives/recent.h"

enum { KEPT_MOST = 65536, OPERATIONS = 64, OPERATION_CODES = 4096 };
enum { MAX_OPEN = 1 << 18 };
#define PAUSE_NS UINT64_C(50000000)
#define PATIENCE_NS UINT64_C(10000000000)

/* An instance retained for the front end, followed by its arrays. */
struct kept {
    struct kept *next;
    struct esi_collective_instance instance;
    char communicator[64];
    struct esi_collective_arrival arrivals[];
};

struct esi_collectives_monitor {
    struct esi_collectives_monitor_config config;
    uint16_t operations[OPERATIONS]; /* selected families */
    size_t operation_count;          /* 0 = all */
    struct esi_collectives_scope *scope;
    pthread_t thread;
    bool started;
    atomic_bool wanted;   /* the thread is to continue */
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t changed;
    struct esi_collectives *analysis;
    struct esi_recent *recent;
    struct esi_collectives_report state; /* all except the statistics */
    struct kept *kept;
    struct kept **kept_end;
    size_t kept_count;
    uint64_t start_ns; /* run time from which on instances are selected */
    bool ended;
    int result; /* the error that ended the thread; 0 = stopped, or the run is over */
};

void esi_collectives_monitor_config_init(struct esi_collectives_monitor_config *config)
{
    *config = (struct esi_collectives_monitor_config){.communicator = NULL};
    esi_collectives_scope_config_init(&config->scope);
}

/* --- Selecting operations --------------------------------------------------------- */

/* 0 if there is no collective with this name. */
static uint16_t find_family(const char *name)
{
    const struct es_operation *found = es_operation_by_name(name);
    struct esi_collective_traits traits;

    if (!found || !esi_collective_traits(found->code, &traits))
        return 0;
    return traits.family;
}

/* Suggests names in the form that the user chose, with or without "MPI_". */
static int refuse_operation(const char *name, struct es_error *error)
{
    size_t skipped = strncasecmp(name, "MPI_", 4) == 0 ? 0 : 4;
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (uint16_t code = 1; code < OPERATION_CODES; code++) {
        const struct es_operation *operation = es_operation_find(code);

        if (operation && find_family(operation->name) == code)
            esi_nearest_try(&nearest, operation->name + skipped);
    }
    if (nearest.name)
        return es_error_set(error, -EINVAL,
                            "'%s' is not a collective operation; did you mean '%s'?",
                            name, nearest.name);
    return es_error_set(error, -EINVAL, "'%s' is not a collective operation", name);
}

static int parse_operations(const char *text,
                            uint16_t *ret_operations,
                            size_t *ret_count,
                            struct es_error *error)
{
    size_t count = 0;

    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        char name[48] = "";

        if (length < sizeof name)
            memcpy(name, at, length);
        if (!find_family(name))
            return refuse_operation(length < sizeof name ? name : at, error);
        if (count == OPERATIONS)
            return es_error_set(error, -EINVAL, "'%s': more than %d operations", text,
                                OPERATIONS);
        ret_operations[count++] = find_family(name);
        at += length + (at[length] == ',');
    }
    *ret_count = count;
    return 0;
}

int esi_collectives_monitor_config_check(
    const struct esi_collectives_monitor_config *config,
    struct es_error *error)
{
    uint16_t operations[OPERATIONS];
    size_t count;

    return parse_operations(config->operations, operations, &count, error);
}

static bool is_wanted(const struct esi_collectives_monitor *monitor,
                      const struct esi_collective_instance *instance)
{
    size_t i = 0;

    if (instance->first_enter_ns < monitor->start_ns)
        return false;
    if (monitor->config.communicator &&
        fnmatch(monitor->config.communicator, instance->communicator, 0) != 0)
        return false;
    while (i < monitor->operation_count &&
           monitor->operations[i] != instance->operation)
        i++;
    return monitor->operation_count == 0 || i < monitor->operation_count;
}

/* --- Instances -------------------------------------------------------------------- */

/* If out of memory, an instance is skipped, which the counts show. */
static void keep_worst(struct esi_collectives_monitor *monitor,
                       const struct esi_collective_instance *instance)
{
    size_t size = (size_t)instance->size;
    size_t known = (size_t)instance->known;
    size_t bytes = sizeof(struct kept) + size * sizeof *instance->arrivals;
    struct kept *kept = malloc(bytes + size * sizeof *instance->order);
    int *order;

    if (!kept)
        return;
    order = (int *)(void *)((char *)kept + bytes);
    memcpy(kept->arrivals, instance->arrivals, size * sizeof *instance->arrivals);
    memcpy(order, instance->order, known * sizeof *order);
    kept->next = NULL;
    kept->instance = *instance;
    snprintf(kept->communicator, sizeof kept->communicator, "%s",
             instance->communicator);
    kept->instance.communicator = kept->communicator;
    kept->instance.arrivals = kept->arrivals;
    kept->instance.order = order;
    *monitor->kept_end = kept;
    monitor->kept_end = &kept->next;
    monitor->kept_count++;
}

static void see_instance(struct esi_coverage *seen,
                         const struct esi_collective_instance *instance)
{
    if (seen->from_ns == 0 || instance->first_enter_ns < seen->from_ns)
        seen->from_ns = instance->first_enter_ns;
    if (instance->last_exit_ns > seen->end_ns)
        seen->end_ns = instance->last_exit_ns;
}

static void take_instance(void *data, const struct esi_collective_instance *instance)
{
    struct esi_collectives_monitor *monitor = data;
    struct esi_collectives_report *state = &monitor->state;

    see_instance(&state->seen, instance);
    if (!is_wanted(monitor, instance))
        return;
    if (esi_recent_add(monitor->recent, instance) < 0 && monitor->result == 0)
        monitor->result = -ENOMEM;
    if (monitor->config.listener.on_instance &&
        monitor->config.listener.on_instance(monitor->config.listener.data, instance) <
            0 &&
        monitor->result == 0)
        monitor->result = -ENOMEM;
    if (monitor->config.keep_instances)
        keep_worst(monitor, instance);
    if (state->first_ns == 0 || instance->first_enter_ns < state->first_ns)
        state->first_ns = instance->first_enter_ns;
    if (instance->last_exit_ns > state->last_ns)
        state->last_ns = instance->last_exit_ns;
}

void esi_collectives_monitor_take(struct esi_collectives_monitor *monitor,
                                  esi_collectives_take_fn take,
                                  void *data)
{
    struct kept *kept;

    pthread_mutex_lock(&monitor->lock);
    kept = monitor->kept;
    monitor->kept = NULL;
    monitor->kept_end = &monitor->kept;
    monitor->kept_count = 0;
    pthread_cond_broadcast(&monitor->changed);
    pthread_mutex_unlock(&monitor->lock);
    while (kept) {
        struct kept *next = kept->next;

        if (take)
            take(data, &kept->instance);
        free(kept);
        kept = next;
    }
}

/* --- The thread ------------------------------------------------------------------- */

/* Pauses until stopped; also while the front end has too many instances to take. */
static void pause_thread(struct esi_collectives_monitor *monitor, uint64_t span_ns)
{
    uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + span_ns;
    bool in_time = true;

    while (atomic_load_explicit(&monitor->wanted, memory_order_relaxed) &&
           (monitor->kept_count >= KEPT_MOST || (span_ns > 0 && in_time))) {
        if (monitor->kept_count >= KEPT_MOST)
            end_ns = esi_now_ns(CLOCK_MONOTONIC) + PAUSE_NS;
        in_time = esi_condition_wait(&monitor->changed, &monitor->lock, end_ns);
    }
}

static void copy_hosts(struct esi_collectives_monitor *monitor)
{
    struct esi_collectives_report *state = &monitor->state;
    int ranks = esi_collectives_scope_ranks(monitor->scope);

    if (ranks <= state->ranks)
        return;
    char(*hosts)[64] = realloc(state->hosts, (size_t)ranks * sizeof *hosts);

    if (!hosts)
        return;
    state->hosts = hosts;
    for (int rank = state->ranks; rank < ranks; rank++) {
        const char *host = esi_collectives_scope_host(monitor->scope, rank);

        snprintf(hosts[rank], sizeof hosts[rank], "%s", host ? host : "");
    }
    state->ranks = ranks;
}

static void copy_state(struct esi_collectives_monitor *monitor, bool over)
{
    struct esi_collectives_report *state = &monitor->state;
    const struct esi_follower *follower =
        esi_collectives_scope_follower(monitor->scope);
    const struct es_scope *scope = esi_follower_scope(follower);
    const struct es_notice *notices = NULL;
    size_t count = esi_follower_notices(follower, &notices);

    esi_causality_totals(esi_collectives_scope_causality(monitor->scope),
                         &state->totals);
    esi_collectives_clock_faults(monitor->analysis, &state->repaired,
                                 &state->impossible);
    esi_follower_losses(follower, &state->lost, &state->missed);
    copy_hosts(monitor);
    state->over = over;
    state->vanished = es_scope_has_vanished(scope);
    state->paced = es_scope_is_paced(scope);
    state->notice_count = count < 16 ? count : 16;
    for (size_t i = 0; i < state->notice_count; i++)
        state->notices[i] = notices[i];
}

static void note_start(struct esi_collectives_monitor *monitor)
{
    if (monitor->state.start_ns != 0)
        return;
    monitor->state.start_ns =
        esi_follower_start_ns(esi_collectives_scope_follower(monitor->scope));
    monitor->start_ns = monitor->state.start_ns + monitor->config.since_ns;
    if (monitor->config.since_ns == 0)
        monitor->start_ns = 0;
}

/* Pulls once.  Returns 1 to continue at once; 0 to continue after a pause; -ENODATA at
 * the end of the run; or -errno. */
static int report_status(struct esi_collectives_monitor *monitor)
{
    /* Checked first: everything written before that is read below. */
    bool over = monitor->config.once ||
                esi_follower_is_over(esi_collectives_scope_follower(monitor->scope));
    int added, result;

    result = esi_collectives_scope_pull(monitor->scope, over);
    if (result < 0)
        return result;
    pthread_mutex_lock(&monitor->lock);
    note_start(monitor);
    added = esi_collectives_scope_add(monitor->scope);
    if (added >= 0 && result == 0 && over && !monitor->config.once)
        added = esi_causality_finish(esi_collectives_scope_causality(monitor->scope));
    if (added < 0)
        monitor->result = added;
    if (monitor->result < 0)
        result = monitor->result;
    copy_state(monitor, over && result == 0);
    pthread_mutex_unlock(&monitor->lock);
    if (result == 0 && over)
        return -ENODATA;
    return result;
}

static void *run_thread(void *data)
{
    struct esi_collectives_monitor *monitor = data;
    int result;

    /* Pulls at least once, even if stopped immediately. */
    do {
        result = report_status(monitor);
        pthread_mutex_lock(&monitor->lock);
        if (result >= 0)
            pause_thread(monitor, result > 0 || monitor->state.paced ? 0 : PAUSE_NS);
        pthread_mutex_unlock(&monitor->lock);
    } while (result >= 0 &&
             atomic_load_explicit(&monitor->wanted, memory_order_relaxed));
    pthread_mutex_lock(&monitor->lock);
    monitor->ended = true;
    monitor->result = result < 0 && result != -ENODATA ? result : 0;
    pthread_cond_broadcast(&monitor->changed);
    pthread_mutex_unlock(&monitor->lock);
    return NULL;
}

static int init_lock(struct esi_collectives_monitor *monitor)
{
    if (pthread_mutex_init(&monitor->lock, NULL) != 0)
        return -ENOMEM;
    esi_condition_init(&monitor->changed);
    return 0;
}

static int open_monitor(struct esi_collectives_monitor *monitor,
                        struct es_run *run,
                        struct es_error *error)
{
    struct esi_collectives_config analysis = {.by_size = monitor->config.by_size,
                                              .on_instance = take_instance,
                                              .data = monitor};
    struct esi_causality_config causality = {
        .held_max = MAX_OPEN,
        .patience_ns =
            monitor->config.patience_ns ? monitor->config.patience_ns : PATIENCE_NS};
    int result = parse_operations(monitor->config.operations, monitor->operations,
                                  &monitor->operation_count, error);

    if (result == 0)
        result = esi_recent_create(monitor->config.recent_ns, &monitor->recent);
    if (result == 0)
        result = esi_collectives_create(&analysis, &monitor->analysis);
    if (result == 0) {
        causality.listener = esi_collectives_listener(monitor->analysis);
        result = esi_collectives_scope_open(run, &monitor->config.scope, &causality,
                                            error, &monitor->scope);
    }
    if (result == 0)
        esi_collectives_scope_set_listener(monitor->scope, &monitor->config.listener);
    if (result == 0)
        result = -pthread_create(&monitor->thread, NULL, run_thread, monitor);
    monitor->started = result == 0;
    return result;
}

int esi_collectives_monitor_start(struct es_run *run,
                                  const struct esi_collectives_monitor_config *config,
                                  struct es_error *error,
                                  struct esi_collectives_monitor **ret_monitor)
{
    struct esi_collectives_monitor *monitor = calloc(1, sizeof *monitor);
    int result;

    if (!monitor)
        return -ENOMEM;
    if (init_lock(monitor) < 0) {
        free(monitor);
        return -ENOMEM;
    }
    monitor->config = *config;
    monitor->kept_end = &monitor->kept;
    atomic_init(&monitor->wanted, true);
    result = open_monitor(monitor, run, error);
    if (result < 0) {
        esi_collectives_monitor_destroy(monitor);
        return result;
    }
    *ret_monitor = monitor;
    return 0;
}

bool esi_collectives_monitor_wait(struct esi_collectives_monitor *monitor,
                                  uint64_t timeout_ns)
{
    uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    bool ended;

    pthread_mutex_lock(&monitor->lock);
    while (!monitor->ended &&
           esi_condition_wait(&monitor->changed, &monitor->lock, end_ns))
        continue;
    ended = monitor->ended;
    pthread_mutex_unlock(&monitor->lock);
    return ended;
}

int esi_collectives_monitor_stop(struct esi_collectives_monitor *monitor)
{
    if (!monitor->started)
        return monitor->result;
    pthread_mutex_lock(&monitor->lock);
    atomic_store_explicit(&monitor->wanted, false, memory_order_relaxed);
    pthread_cond_broadcast(&monitor->changed);
    pthread_mutex_unlock(&monitor->lock);
    pthread_join(monitor->thread, NULL);
    monitor->started = false;
    return monitor->result;
}

void esi_collectives_monitor_destroy(struct esi_collectives_monitor *monitor)
{
    int saved_errno = errno;

    if (!monitor)
        return;
    esi_collectives_monitor_stop(monitor);
    esi_collectives_monitor_take(monitor, NULL, NULL);
    esi_collectives_scope_close(monitor->scope);
    esi_collectives_destroy(monitor->analysis);
    esi_recent_destroy(monitor->recent);
    free(monitor->state.hosts);
    pthread_cond_destroy(&monitor->changed);
    pthread_mutex_destroy(&monitor->lock);
    free(monitor);
    errno = saved_errno;
}

/* --- Reports ---------------------------------------------------------------------- */

static int copy_report(const struct esi_collectives_monitor *monitor,
                       struct esi_collectives_report *report)
{
    size_t ranks = (size_t)monitor->state.ranks;

    if (ranks > 0) {
        report->hosts = malloc(ranks * sizeof *report->hosts);
        if (!report->hosts)
            return -ENOMEM;
        memcpy(report->hosts, monitor->state.hosts, ranks * sizeof *report->hosts);
    }
    return esi_recent_sum_up(monitor->recent, report->statistics);
}

/* The counts may cover a longer time than the statistics still do. */
static void find_span(struct esi_collectives_report *report)
{
    uint64_t first_ns = 0;

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++) {
        uint64_t began_ns =
            esi_collective_statistics_at(report->statistics, i)->first_ns;

        if (first_ns == 0 || began_ns < first_ns)
            first_ns = began_ns;
    }
    report->first_ns = first_ns;
}

/* If nothing was overwritten before the reading began, all is seen. */
static void find_coverage(struct esi_collectives_report *report)
{
    struct esi_coverage *seen = &report->seen;

    if (seen->end_ns == 0)
        return;
    seen->begin_ns = report->start_ns;
    if (report->missed == 0)
        seen->from_ns = seen->begin_ns;
    seen->seen_ns = seen->end_ns - seen->from_ns;
}

int esi_collectives_monitor_report(struct esi_collectives_monitor *monitor,
                                   struct esi_collectives_report *ret_report)
{
    struct esi_collectives_report report;
    int result;

    pthread_mutex_lock(&monitor->lock);
    report = monitor->state;
    report.hosts = NULL;
    result = esi_collective_statistics_create(&report.statistics);
    if (result == 0)
        result = copy_report(monitor, &report);
    pthread_mutex_unlock(&monitor->lock);
    if (result < 0) {
        esi_collectives_report_fini(&report);
        return result;
    }
    find_span(&report);
    find_coverage(&report);
    *ret_report = report;
    return 0;
}

void esi_collectives_report_fini(struct esi_collectives_report *report)
{
    esi_collective_statistics_destroy(report->statistics);
    free(report->hosts);
    report->statistics = NULL;
    report->hosts = NULL;
}

int esi_collectives_monitor_call(struct esi_collectives_monitor *monitor,
                                 int (*use)(void *data),
                                 void *data)
{
    int result;

    pthread_mutex_lock(&monitor->lock);
    result = use(data);
    pthread_mutex_unlock(&monitor->lock);
    return result;
}

const char *esi_collectives_report_host(const struct esi_collectives_report *report,
                                        int world_rank)
{
    return world_rank >= 0 && world_rank < report->ranks ? report->hosts[world_rank]
                                                         : "";
}
