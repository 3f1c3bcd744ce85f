/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* time_link.h - which operations belong together, for the time repair. */
#ifndef ES_MONITORS_EVENTS_TIME_LINK_H
#define ES_MONITORS_EVENTS_TIME_LINK_H

#include "monitors/follow/ends.h"
#include "monitors/follow/thread_state.h"
#include "monitors/run/run_model.h"

enum esi_match_kind {
    ES_MATCH_MESSAGE = 1,
    ES_MATCH_COLLECTIVE,
    ES_MATCH_EDGE_UP, /* of a collective tree */
    ES_MATCH_EDGE_DOWN,
};

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
