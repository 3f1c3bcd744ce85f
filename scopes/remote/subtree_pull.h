/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The encoding of a pull that a remote stage sends to its subtree. */
#ifndef ES_SCOPES_REMOTE_SUBTREE_PULL_H
#define ES_SCOPES_REMOTE_SUBTREE_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/frame.h"

/* The payload of a PULL: u64 serial, max, timeout; u32 flags, count; then, for each
 * position acknowledged by the consumer since the previous pull, u32 origin, u64
 * position; little endian.  Only scopes for which writers wait send acknowledgments. */
enum { ES_SUBTREE_PULL_BYTES = 32, ES_SUBTREE_ACKNOWLEDGED_BYTES = 12 };

struct esi_subtree_pull {
    uint64_t serial; /* number of the pull on this connection, from 1 */
    uint64_t max;
    uint64_t timeout_ns; /* how long the subtree may wait for other hosts */
    bool drain;          /* like the next two, as in struct es_pull */
    bool careful;
    bool measure;
    uint32_t acknowledged_count;
    const unsigned char *acknowledged; /* still encoded; borrowed from the frame */
};

/* All tuples of this origin below the position have been used. */
struct esi_subtree_acknowledged {
    uint32_t origin;
    uint64_t position;
};

/* Encodes everything except the positions. */
void esi_subtree_pull_encode(const struct esi_subtree_pull *pull,
                             unsigned char out[ES_SUBTREE_PULL_BYTES]);
/* Returns 0, or -EPROTO with a text. */
int esi_subtree_pull_decode(const struct esi_frame *frame,
                            struct es_error *error,
                            struct esi_subtree_pull *ret_pull);

void esi_subtree_acknowledged_encode(
    const struct esi_subtree_acknowledged *acknowledged,
    unsigned char out[ES_SUBTREE_ACKNOWLEDGED_BYTES]);
/* Requires `index` < pull->acknowledged_count. */
struct esi_subtree_acknowledged esi_subtree_acknowledged_at(
    const struct esi_subtree_pull *pull,
    uint32_t index);

#endif
