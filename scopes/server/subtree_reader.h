/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Readers for whom writers wait, shared by all subtrees in this process.
 *
 * An element has at most one registered reader, which is this process as a whole.
 * Subtrees therefore share the registration: a writer continues when the slowest of
 * them has acknowledged, and a subtree that replaces another one leaves no gap.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_SERVER_SUBTREE_READER_H
#define ES_SCOPES_SERVER_SUBTREE_READER_H

#include <stdint.h>

#include "eventspace/run.h"

struct esi_subtree_reader;

/* Makes the writer of `element` (borrowed) wait for this reader from `position` on.
 * Returns -EBUSY if it waits for another process. */
int esi_subtree_reader_join(const struct es_element_view *element,
                            uint64_t position,
                            struct esi_subtree_reader **ret_reader);
/* Acknowledges all tuples below `position`. */
void esi_subtree_reader_acknowledge(struct esi_subtree_reader *reader,
                                    uint64_t position);
/* Removes the reader.  Accepts NULL. */
void esi_subtree_reader_leave(struct esi_subtree_reader *reader);

/* Keeps this process registered at `element` (borrowed for the call) even while no
 * subtree reads it, at the position where the last one stopped: for an element that
 * will be read by another host's server.  Returns -EBUSY if its writer waits for
 * another process. */
int esi_subtree_reader_hold(const struct es_element_view *element);
/* Ends esi_subtree_reader_hold(); readers that have joined stay. */
void esi_subtree_reader_release(const struct es_element_view *element);

#endif
