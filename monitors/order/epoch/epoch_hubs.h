/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_hubs.h - logs that are kept once for all who know them.
 *
 * A *hub* is a trace whose first event is a receive of several: that of a communicator.
 * A trace that hears of one directly may *adopt* it: from then on it copies nothing of
 * the hub's log, and its entry (hub, k) stands for all that the hub knew at k.  Hubs
 * adopt nobody, so that no more than one other log is to be looked into.
 *
 *   call                        may run together with
 *   esi_epoch_known             all others, about published events that are not
 *                               forgotten before the reader has left (epoch_memory.h)
 *   others                      not with each other
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_HUBS_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_HUBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_trace.h"
#include "monitors/eventset/event.h"

struct esi_store;

/* The greatest index on `of` that is known at an event, or just any that is not less
 * than `enough`; with what its hubs knew, but for what is forgotten of those. */
uint32_t esi_epoch_known(const struct esi_store *store,
                         struct es_event_id event,
                         uint32_t of,
                         uint32_t enough);

/* --- For the writer --------------------------------------------------------------- */

bool esi_hub_is_adopted(const struct esi_epoch_trace *trace, uint32_t hub);

/* Adopts a hub where there is room. */
void esi_hub_adopt(struct esi_trace_hubs *hubs, uint32_t hub);

/* The event up to which an event, or the next one of its trace, knows hub number `i` of
 * that trace beyond the cut; index 0 = it does not. */
struct es_event_id esi_hub_at(const struct esi_store *store,
                              struct es_event_id event,
                              unsigned i);

/* What hubs tell a trace of another now: perhaps less than they knew, never more. */
uint32_t esi_hubs_know(const struct esi_store *store,
                       const struct esi_epoch_trace *trace,
                       uint32_t of);

#endif
