/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Output: fills events from the items that wait in threads and passes them to the
 * sink. */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_EVENT_H
#define ES_MONITORS_CAUSALITY_CAUSAL_EVENT_H

#include "monitors/causality/causal_collective.h"
#include "monitors/eventset/set_texts.h"

struct esi_type_names {
    char *enter;
    char *exit;
    char *open;
};

struct esi_causal_output {
    const struct esi_causality_config *config; /* borrowed, like the next */
    struct esi_matching *matching;
    struct esi_type_names *types; /* by operation code */
    struct esi_texts names;       /* names of the traces of communicators */
    uint32_t trace_count;
};

/* Returns 0 or -ENOMEM. */
int esi_output_init(struct esi_causal_output *output,
                    const struct esi_causality_config *config,
                    struct esi_matching *matching);
void esi_output_fini(struct esi_causal_output *output);

/* Adds a trace. */
int esi_trace_add(struct esi_causal_output *output,
                  const char *name,
                  uint32_t *ret_trace);
/* Emits an event of a thread; a receive names the collected partners.  Returns the
 * result of the sink, like the other functions. */
int esi_event_emit(struct esi_causal_output *output,
                   const struct esi_placed *placed,
                   enum es_event_kind kind,
                   struct esi_emitted *ret_emitted);
/* Emits both halves of a sync. */
int esi_event_emit_sync(struct esi_causal_output *output,
                        const struct esi_placed *send,
                        const struct esi_placed *receive);
/* Emits the `join` (a receive of the collected partners) and the `release` of an
 * all-to-all instance. */
int esi_event_emit_junction(struct esi_causal_output *output,
                            struct esi_instance *instance);

#endif
