/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_prepare.h - what `eventspace order` must know of a whole event set before it
 * can begin: who communicates with whom, and on which hosts traces are. */
#ifndef ES_CLI_ORDER_PREPARE_H
#define ES_CLI_ORDER_PREPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/event_source.h"
#include "monitors/order/cluster/communications.h"

struct esi_order_knowledge {
    struct esi_communications *communications; /* NULL: was not asked for */
    uint32_t *seeds;                           /* of each trace: the same on one host */
    size_t seed_count;                         /* 0: was not asked for */
};

/* Reads all of `source`, so that it can be read again.  0, or the exit status after the
 * message.  To be ended with _fini in each case. */
int esi_order_prepare(struct esi_event_source *source,
                      bool communications,
                      bool hosts,
                      struct esi_order_knowledge *ret_knowledge);
void esi_order_knowledge_fini(struct esi_order_knowledge *knowledge);

#endif
