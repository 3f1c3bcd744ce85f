/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_line_private.h - room for what a line holds, shared by both ways to read it.
 */
#ifndef ES_MONITORS_EVENTSET_SET_LINE_PRIVATE_H
#define ES_MONITORS_EVENTSET_SET_LINE_PRIVATE_H

#include <stdbool.h>

#include "monitors/eventset/set_line.h"

struct esi_line_room {
    struct es_event_id *partners;
    size_t partner_count;
    size_t partner_capacity;
    struct es_event_attribute *attributes;
    size_t attribute_count;
    size_t attribute_capacity;
};

/* 0 or -ENOMEM. */
int esi_line_add_partner(struct esi_line_room *room, struct es_event_id partner);
/* A value that is a number as it would be written is kept as one. */
int esi_line_add_attribute(struct esi_line_room *room,
                           const char *name,
                           const char *value,
                           size_t length);

/* The kind with this name; false: none. */
bool esi_line_find_kind(const char *name, size_t length, enum es_event_kind *ret_kind);

/* Gives the event, with the room's partners and attributes in it. */
void esi_line_complete(const struct esi_line_room *room, struct es_set_event *event);

/* Reads the lines that event sets mostly consist of, without building anything: known
 * members only, each once, strings without escapes.  1: *ret_event is the event; 0: not
 * such a line, and `text` is as it was; -ENOMEM. */
int esi_line_scan(struct esi_line_room *room,
                  char *text,
                  size_t length,
                  struct es_set_event *ret_event);

#endif
