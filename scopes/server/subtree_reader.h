/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Readers for whom writers wait: of all subtrees in this process.
 *
 * An element has one registered reader, and for that this process counts as one.  So
 * subtrees share the registration: a writer goes on when the slowest of them has
 * acknowledged, and a subtree that takes over from another one leaves no gap.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_SERVER_SUBTREE_READER_H
#define ES_SCOPES_SERVER_SUBTREE_READER_H

#include <stdint.h>

#include "eventspace/run.h"

struct esi_subtree_reader;

/* The writer of `element` (borrowed) is to wait for us from `position` on.  -EBUSY: it
 * waits for another process. */
int esi_subtree_reader_join(const struct es_element_view *element,
                            uint64_t position,
                            struct esi_subtree_reader **ret_reader);
/* Everything below `position` has arrived. */
void esi_subtree_reader_acknowledge(struct esi_subtree_reader *reader,
                                    uint64_t position);
/* Accepts NULL. */
void esi_subtree_reader_leave(struct esi_subtree_reader *reader);

/* Keeps this process registered at `element` (borrowed for the call) also while no
 * subtree reads it, at the position where the last one stopped: for an element that
 * another host's server is to take.  -EBUSY: its writer waits for another process. */
int esi_subtree_reader_hold(const struct es_element_view *element);
/* Ends that; readers that have joined stay. */
void esi_subtree_reader_release(const struct es_element_view *element);

#endif
