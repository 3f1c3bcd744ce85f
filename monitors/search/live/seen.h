/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Which matches were emitted: sets of events by 128 bits that are made of them.  The
 * last `limit` are known for sure; of older ones at least as many may be forgotten.
 */
#ifndef ES_MONITORS_SEARCH_LIVE_SEEN_H
#define ES_MONITORS_SEARCH_LIVE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "eventspace/event.h"

/* Zeros but for `limit` are empty; fields are private. */
struct esi_seen {
    uint64_t limit;
    struct esi_seen_table {
        struct esi_hash hash;
        struct esi_seen_key *keys; /* owned; as many as `hash` has */
        size_t capacity;
    } young, old;
};

void esi_seen_fini(struct esi_seen *seen);

/* 1: it is new, and was put in; 0: it is known; -ENOMEM. */
int esi_seen_add(struct esi_seen *seen, const struct es_event_id *events, size_t count);

bool esi_seen_has(const struct esi_seen *seen,
                  const struct es_event_id *events,
                  size_t count);

uint64_t esi_seen_bytes(const struct esi_seen *seen);

#endif
