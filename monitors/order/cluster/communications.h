/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How often traces communicated, pair by pair: what traces are put into clusters by.
 *
 *   esi_communications_create(&counts);
 *   ... events to esi_communications_sink(counts)
 *   config.communications = counts;            a static clustering of the whole set
 *   esi_communications_destroy(counts);
 *
 * A send and a receive that names it count one, both halves of a sync two (Ward, Huang
 * & Taylor, 3.1).  Only pairs that communicated take memory, about 60 bytes each.  One
 * thread at a time.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_COMMUNICATIONS_H
#define ES_MONITORS_ORDER_CLUSTER_COMMUNICATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

struct esi_communications;

/* 0 or -ENOMEM. */
int esi_communications_create(struct esi_communications **ret_counts);
/* Accepts NULL. */
void esi_communications_destroy(struct esi_communications *counts);
/* A copy that is the caller's.  0 or -ENOMEM. */
int esi_communications_copy(const struct esi_communications *counts,
                            struct esi_communications **ret_copy);

/* More communications of two traces, whose order does not matter; those of a trace
 * with itself do not count.  0, or -ENOMEM: nothing was added. */
int esi_communications_add(struct esi_communications *counts,
                           uint32_t trace,
                           uint32_t other,
                           uint64_t more);

/* Counts what an event set tells, in whatever order; each half of a sync counts one. */
struct es_set_sink esi_communications_sink(struct esi_communications *counts);

uint64_t esi_communications_count(const struct esi_communications *counts,
                                  uint32_t trace,
                                  uint32_t other);
/* Of all pairs. */
uint64_t esi_communications_sum(const struct esi_communications *counts);
/* One more than the greatest trace that has communicated. */
uint32_t esi_communications_traces(const struct esi_communications *counts);
/* Bytes that are held. */
uint64_t esi_communications_bytes(const struct esi_communications *counts);

/* --- Sums over clusters; a number may stand for a cluster instead of a trace ------ */

/* Adds the counts of `from` to those of `into`; `from` is gone.  What the two had with
 * each other no longer counts.  O(partners of `from`).  0 or -ENOMEM: then `from` is
 * there still, with what was not yet added. */
int esi_communications_merge(struct esi_communications *counts,
                             uint32_t into,
                             uint32_t from);

/* Those that a trace (or cluster) has communicated with and that are not gone, one by
 * one: the next after *at, which begins with 0; UINT32_MAX at the end. */
uint32_t esi_communications_next(const struct esi_communications *counts,
                                 uint32_t trace,
                                 uint32_t *at);

#endif
