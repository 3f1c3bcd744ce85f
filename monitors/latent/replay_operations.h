/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Properties of operations for the strict replay.  A family is a code without the
 * large-count offset. */
#ifndef ES_MONITORS_LATENT_REPLAY_OPERATIONS_H
#define ES_MONITORS_LATENT_REPLAY_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"

/* 0 = not known. */
uint16_t esi_replay_family(const struct es_tuple *tuple);
/* Calls that only create a persistent request have no class. */
bool esi_replay_is_of_class(const struct es_tuple *tuple, enum es_class op_class);

bool esi_replay_is_blocking_send(uint16_t family);
bool esi_replay_is_blocking_receive(uint16_t family);
/* Requests other than sends whose completion has no tuple of its own. */
bool esi_replay_is_open_request(uint16_t family);
/* Waits and tests. */
bool esi_replay_is_completion(const struct es_tuple *tuple);

/* Whether members can be matched to an instance.  Neighbourhood operations are
 * excluded, since the neighbours are not known here. */
bool esi_replay_is_collective(const struct es_operation *operation);
/* Whether each member must wait for all others because its result depends on them. */
bool esi_replay_waits_for_all(const struct es_operation *operation,
                              const struct es_tuple *tuple);

#endif
