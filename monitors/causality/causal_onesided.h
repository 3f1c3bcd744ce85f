/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One-sided communication with post, start, complete and wait (MPI-4.0, section
 * 12.5.2).
 *
 * A start's group tells whose posts its complete waits for, and a post's group whose
 * completes its wait waits for.  Between a target and an origin posts and starts are
 * counted, and match in order.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_ONESIDED_H
#define ES_MONITORS_CAUSALITY_CAUSAL_ONESIDED_H

#include "monitors/causality/causal_collective.h"

/* A call, or a member of the group of one: 0 or -ENOMEM. */
int esi_onesided_add(struct esi_causality *causality, struct esi_item *item);
int esi_onesided_add_member(struct esi_causality *causality,
                            struct esi_element *element,
                            const struct es_tuple *tuple,
                            bool exposes);
/* The item's event was given. */
void esi_onesided_note_given(struct esi_item *item, const struct es_event_id *id);
/* All members have freed the window, or nothing more will come. */
void esi_onesided_forget(struct esi_series *series);

#endif
