/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a strict replay has to know of operations.  A family is a code without the
 * large-count variant's. */
#ifndef ES_MONITORS_LATENT_REPLAY_OPERATIONS_H
#define ES_MONITORS_LATENT_REPLAY_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"

/* 0 = not known. */
uint16_t esi_replay_family(const struct es_tuple *tuple);
/* What only makes a persistent request is of no class. */
bool esi_replay_is_of_class(const struct es_tuple *tuple, enum es_class op_class);

bool esi_replay_is_blocking_send(uint16_t family);
bool esi_replay_is_blocking_receive(uint16_t family);
/* Nonblocking sends that complete when their receive is posted, at the latest. */
bool esi_replay_is_open_send(uint16_t family);
/* Other requests that have no tuple of their own when they complete. */
bool esi_replay_is_open_request(uint16_t family);
/* Waits and tests. */
bool esi_replay_is_completion(const struct es_tuple *tuple);

/* Whether members can be told to meet in an instance.  Neighbours are left out: who
 * they are is not asked here. */
bool esi_replay_is_collective(const struct es_operation *operation);
/* Whether each member really waits for all others: what it gets depends on them. */
bool esi_replay_waits_for_all(const struct es_operation *operation,
                              const struct es_tuple *tuple);

#endif
