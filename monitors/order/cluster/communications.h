/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Number of communications between each pair of traces: the input of clustering.
 *
 *   esi_communications_create(&counts);
 *   ... events to esi_communications_sink(counts)
 *   config.communications = counts;            a static clustering of the whole set
 *   esi_communications_destroy(counts);
 *
 * A send and a receive that names it count as one, the two halves of a sync as two
 * (Ward, Huang & Taylor, 3.1).  Only pairs that communicated use memory, about 60 bytes
 * each.  May be used by one thread at a time.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_COMMUNICATIONS_H
#define ES_MONITORS_ORDER_CLUSTER_COMMUNICATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

struct esi_communications;

/* Returns 0 or -ENOMEM. */
int esi_communications_create(struct esi_communications **ret_counts);
/* Accepts NULL. */
void esi_communications_destroy(struct esi_communications *counts);
/* Creates a copy, which the caller owns.  Returns 0 or -ENOMEM. */
int esi_communications_copy(const struct esi_communications *counts,
                            struct esi_communications **ret_copy);

/* Adds `more` communications between two traces, in either order; ignored if they are
 * the same trace.  Returns 0, or -ENOMEM if nothing was added. */
int esi_communications_add(struct esi_communications *counts,
                           uint32_t trace,
                           uint32_t other,
                           uint64_t more);

/* Returns a sink that counts the communications of an event set, whose events may come
 * in any order.  Each half of a sync counts as one. */
struct es_set_sink esi_communications_sink(struct esi_communications *counts);

uint64_t esi_communications_count(const struct esi_communications *counts,
                                  uint32_t trace,
                                  uint32_t other);
/* Returns the sum over all pairs. */
uint64_t esi_communications_sum(const struct esi_communications *counts);
/* Returns the number of the greatest trace that has communicated, plus one. */
uint32_t esi_communications_traces(const struct esi_communications *counts);
/* Returns the number of bytes held. */
uint64_t esi_communications_bytes(const struct esi_communications *counts);

/* --- Sums over clusters: a number may stand for a cluster instead of a trace ------ */

/* Adds the counts of `from` to those of `into` and removes `from`.  Drops the count
 * between the two.  O(partners of `from`).  Returns 0, or -ENOMEM: then `from` still
 * exists, with the counts that were not added. */
int esi_communications_merge(struct esi_communications *counts,
                             uint32_t into,
                             uint32_t from);

/* Iterates over the partners of a trace (or cluster) that have not been removed.
 * Returns the next one and advances *at, which starts at 0; UINT32_MAX at the end. */
uint32_t esi_communications_next(const struct esi_communications *counts,
                                 uint32_t trace,
                                 uint32_t *at);

#endif
