/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The state shared by the files of causality (docs/event-sets.md). */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_PRIVATE_H
#define ES_MONITORS_CAUSALITY_CAUSAL_PRIVATE_H

#include "base/pool.h"
#include "monitors/causality/causal_collective.h"
#include "monitors/causality/causal_event.h"
#include "monitors/causality/causal_message.h"
#include "monitors/causality/causal_thread.h"
#include "monitors/causality/causality.h"

struct esi_causality {
    struct esi_causality_config config;
    struct esi_causality_totals totals;
    struct esi_run_model *run; /* owned */
    struct esi_element **elements;
    size_t element_count;
    size_t element_room;
    struct esi_causal_thread **threads; /* by number */
    size_t thread_count;
    size_t thread_room;
    uint32_t trace_count;
    bool finished;
    uint64_t settles;
    uint64_t newest_ns;  /* of what was read */
    uint64_t settled_ns; /* newest_ns at the end of the previous reading */
    struct esi_causal_thread *runnable;
    struct esi_pool items;          /* of struct esi_item */
    struct esi_series_set **series; /* by number of the communicator; NULL = none */
    size_t series_count, series_capacity;
    struct esi_ends instances; /* of collective operations */
    uint64_t instance_count;   /* that have ever begun */
    struct esi_messages messages;
    struct esi_causal_output output;
};

#endif
