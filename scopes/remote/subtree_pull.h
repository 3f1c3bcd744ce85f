/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A pull as bytes: what a remote stage sends its subtree. */
#ifndef ES_SCOPES_REMOTE_SUBTREE_PULL_H
#define ES_SCOPES_REMOTE_SUBTREE_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/frame.h"

/* The payload of a PULL: u64 serial, max, timeout; u32 flags, count; then for each
 * position that the consumer has acknowledged since the pull before u32 origin, u64
 * position; little endian.  Only scopes for which writers wait acknowledge. */
enum { ES_SUBTREE_PULL_BYTES = 32, ES_SUBTREE_ACKNOWLEDGED_BYTES = 12 };

struct esi_subtree_pull {
    uint64_t serial; /* counts the pulls of this connection, from 1 */
    uint64_t max;
    uint64_t timeout_ns; /* how long the subtree may wait for others */
    bool drain;          /* this and the next two as in struct es_pull */
    bool careful;
    bool measure;
    uint32_t acknowledged_count;
    const unsigned char *acknowledged; /* as they came; borrowed from the frame */
};

/* Everything of this origin below the position was used. */
struct esi_subtree_acknowledged {
    uint32_t origin;
    uint64_t position;
};

/* Writes all but the positions. */
void esi_subtree_pull_encode(const struct esi_subtree_pull *pull,
                             unsigned char out[ES_SUBTREE_PULL_BYTES]);
/* -EPROTO with words. */
int esi_subtree_pull_decode(const struct esi_frame *frame,
                            struct es_error *error,
                            struct esi_subtree_pull *ret_pull);

void esi_subtree_acknowledged_encode(
    const struct esi_subtree_acknowledged *acknowledged,
    unsigned char out[ES_SUBTREE_ACKNOWLEDGED_BYTES]);
/* `index` is below pull->acknowledged_count. */
struct esi_subtree_acknowledged esi_subtree_acknowledged_at(
    const struct esi_subtree_pull *pull,
    uint32_t index);

#endif
