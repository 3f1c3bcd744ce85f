/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* events_repair.c - numbers processes, and holds events while the repair waits. */
#include "config.h"

#include "monitors/events/events_repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "scopes/origin_process.h"

#define DEFAULT_WINDOW_NS UINT64_C(10000000)
/* Minimum duration of a message, so that its receive differs from the send. */
#define LATENCY_NS 1

struct esi_events_repair {
    struct esi_events_repair_config config;
    struct esi_time_repair *repair;
    uint32_t *processes; /* owned; per origin: process number plus one; 0 = not known
                            yet */
    size_t process_count;
    uint32_t known;     /* number of processes */
    uint64_t newest_ns; /* newest event added */
    uint64_t marked_ns; /* CLOCK_MONOTONIC when */
    uint64_t mark_ns;   /* this was the newest event */
};

/* Number of members of a collective's communicator; 0 if not known, as for two
 * groups. */
static int size_of(const struct esi_events_repair *repair,
                   const struct esi_activity *activity)
{
    const struct es_operation *operation = es_operation_find(activity->operation);
    struct es_communicator_info info;

    if (!operation || operation->op_class != ES_CLASS_COLLECTIVE ||
        es_scope_communicator(repair->config.scope, activity->origin,
                              activity->communicator_index, &info) < 0)
        return 0;
    return info.remote_size == 0 ? info.size : 0;
}

/* --- Processes ----------------------------------------------------------------- */

static int grow_processes(struct esi_events_repair *repair, uint32_t origin)
{
    size_t count = repair->process_count;

    if (ESI_ARRAY_RESERVE(repair->processes, repair->process_count,
                          (size_t)origin + 1) < 0)
        return -ENOMEM;
    memset(repair->processes + count, 0,
           (repair->process_count - count) * sizeof *repair->processes);
    return 0;
}

/* The process number of an origin.  All elements of a process have one clock. */
static int find_process(struct esi_events_repair *repair,
                        uint32_t index,
                        uint32_t *ret_process)
{
    const struct es_scope *scope = repair->config.scope;
    const struct es_origin *origin = es_scope_origin(scope, index);

    if (index >= repair->process_count && grow_processes(repair, index) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < repair->process_count && !repair->processes[index]; i++) {
        const struct es_origin *other;

        if (!repair->processes[i])
            continue;
        other = es_scope_origin(scope, i);
        if (esi_origin_is_same_process(other, origin))
            repair->processes[index] = repair->processes[i];
    }
    if (!repair->processes[index])
        repair->processes[index] = ++repair->known;
    *ret_process = repair->processes[index] - 1;
    return 0;
}

/* --- The stream ------------------------------------------------------------------ */

static int emit_timed(void *data, const struct esi_timed *timed, void *payload)
{
    const struct esi_events_repair *repair = data;
    struct esi_event *event = payload;

    /* Origins may have moved meanwhile. */
    event->origin = es_scope_origin(repair->config.scope, event->activity.origin);
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
    free(repair->processes);
    free(repair);
}

int esi_events_repair_add(struct esi_events_repair *repair,
                          const struct esi_event *event)
{
    const struct esi_activity *activity = &event->activity;
    struct esi_timed timed = {.start_ns = activity->start_ns,
                              .stop_ns = activity->stop_ns,
                              .error_ns = activity->error_ns};
    int result = find_process(repair, activity->origin, &timed.process);

    if (result < 0)
        return result;
    esi_time_link_read(activity, event->origin->rank, size_of(repair, activity),
                       &timed.link);
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
