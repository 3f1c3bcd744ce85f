/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* events_repair.c - finds processes and communicators of events, and holds events while
 * the repair waits. */
#include "config.h"

#include "monitors/events/events_repair.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/now.h"
#include "monitors/run/run_follow.h"

#define DEFAULT_WINDOW_NS UINT64_C(10000000)
/* Minimum duration of a message, so that its receive differs from the send. */
#define LATENCY_NS 1

struct esi_events_repair {
    struct esi_events_repair_config config;
    struct esi_time_repair *repair;
    struct esi_run_model run; /* all elements of a process have one clock */
    uint64_t newest_ns;       /* newest event added */
    uint64_t marked_ns;       /* CLOCK_MONOTONIC when */
    uint64_t mark_ns;         /* this was the newest event */
};

static int emit_timed(void *data, const struct esi_timed *timed, void *payload)
{
    const struct esi_events_repair *repair = data;
    struct esi_event *event = payload;

    /* Origins may have moved meanwhile. */
    event->origin = es_scope_origin(esi_follower_scope(repair->config.follower),
                                    event->activity.origin);
    event->activity.start_ns = timed->start_ns;
    event->activity.stop_ns = timed->stop_ns;
    return repair->config.give(repair->config.data, event);
}

int esi_events_repair_create(const struct esi_events_repair_config *config,
                             struct esi_events_repair **ret_repair)
{
    struct esi_events_repair *repair = calloc(1, sizeof *repair);
    struct esi_time_repair_config settings = {
        .mode = config->mode,
        .latency_ns = LATENCY_NS,
        .payload_bytes = sizeof(struct esi_event),
        .sorted = config->sorting == ES_SORTING_STOP,
        .give = emit_timed,
        .data = repair,
    };
    int result;

    if (!repair)
        return -ENOMEM;
    repair->config = *config;
    if (repair->config.window_ns == 0)
        repair->config.window_ns = DEFAULT_WINDOW_NS;
    /* Unsorted, an element is read completely before the next: a match may be far
     * away. */
    settings.window_ns =
        config->sorting == ES_SORTING_NONE ? UINT64_MAX : repair->config.window_ns;
    repair->marked_ns = esi_now_ns(CLOCK_MONOTONIC);
    result = esi_time_repair_create(&settings, &repair->repair);
    if (result < 0) {
        esi_events_repair_destroy(repair);
        return result;
    }
    *ret_repair = repair;
    return 0;
}

void esi_events_repair_destroy(struct esi_events_repair *repair)
{
    if (!repair)
        return;
    esi_time_repair_destroy(repair->repair);
    esi_run_model_fini(&repair->run);
    free(repair);
}

int esi_events_repair_add(struct esi_events_repair *repair,
                          const struct esi_event *event)
{
    const struct esi_activity *activity = &event->activity;
    struct esi_timed timed = {.start_ns = activity->start_ns,
                              .stop_ns = activity->stop_ns,
                              .error_ns = activity->error_ns};
    struct esi_run_process *process;
    int result = esi_run_follow_process(&repair->run, event->origin, &process);

    if (result == 0 && !esi_run_member(process, activity->communicator_index))
        result = esi_run_follow_communicator(&repair->run, repair->config.follower,
                                             activity->origin, process,
                                             activity->communicator_index, false);
    if (result < 0)
        return result;
    timed.process = process->number;
    esi_time_link_read(process, activity, &timed.link);
    if (timed.stop_ns > repair->newest_ns)
        repair->newest_ns = timed.stop_ns;
    result = esi_time_repair_add(repair->repair, &timed, event);
    /* Invalid events are not repaired but passed on. */
    return result == -EINVAL ? repair->config.give(repair->config.data, event) : result;
}

int esi_events_repair_rest(struct esi_events_repair *repair)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    if (repair->config.sorting == ES_SORTING_NONE)
        return esi_time_repair_finish(repair->repair);
    if (now_ns - repair->marked_ns < repair->config.window_ns)
        return 0;
    result = esi_time_repair_expire(repair->repair, repair->mark_ns);
    repair->marked_ns = now_ns;
    repair->mark_ns = repair->newest_ns;
    return result;
}

int esi_events_repair_finish(struct esi_events_repair *repair)
{
    return esi_time_repair_finish(repair->repair);
}

void esi_events_repair_totals(const struct esi_events_repair *repair,
                              struct esi_time_repair_totals *ret_totals)
{
    esi_time_repair_totals(repair->repair, ret_totals);
}
