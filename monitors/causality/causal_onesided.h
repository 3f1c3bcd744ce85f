/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One-sided communication with post, start, complete and wait (MPI-4.0, section
 * 12.5.2).
 *
 * The group of a start determines the posts that its complete waits for; the group of a
 * post determines the completes that its wait waits for.  The posts and starts between
 * a target and an origin are counted and match in order.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_ONESIDED_H
#define ES_MONITORS_CAUSALITY_CAUSAL_ONESIDED_H

#include "monitors/causality/causal_collective.h"

/* Adds a call, or a member of a call's group.  Returns 0 or -ENOMEM. */
int esi_onesided_add(struct esi_causality *causality, struct esi_item *item);
int esi_onesided_add_member(struct esi_causality *causality,
                            struct esi_element *element,
                            const struct es_tuple *tuple,
                            bool exposes);
/* Called when the item's event was emitted. */
void esi_onesided_note_given(struct esi_item *item, const struct esi_emitted *post);
/* Called when all members have freed the window, or at the end of the input. */
void esi_onesided_forget(struct esi_series *series);

#endif
