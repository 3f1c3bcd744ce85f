/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_instances.h - the judged collective operations of the diagram. */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_INSTANCES_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_INSTANCES_H

#include "monitors/collectives/collectives.h"
#include "monitors/diagram/diagram.h"

/* A ring; new operations replace the oldest. */
struct esi_diagram_instances {
    struct esi_collectives *analysis; /* owned */
    struct esi_diagram_instance
        *items; /* owned; number & (ESI_DIAGRAM_INSTANCES - 1) */
    size_t capacity;
    uint64_t count;                           /* including replaced ones */
    const struct esi_causal_instance *judged; /* the last one; borrowed for the call */
    int result;                               /* of its insertion */
};
enum { ESI_DIAGRAM_INSTANCES = 1 << 16 };

/* Returns 0 or -ENOMEM. */
int esi_diagram_instances_init(struct esi_diagram *diagram);
void esi_diagram_instances_fini(struct esi_diagram *diagram);
/* For the listener; the events of the members' exits were added. */
int esi_diagram_take_instance(void *data, const struct esi_causal_instance *instance);

#endif
