/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_list.h - events side by side, as many as come; and sets of events made of them.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_EVENT_LIST_H
#define ES_MONITORS_SEARCH_TRUTH_EVENT_LIST_H

#include <stddef.h>

#include "monitors/eventset/event.h"

/* {0} is empty.  To use its memory again set `count` to 0. */
struct es_event_list {
    struct es_event_id *events; /* owned */
    size_t count;
    size_t capacity;
};

void es_event_list_fini(struct es_event_list *list);

/* At the end.  0 or -ENOMEM: the list is as it was. */
int es_event_list_push(struct es_event_list *list, struct es_event_id event);
int es_event_list_add(struct es_event_list *list,
                      const struct es_event_id *events,
                      size_t count);

/* Makes a set of it: sorted by trace and index, each event once. */
void es_event_list_sort(struct es_event_list *list);

#endif
