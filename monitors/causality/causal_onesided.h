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
#include "monitors/causality/causal_message.h"

/* Adds a call, or a member of a call's group.  Returns 0 or -ENOMEM. */
int esi_onesided_add(struct esi_instances *instances,
                     struct esi_messages *messages,
                     struct esi_item *item);
int esi_onesided_add_member(struct esi_instances *instances,
                            struct esi_messages *messages,
                            struct esi_element *element,
                            const struct es_tuple *tuple,
                            bool exposes);
/* Called when the event of a call was emitted. */
void esi_onesided_emitted(struct esi_item *item, const struct esi_emitted *event);

#endif
