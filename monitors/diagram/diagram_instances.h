/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_instances.h - collective operations of the diagram that were judged. */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_INSTANCES_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_INSTANCES_H

#include "monitors/collectives/collectives.h"
#include "monitors/diagram/diagram.h"

/* Those at the end are the newest, and the oldest are replaced. */
struct esi_diagram_instances {
    struct esi_collectives *analysis; /* owned */
    struct esi_diagram_instance
        *items; /* owned; number & (ESI_DIAGRAM_INSTANCES - 1) */
    size_t capacity;
    uint64_t count; /* also those that were replaced */
    int result;     /* of keeping the last ones */
};
enum { ESI_DIAGRAM_INSTANCES = 1 << 16 };

/* 0 or -ENOMEM. */
int esi_diagram_instances_init(struct esi_diagram *diagram);
void esi_diagram_instances_fini(struct esi_diagram *diagram);
/* The exit of a row from a collective operation, whose enter was taken. */
int esi_diagram_instances_leave(struct esi_diagram *diagram,
                                uint32_t row,
                                const struct esi_causal_call *exit);

#endif
