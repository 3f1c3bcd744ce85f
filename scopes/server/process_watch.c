/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_watch.c - observes in the segments of a run whether its processes live, and
 * how they ended. */
#include "config.h"

#include "scopes/server/process_watch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "tuplespace/process_state.h"
#include "tuplespace/segment_set.h"
#include "tuplespace/started.h"

static bool ending_is_failure(const struct es_segment_info *info)
{
    return esi_process_has_failed(info->state, info->exit_code);
}

const char *esi_ending_describe(const struct es_segment_info *info,
                                bool before_mpi,
                                char *out,
                                size_t size)
{
    switch (info->state) {
    case ES_PROCESS_ABORTED:
        snprintf(out, size, "called MPI_Abort");
        break;
    case ES_PROCESS_EXITED:
        if (info->exit_code >= 0)
            snprintf(out, size, "exited with code %d", info->exit_code);
        else
            snprintf(out, size, "exited");
        break;
    case ES_PROCESS_KILLED:
        snprintf(out, size, "killed by signal %d (%s)", info->signal,
                 strsignal(info->signal));
        break;
    case ES_PROCESS_LOST:
        snprintf(out, size, "gone for an unknown reason");
        break;
    case ES_PROCESS_FINALIZED:
        if (info->exit_code > 0)
            snprintf(out, size, "exited with code %d after MPI_Finalize",
                     info->exit_code);
        else
            snprintf(out, size, info->alive ? "finalized, still there" : "finalized");
        break;
    case ES_PROCESS_RUNNING:
        snprintf(out, size, before_mpi ? "has not called MPI yet" : "running");
        return out;
    }
    if (before_mpi)
        snprintf(out + strlen(out), size - strlen(out), " before its first MPI call");
    return out;
}

/* Whether the process was killed by a signal with which jobs are ended. */
static bool is_ended_with_job(const struct es_segment_info *info)
{
    return info->state == ES_PROCESS_KILLED &&
           (info->signal == SIGTERM || info->signal == SIGINT ||
            info->signal == SIGHUP || info->signal == SIGQUIT);
}

/* Tells the call with which the process ended although it had left MPI, or was not in
 * it yet.  Returns false if it did not end so. */
static bool describe_misplaced(const struct es_segment_view *segment,
                               const struct es_segment_info *info,
                               char *out,
                               size_t size)
{
    size_t count = es_segment_view_element_count(segment);
    size_t communicators = es_segment_view_communicator_count(segment);
    struct es_tuple open;

    for (size_t i = 0; i < count; i++) {
        if (es_element_open(es_segment_view_element(segment, i), &open) != 1)
            continue;
        const char *when =
            esi_process_misplaced(info->state, communicators, open.operation);

        if (!when)
            continue;
        snprintf(out, size, "rank %d called %s %s, and exited with code %d", info->rank,
                 es_operation_name(open.operation), when, info->exit_code);
        return true;
    }
    return false;
}

static void describe_failure(const struct es_segment_view *segment,
                             const struct es_segment_info *info,
                             bool before_mpi,
                             char *out,
                             size_t size)
{
    bool is_early = info->state == ES_PROCESS_EXITED && info->exit_code == 0;
    char how[96];

    if (describe_misplaced(segment, info, out, size))
        return;
    esi_ending_describe(info, before_mpi, how, sizeof how);
    snprintf(out, size, "rank %d %s%s%s", info->rank,
             info->state == ES_PROCESS_KILLED
                 ? "was "
                 : (info->state == ES_PROCESS_LOST ? "is " : ""),
             how, is_early && !before_mpi ? " before MPI_Finalize" : "");
}

/* Launchers end the remaining ranks with these signals.  A rank that exits records it,
 * so one that vanished without a record was killed, too. */
static bool is_killed_by_launcher(const struct es_segment_info *info)
{
    return info->state == ES_PROCESS_LOST ||
           (info->state == ES_PROCESS_KILLED &&
            (info->signal == SIGKILL || info->signal == SIGTERM));
}

/* Rates how little an end explains why a run failed: launchers kill the other ranks
 * after the first one has ended. */
static int rate_failure(const struct es_segment_info *info)
{
    return info->state == ES_PROCESS_LOST ? 2 : is_killed_by_launcher(info);
}

/* Returns true if `info` explains the failure better than `best`. */
static bool is_nearer(const struct es_segment_info *info,
                      const struct es_segment_info *best)
{
    int rate = rate_failure(info), best_rate = rate_failure(best);

    return rate != best_rate ? rate < best_rate
                             : info->ended_realtime_ns < best->ended_realtime_ns;
}

/* Launchers also kill the others if a rank exits too early with code 0. */
static bool may_have_failed(const struct es_segment_info *info)
{
    return ending_is_failure(info) || info->state == ES_PROCESS_EXITED;
}

/* Segments of batch jobs and of unnamed runs are removed by processes that end
 * successfully. */
static bool removes_itself(const struct es_run *run, const struct es_segment_info *info)
{
    return info->job[0] != '\0' || strncmp(es_run_name(run), "job-", 4) == 0;
}

/* Whether a process has left MPI_Init.  It waits there for all ranks, so one that still
 * seems not to have called MPI calls it unseen. */
static bool has_left_init(const struct es_run *run)
{
    size_t count = es_run_segment_count(run);

    for (size_t i = 0; i < count; i++)
        if (es_segment_view_communicator_count(es_run_segment(run, i)) > 0)
            return true;
    return false;
}

bool esi_ending_is_before_mpi(const struct es_run *run,
                              const struct es_segment_view *segment)
{
    return esi_segment_view_is_before_mpi(segment) && !has_left_init(run);
}

/* Counts the ranks whose calls are not seen.  The lowest rank is one of the launched
 * world: spawned worlds have higher ones. */
static void find_absent(const struct es_run *run, struct esi_ending *ending)
{
    enum { MOST_RANKS = 1 << 24 };
    size_t count = es_run_segment_count(run);
    bool has_left = has_left_init(run);
    struct es_segment_info info;
    int lowest = INT_MAX;

    for (size_t i = 0; i < count; i++) {
        es_segment_view_info(es_run_segment(run, i), &info);
        if (info.rank < 0 || info.rank >= lowest)
            continue;
        lowest = info.rank;
        ending->size =
            info.size > lowest && info.size <= MOST_RANKS ? (size_t)info.size : 0;
        if (removes_itself(run, &info))
            return;
    }
    size_t size = ending->size;
    bool *is_seen = size > 0 ? calloc(size, sizeof *is_seen) : NULL;

    for (size_t i = 0; is_seen && i < count; i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);

        es_segment_view_info(segment, &info);
        if (info.rank >= 0 && (size_t)info.rank < size)
            is_seen[info.rank] |= !has_left || !esi_segment_view_is_before_mpi(segment);
    }
    for (size_t i = size; is_seen && i-- > 0;)
        if (!is_seen[i]) {
            ending->absent++;
            ending->first_absent = (int)i;
        }
    free(is_seen);
}

bool esi_ending_scan(const char *name, struct esi_ending *ret_ending)
{
    struct esi_ending ending = {.segments = 0};
    struct es_segment_info best = {.rank = -1};
    const struct es_segment_view *first = NULL; /* the segment of `best` */
    struct es_run *run;
    size_t ended = 0;                   /* with the job, by the signal of `best` */
    bool is_killed[2] = {false, false}; /* some rank, by SIGTERM, by SIGKILL */
    char how[96];

    if (es_run_open(name, NULL, &run) < 0)
        return false;
    size_t count = es_run_segment_count(run);
    for (size_t i = 0; i < count; i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        bool before_mpi = esi_ending_is_before_mpi(run, segment);
        struct es_segment_info info;
        es_segment_view_info(segment, &info);
        if (info.kept || info.rank < 0)
            continue; /* not a process of the program */
        ending.segments++;
        ending.before_mpi += before_mpi;
        ending.alive += info.alive;
        ending.failed += ending_is_failure(&info);
        ending.killed += is_killed_by_launcher(&info);
        if (info.state == ES_PROCESS_KILLED && is_killed_by_launcher(&info))
            is_killed[info.signal == SIGKILL] = true;
        ending.alone += info.rank == 0 && info.size == 1 && !before_mpi;
        ending.is_first_unseen |=
            info.rank == 0 && !info.alive && info.ended_realtime_ns == 0;
        ended +=
            is_ended_with_job(&info) && (best.rank < 0 || info.signal == best.signal);
        if (may_have_failed(&info) && (best.rank < 0 || is_nearer(&info, &best))) {
            best = info;
            first = segment;
        }
    }
    if (ending.failed > 0) {
        if (best.state == ES_PROCESS_KILLED)
            ending.signal = best.signal;
        if (ending.signal == SIGTERM && is_killed[1])
            ending.other_signal = SIGKILL;
        if (ending.signal == SIGKILL && is_killed[0])
            ending.other_signal = SIGTERM;
        if (best.exit_code > 0)
            ending.exit_code = best.exit_code;
        ending.killed -= is_killed_by_launcher(&best);
        ending.together = ended > 1 && ended == ending.failed && ending.alive == 0;
        if (ending.together)
            snprintf(ending.first_failure, sizeof ending.first_failure,
                     "%s%zu ranks were %s", ended == ending.segments ? "all " : "",
                     ended, esi_ending_describe(&best, false, how, sizeof how));
        else
            describe_failure(first, &best, esi_ending_is_before_mpi(run, first),
                             ending.first_failure, sizeof ending.first_failure);
    }
    find_absent(run, &ending);
    es_run_close(run);
    if (ending.alone < 2 || ending.alone < ending.segments - ending.before_mpi)
        ending.alone = 0;
    *ret_ending = ending;
    return ending.segments > 0;
}

/* --- Watching ------------------------------------------------------------------ */

enum {
    FINAL = 255,
    /* Number of scans before a vanished process is reported: its watcher records
     * meanwhile how it ended. */
    SCANS = 2,
};

struct watched {
    const struct es_segment_view *segment; /* borrowed from the run */
    unsigned char gone;                    /* scans since it vanished, or FINAL */
};

struct esi_watch {
    struct es_run *run;
    char host[64];
    struct watched *items; /* owned; in the order of the run's segments */
    size_t count;
};

int esi_watch_create(struct esi_segment_set *segments,
                     const char *host,
                     struct esi_watch **ret_watch)
{
    struct esi_watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        return -ENOMEM;
    snprintf(watch->host, sizeof watch->host, "%s", host);
    int code = esi_run_open_shared(segments, false, NULL, &watch->run);
    if (code < 0) {
        free(watch);
        return code;
    }
    *ret_watch = watch;
    return 0;
}

void esi_watch_destroy(struct esi_watch *watch)
{
    if (!watch)
        return;
    es_run_close(watch->run);
    free(watch->items);
    free(watch);
}

static unsigned char find_gone(const struct esi_watch *watch,
                               size_t hint,
                               const struct es_segment_view *segment)
{
    /* The order seldom changes. */
    if (hint < watch->count && watch->items[hint].segment == segment)
        return watch->items[hint].gone;
    for (size_t i = 0; i < watch->count; i++)
        if (watch->items[i].segment == segment)
            return watch->items[i].gone;
    return 0;
}

/* Brings the list into the current order of the run's segments. */
static int follow_segments(struct esi_watch *watch)
{
    size_t count = es_run_segment_count(watch->run);
    struct watched *items = calloc(count + 1, sizeof *items);

    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        items[i].segment = es_run_segment(watch->run, i);
        items[i].gone = find_gone(watch, i, items[i].segment);
    }
    free(watch->items);
    watch->items = items;
    watch->count = count;
    return 0;
}

/* Returns true if the process lives. */
static bool scan_process(const struct esi_watch *watch,
                         struct watched *item,
                         void (*on_lost)(void *data, const struct esi_lost_rank *lost),
                         void *data)
{
    struct es_segment_info info;

    if (item->gone == FINAL)
        return false;
    es_segment_view_info(item->segment, &info);
    /* Segments of tuple servers are no processes; monitors do not keep a run alive. */
    if (info.kept || info.rank < 0 || strcmp(info.host, watch->host) != 0) {
        item->gone = FINAL;
        return false;
    }
    if (info.alive)
        return true;
    if (++item->gone < SCANS)
        return false;
    item->gone = FINAL;
    if (!esi_process_ended_well(info.state, info.exit_code)) {
        struct esi_lost_rank lost = {.rank = info.rank, .pid = info.pid};

        esi_ending_describe(&info, esi_ending_is_before_mpi(watch->run, item->segment),
                            lost.how, sizeof lost.how);
        on_lost(data, &lost);
    }
    return false;
}

int esi_watch_scan(struct esi_watch *watch,
                   void (*on_lost)(void *data, const struct esi_lost_rank *lost),
                   void *data)
{
    int alive = 0;

    /* A refresh that fails now can succeed later. */
    if (es_run_refresh(watch->run) >= 0)
        follow_segments(watch);
    for (size_t i = 0; i < watch->count; i++)
        alive += scan_process(watch, &watch->items[i], on_lost, data);
    return alive;
}
