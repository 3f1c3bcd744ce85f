/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * successors.c - immediate successors on other traces.
 *
 * The halves a and b of a sync are one event in relation to all others, yet neither
 * precedes the other.  So b succeeds the event before a, and the event after b succeeds
 * a - together with its own other half, if it is a sync, too.
 */
#include "config.h"

#include "monitors/search/thesis/successors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/lower_bound.h"
#include "monitors/search/domains/precedence.h"

/* The latest event of a trace. */
struct last {
    bool is_sync;
    struct es_event_id other;
};

struct esi_successors {
    struct esi_successor *rows;
    size_t count, capacity;
    struct last *last; /* by trace; only while events arrive */
    size_t traces, trace_capacity;
    bool has_half; /* `half`, the first half of a sync, has arrived */
    struct es_event_id half;
};

int esi_successors_create(struct esi_successors **ret_successors)
{
    struct esi_successors *successors = calloc(1, sizeof *successors);

    if (!successors)
        return -ENOMEM;
    *ret_successors = successors;
    return 0;
}

void esi_successors_destroy(struct esi_successors *successors)
{
    if (!successors)
        return;
    free(successors->rows);
    free(successors->last);
    free(successors);
}

static int add_row(struct esi_successors *successors,
                   struct es_event_id from,
                   struct es_event_id to)
{
    if (ESI_ARRAY_RESERVE(successors->rows, successors->capacity,
                          successors->count + 1) < 0)
        return -ENOMEM;
    successors->rows[successors->count++] = (struct esi_successor){from, to};
    return 0;
}

static int add_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_successors *successors = data;

    (void)name;
    if (ESI_ARRAY_RESERVE(successors->last, successors->trace_capacity,
                          (size_t)trace + 1) < 0)
        return -ENOMEM;
    successors->last[trace] = (struct last){.is_sync = false};
    successors->traces = (size_t)trace + 1;
    return 0;
}

static struct es_event_id successor_at(struct es_event_id id, int steps)
{
    return (struct es_event_id){id.trace, (uint32_t)(id.index + (int64_t)steps)};
}

/* Adds the successors of `a`, and of the event before it, due to a sync of `a` with
 * `b`. */
static int add_half(struct esi_successors *successors,
                    struct es_event_id a,
                    struct es_event_id b)
{
    struct last before = successors->last[a.trace];
    int result = add_row(successors, a, successor_at(b, 1));

    if (result == 0 && a.index > 1)
        result = add_row(successors, successor_at(a, -1), b);
    if (result == 0 && before.is_sync)
        result = add_row(successors, before.other, b);
    return result;
}

static int add_sync(struct esi_successors *successors,
                    struct es_event_id a,
                    struct es_event_id b)
{
    int result = add_half(successors, a, b);

    if (result == 0)
        result = add_half(successors, b, a);
    successors->last[a.trace] = (struct last){true, b};
    successors->last[b.trace] = (struct last){true, a};
    return result;
}

static int add_event(void *data, const struct es_set_event *event)
{
    struct esi_successors *successors = data;

    if (event->id.trace >= successors->traces)
        return -EINVAL;
    if (event->kind == ES_EVENT_SYNC) {
        successors->has_half = !successors->has_half;
        if (!successors->has_half)
            return add_sync(successors, successors->half, event->id);
        successors->half = event->id;
        return 0;
    }
    for (uint32_t i = 0; i < event->partner_count; i++) {
        int result = add_row(successors, event->partners[i], event->id);

        if (result < 0)
            return result;
    }
    successors->last[event->id.trace].is_sync = false;
    return 0;
}

struct es_set_sink esi_successors_sink(struct esi_successors *successors)
{
    return (struct es_set_sink){add_trace, add_event, successors};
}

static int compare_rows(const void *a, const void *b)
{
    const struct esi_successor *x = a, *y = b;
    int order = esi_event_compare(x->from, y->from);

    return order ? order : esi_event_compare(x->to, y->to);
}

void esi_successors_finish(struct esi_successors *successors)
{
    if (successors->count)
        qsort(successors->rows, successors->count, sizeof *successors->rows,
              compare_rows);
    free(successors->last);
    successors->last = NULL;
    successors->traces = successors->trace_capacity = 0;
}

const struct esi_successor *esi_successors_rows(const struct esi_successors *successors,
                                                size_t *ret_count)
{
    *ret_count = successors->count;
    return successors->rows;
}

static bool is_from_before(const void *row, const void *event)
{
    return esi_event_compare(((const struct esi_successor *)row)->from,
                             *(const struct es_event_id *)event) < 0;
}

size_t esi_successors_from(const struct esi_successors *successors,
                           struct es_event_id event)
{
    return esi_lower_bound(successors->rows, successors->count,
                           sizeof *successors->rows, is_from_before, &event);
}
