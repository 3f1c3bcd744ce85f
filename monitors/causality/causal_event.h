/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What goes to the sink: events, filled from what waits in threads. */
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
    struct esi_texts names;       /* of traces of communicators */
    struct es_event_id *partners; /* of the event that is being made */
    size_t partner_room;
};

/* What giving an event comes to. */
enum esi_outcome { ESI_WAITS = 0, ESI_WAS_GIVEN = 1 };

/* 0 or -ENOMEM. */
int esi_output_init(struct esi_causal_output *output);
void esi_output_fini(struct esi_causal_output *output);
/* Room for so many partners.  0 or -ENOMEM. */
int esi_output_reserve(struct esi_causal_output *output, size_t count);

/* Gives an event of a thread.  Partners are those collected.  What the sink returned,
 * as of the others. */
int esi_event_give(struct esi_causality *causality,
                   const struct esi_placed *placed,
                   enum es_event_kind kind,
                   size_t partner_count,
                   struct es_event_id *ret_id);
/* Gives one that depends on none and on which none depends: ESI_WAS_GIVEN. */
int esi_event_give_unary(struct esi_causality *causality,
                         const struct esi_placed *placed);
/* Gives both halves of a sync. */
int esi_event_give_sync(struct esi_causality *causality,
                        const struct esi_placed *send,
                        const struct esi_placed *receive);
/* The `join` (a receive of the partners collected) and the `release` of an all-to-all
 * instance. */
int esi_event_give_junction(struct esi_causality *causality,
                            struct esi_instance *instance,
                            size_t partner_count);

#endif
