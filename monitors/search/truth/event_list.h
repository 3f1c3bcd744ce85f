/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_list.h - growing arrays of events, which can be turned into sets. */
#ifndef ES_MONITORS_SEARCH_TRUTH_EVENT_LIST_H
#define ES_MONITORS_SEARCH_TRUTH_EVENT_LIST_H

#include <stddef.h>

#include "eventspace/event.h"

/* {0} is empty.  Set `count` to 0 to reuse the memory. */
struct esi_event_list {
    struct es_event_id *events; /* owned */
    size_t count;
    size_t capacity;
};

void esi_event_list_fini(struct esi_event_list *list);

/* Append events.  Return 0, or -ENOMEM with the list unchanged. */
int esi_event_list_push(struct esi_event_list *list, struct es_event_id event);
int esi_event_list_add(struct esi_event_list *list,
                       const struct es_event_id *events,
                       size_t count);

/* Turns the list into a set: sorted by trace and index, without duplicates. */
void esi_event_list_sort(struct esi_event_list *list);

#endif
