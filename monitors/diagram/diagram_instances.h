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
    uint64_t count; /* including replaced ones */
    int result;     /* the error of the last insertions */
};
enum { ESI_DIAGRAM_INSTANCES = 1 << 16 };

/* Returns 0 or -ENOMEM. */
int esi_diagram_instances_init(struct esi_diagram *diagram);
void esi_diagram_instances_fini(struct esi_diagram *diagram);
/* Adds the exit of a row from a collective operation whose enter was added. */
int esi_diagram_instances_leave(struct esi_diagram *diagram,
                                uint32_t row,
                                const struct esi_causal_call *exit);

#endif
