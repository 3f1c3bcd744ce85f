/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Bounded memory: old sealed parts are spilled to a file or forgotten (docs/epochs.md,
 * "Bounded memory").
 *
 * An *era* consists of what was sealed while one pair of arenas was in use.  If the
 * memory held leaves no room for another era, the oldest era is written to the file,
 * where its addresses stay the same, or dropped together with all events that had been
 * appended by its end.
 *
 *   call                         may run concurrently with
 *   esi_memory_enter, _leave     all others
 *   esi_memory_statistics        all others
 *   others                       not with each other; for the writer
 *
 * Neither readers nor the writer wait.  Readers are counted; dropped memory is freed
 * when all readers that may have seen it have left.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_MEMORY_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_MEMORY_H

#include "monitors/order/order.h"

struct esi_memory;
struct esi_epoch_store;

/* Sets *ret_memory to NULL if the configuration has no limit.  Returns 0, -ENOMEM, or
 * another negative errno with a message if the folder is not writable. */
int esi_memory_create(const struct esi_order_config *config,
                      struct es_error *error,
                      struct esi_memory **ret_memory);
/* Also frees all eras.  Accepts NULL. */
void esi_memory_destroy(struct esi_memory *memory);

/* Called before an append: ends the present era if it is long enough, and makes
 * room. */
void esi_memory_tend(struct esi_epoch_store *store);

/* Begins a query; the result is the argument of esi_memory_leave().  Until then, events
 * that are not forgotten stay readable. */
unsigned esi_memory_enter(struct esi_memory *memory);
void esi_memory_leave(struct esi_memory *memory, unsigned side);

void esi_memory_statistics(const struct esi_memory *memory,
                           struct esi_order_statistics *statistics);

#endif
