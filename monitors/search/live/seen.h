/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The matches that have been reported: sets of events, as 128-bit hashes.  The last
 * `limit` matches are always recognized; older ones may be forgotten.
 */
#ifndef ES_MONITORS_SEARCH_LIVE_SEEN_H
#define ES_MONITORS_SEARCH_LIVE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "eventspace/event.h"

/* An empty set is all zeros except `limit`.  The fields are private. */
struct esi_seen {
    uint64_t limit;
    struct esi_seen_table {
        struct esi_hash hash;
        struct esi_seen_key *keys; /* owned; hash.count of them */
        size_t capacity;
    } young, old;
};

void esi_seen_fini(struct esi_seen *seen);

/* Returns 1 if the match is new, and adds it; 0 if it is known; or -ENOMEM. */
int esi_seen_add(struct esi_seen *seen, const struct es_event_id *events, size_t count);

bool esi_seen_has(const struct esi_seen *seen,
                  const struct es_event_id *events,
                  size_t count);

uint64_t esi_seen_bytes(const struct esi_seen *seen);

#endif
