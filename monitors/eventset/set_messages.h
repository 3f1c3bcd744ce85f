/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What became of the messages of an ordered stream (event.h): how many were matched,
 * and which ends have no other one.
 *
 *   struct esi_set_messages messages = {.count = 0};
 *   stream events into esi_set_messages_sink(&messages);
 *   esi_set_messages_foreach_unmatched(&messages, true, call, data);
 *   esi_set_messages_fini(&messages);
 *
 * Collective operations are drawn with sends and receives, too (docs/event-sets.md);
 * these are no messages here.  One byte an event.  One thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_MESSAGES_H
#define ES_MONITORS_EVENTSET_SET_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

/* What became of the events of a trace. */
struct esi_trace_messages {
    char *ends; /* by index, from 0 */
    size_t capacity;
    uint32_t count;
    bool is_of_collectives;
};

/* Caller's memory, all zeros at first. */
struct esi_set_messages {
    struct esi_trace_messages *traces;
    size_t capacity;
    uint32_t count;
    uint64_t matched;            /* pairs of a send and a receive, and syncs */
    uint64_t unmatched_sends;    /* that no receive named */
    uint64_t unmatched_receives; /* that name no send */
};

void esi_set_messages_fini(struct esi_set_messages *messages);

/* Its calls give -ENOMEM. */
struct es_set_sink esi_set_messages_sink(struct esi_set_messages *messages);

/* Sends that are unmatched, or receives, by trace and index, until a call gives false.
 */
void esi_set_messages_foreach_unmatched(const struct esi_set_messages *messages,
                                        bool sends,
                                        bool (*call)(void *data, struct es_event_id id),
                                        void *data);

#endif
