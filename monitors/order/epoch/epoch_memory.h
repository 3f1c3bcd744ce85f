/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Bounded memory: what was sealed early is spilled or forgotten
 * (docs/epochs.md, "Bounded memory").
 *
 * An *era* is what was sealed while one pair of arenas was in use.  When so much is
 * held that the next era would not fit, the oldest goes: to the file, where its
 * addresses stay the same, or away with all events that had been appended when it
 * ended.
 *
 *   call                         may run together with
 *   esi_memory_enter, _leave     all others
 *   esi_memory_statistics        all others
 *   others                       not with each other: the writer's
 *
 * Neither readers nor the writer wait.  Readers are counted; what goes away is freed
 * when each of them has left who may have seen it.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_MEMORY_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_MEMORY_H

#include "monitors/order/order.h"

struct esi_memory;
struct esi_epoch_store;

/* NULL in ret_memory where the configuration has no limit.  -ENOMEM; else the folder
 * cannot be written to, in words. */
int esi_memory_create(const struct esi_order_config *config,
                      struct es_error *error,
                      struct esi_memory **ret_memory);
/* Frees all eras, too.  Accepts NULL. */
void esi_memory_destroy(struct esi_memory *memory);

/* Before something is appended: ends an era that is long, and makes room. */
void esi_memory_tend(struct esi_epoch_store *store);

/* Begins a question; what it returns is for esi_memory_leave().  Then events that are
 * not forgotten stay readable until that. */
unsigned esi_memory_enter(struct esi_memory *memory);
void esi_memory_leave(struct esi_memory *memory, unsigned side);

void esi_memory_statistics(const struct esi_memory *memory,
                           struct esi_order_statistics *statistics);

#endif
