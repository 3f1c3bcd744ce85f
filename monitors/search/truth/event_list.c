/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_list.c - growing arrays of events. */
#include "config.h"

#include "monitors/search/truth/event_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/domains/precedence.h"

/* Lists up to this length are sorted by insertion, which is faster for them. */
enum { FEW = 24 };

void esi_event_list_fini(struct esi_event_list *list)
{
    free(list->events);
    *list = (struct esi_event_list){.events = NULL};
}

int esi_event_list_push(struct esi_event_list *list, struct es_event_id event)
{
    return esi_event_list_add(list, &event, 1);
}

int esi_event_list_add(struct esi_event_list *list,
                       const struct es_event_id *events,
                       size_t count)
{
    if (ESI_ARRAY_RESERVE(list->events, list->capacity, list->count + count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        list->events[list->count++] = events[i];
    return 0;
}

static int compare_events(const void *left, const void *right)
{
    return esi_event_compare(*(const struct es_event_id *)left,
                             *(const struct es_event_id *)right);
}

static void insertion_sort(struct es_event_id *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct es_event_id event = events[i];
        size_t at = i;

        for (; at > 0 && esi_event_compare(event, events[at - 1]) < 0; at--)
            events[at] = events[at - 1];
        events[at] = event;
    }
}

void esi_event_list_sort(struct esi_event_list *list)
{
    size_t kept = 0;

    if (list->count <= FEW)
        insertion_sort(list->events, list->count);
    else
        qsort(list->events, list->count, sizeof *list->events, compare_events);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || !esi_event_is(list->events[kept - 1], list->events[i]))
            list->events[kept++] = list->events[i];
    list->count = kept;
}
