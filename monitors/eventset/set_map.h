/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A table from events to numbers, open-addressed.
 */
#ifndef ES_MONITORS_EVENTSET_SET_MAP_H
#define ES_MONITORS_EVENTSET_SET_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/eventset/event.h"

struct esi_set_map_slot {
    struct es_event_id id; /* index 0: the slot is free */
    uint32_t value;
};

/* Zeros are an empty table; the fields are private. */
struct esi_set_map {
    struct esi_set_map_slot *slots;
    size_t capacity; /* a power of two */
    size_t count;
};

void esi_set_map_fini(struct esi_set_map *map);

/* The value of an event; NULL: it is not in the table.  Borrowed until the next
 * change. */
uint32_t *esi_set_map_find(const struct esi_set_map *map, struct es_event_id id);
/* The same, with `value` put in where there is none.  NULL: no memory. */
uint32_t *esi_set_map_add(struct esi_set_map *map,
                          struct es_event_id id,
                          uint32_t value);
/* Takes an event out, if it is in. */
void esi_set_map_remove(struct esi_set_map *map, struct es_event_id id);

#endif
