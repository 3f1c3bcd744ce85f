/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Output: fills events from the items that wait in threads and passes them to the
 * sink. */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_EVENT_H
#define ES_MONITORS_CAUSALITY_CAUSAL_EVENT_H

#include "monitors/causality/causal_thread.h"
#include "monitors/eventset/set_texts.h"

struct esi_type_names {
    char *enter;
    char *exit;
    char *open;
};

struct esi_causal_output {
    struct esi_type_names *types; /* by operation code */
    struct esi_texts names;       /* names of the traces of communicators */
    struct es_event_id *partners; /* of the event under construction */
    struct esi_edge *edges;
    size_t partner_room;
};

/* The result of trying to emit an event. */
enum esi_outcome { ESI_WAITS = 0, ESI_WAS_GIVEN = 1 };

/* Returns 0 or -ENOMEM. */
int esi_output_init(struct esi_causal_output *output);
void esi_output_fini(struct esi_causal_output *output);
/* Makes room for `count` partners.  Returns 0 or -ENOMEM. */
int esi_output_reserve(struct esi_causal_output *output, size_t count);

static inline void esi_output_add(struct esi_causal_output *output,
                                  size_t number,
                                  const struct esi_emitted *partner)
{
    output->partners[number] = partner->id;
    output->edges[number] = partner->edge;
}

/* Adds a trace. */
int esi_trace_add(struct esi_causality *causality,
                  const char *name,
                  uint32_t *ret_trace);
/* Emits an event of a thread, with the collected partners.  Returns the result of the
 * sink, like the other functions. */
int esi_event_give(struct esi_causality *causality,
                   const struct esi_placed *placed,
                   enum es_event_kind kind,
                   size_t partner_count,
                   struct esi_emitted *ret_emitted);
/* Emits an event without dependencies in either direction.  Returns ESI_WAS_GIVEN. */
int esi_event_give_unary(struct esi_causality *causality,
                         const struct esi_placed *placed);
/* Emits both halves of a sync. */
int esi_event_give_sync(struct esi_causality *causality,
                        const struct esi_placed *send,
                        const struct esi_placed *receive);
/* Emits the `join` (a receive of the collected partners) and the `release` of an
 * all-to-all instance. */
int esi_event_give_junction(struct esi_causality *causality,
                            struct esi_instance *instance,
                            size_t partner_count);

#endif
