/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* time_link.h - which operations belong together, for the time repair. */
#ifndef ES_MONITORS_EVENTS_TIME_LINK_H
#define ES_MONITORS_EVENTS_TIME_LINK_H

#include "monitors/causality/causal_message.h"
#include "monitors/follow/thread_state.h"

/* The kind of the key of a collective operation; those of messages have an enum
 * esi_message_kind. */
enum { ES_TIME_COLLECTIVE = ESI_EPOCH_COMPLETE + 1 };

/* The roles of an operation in its match, as bits. */
enum esi_time_end {
    ES_TIME_BEFORE = 1, /* its start precedes the others' stops */
    ES_TIME_AFTER = 2,  /* its stop follows the others' starts */
};

struct esi_time_link {
    struct esi_ends_key key; /* kind 0 = the operation has no match */
    unsigned ends;           /* bits of enum esi_time_end */
    uint32_t members;        /* number of ends; 2 for a message */
    uint32_t befores;        /* of these, with ES_TIME_BEFORE; 1 for a message */
};

/* Determines the match of an operation of a process.  An operation that need not make
 * anybody wait, such as a broadcast of no data, has none. */
void esi_time_link_read(const struct esi_run_process *process,
                        const struct esi_activity *activity,
                        struct esi_time_link *ret_link);

#endif
