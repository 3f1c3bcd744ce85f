/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Counts the messages of an ordered stream (event.h) that were matched, and finds the
 * sends and receives that were not.
 *
 *   struct esi_set_messages messages = {.count = 0};
 *   stream events into esi_set_messages_sink(&messages);
 *   esi_set_messages_foreach_unmatched(&messages, true, call, data);
 *   esi_set_messages_fini(&messages);
 *
 * Collective operations also consist of sends and receives (docs/event-sets.md), which
 * are not counted as messages.  One byte per event.  One thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_MESSAGES_H
#define ES_MONITORS_EVENTSET_SET_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

/* The state of the events of a trace. */
struct esi_trace_messages {
    char *ends; /* by index, from 0 */
    size_t capacity;
    uint32_t count;
    bool is_of_collectives;
};

/* Caller's memory, initially all zero. */
struct esi_set_messages {
    struct esi_trace_messages *traces;
    size_t capacity;
    uint32_t count;
    uint64_t matched;            /* pairs of a send and a receive, and syncs */
    uint64_t unmatched_sends;    /* not named by any receive */
    uint64_t unmatched_receives; /* that name no send */
};

void esi_set_messages_fini(struct esi_set_messages *messages);

/* Its calls return 0 or -ENOMEM. */
struct es_set_sink esi_set_messages_sink(struct esi_set_messages *messages);

/* Calls `call` for each unmatched send or receive, by trace and index, until it returns
 * false. */
void esi_set_messages_foreach_unmatched(const struct esi_set_messages *messages,
                                        bool sends,
                                        bool (*call)(void *data, struct es_event_id id),
                                        void *data);

#endif
