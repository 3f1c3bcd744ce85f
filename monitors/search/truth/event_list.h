/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_list.h - events side by side, as many as come; and sets of events made of them.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_EVENT_LIST_H
#define ES_MONITORS_SEARCH_TRUTH_EVENT_LIST_H

#include <stddef.h>

#include "eventspace/event.h"

/* {0} is empty.  To use its memory again set `count` to 0. */
struct esi_event_list {
    struct es_event_id *events; /* owned */
    size_t count;
    size_t capacity;
};

void esi_event_list_fini(struct esi_event_list *list);

/* At the end.  0 or -ENOMEM: the list is as it was. */
int esi_event_list_push(struct esi_event_list *list, struct es_event_id event);
int esi_event_list_add(struct esi_event_list *list,
                       const struct es_event_id *events,
                       size_t count);

/* Makes a set of it: sorted by trace and index, each event once. */
void esi_event_list_sort(struct esi_event_list *list);

#endif
