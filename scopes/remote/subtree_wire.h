/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_wire.h - what a remote stage and its part tell each other besides batches: the
 * binary request of a pull, and the records of clocks in JSON. */
#ifndef ES_SCOPES_REMOTE_PART_WIRE_H
#define ES_SCOPES_REMOTE_PART_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/clock.h"
#include "pathmap/message.h"
#include "tuplespace/transport/frame.h"

/* The payload of a PULL: u64 serial, max, timeout; u32 flags, count; then for each
 * position that the consumer has acknowledged since the pull before u32 origin, u64
 * position; little endian.  Only scopes for which writers wait acknowledge. */
enum { ES_PART_PULL_BYTES = 32, ES_PART_ACKNOWLEDGED_BYTES = 12 };

struct es_part_pull {
    uint64_t serial; /* counts the pulls of this connection, from 1 */
    uint64_t max;
    uint64_t timeout_ns; /* how long the part may wait for others */
    bool drain;          /* this and the next two as in struct es_pull */
    bool careful;
    bool measure;
    uint32_t acknowledged_count;
    const unsigned char *acknowledged; /* as they came; borrowed from the frame */
};

/* Everything of this origin below the position was used. */
struct es_part_acknowledged {
    uint32_t origin;
    uint64_t position;
};

/* Writes all but the positions. */
void es_part_pull_encode(const struct es_part_pull *pull,
                         unsigned char out[ES_PART_PULL_BYTES]);
/* -EPROTO with words. */
int es_part_pull_decode(const struct es_frame *frame,
                        struct es_error *error,
                        struct es_part_pull *ret_pull);

void es_part_acknowledged_encode(const struct es_part_acknowledged *acknowledged,
                                 unsigned char out[ES_PART_ACKNOWLEDGED_BYTES]);
/* `index` is below pull->acknowledged_count. */
struct es_part_acknowledged es_part_acknowledged_at(const struct es_part_pull *pull,
                                                    uint32_t index);

/* Writes a clock record as a member of an object. */
void es_clock_write(const struct es_clock *clock,
                    struct es_json_out *out,
                    const char *key);
/* Reads it.  -EINVAL with words: not a clock. */
int es_clock_read(const struct es_member *member,
                  struct es_error *error,
                  struct es_clock *ret_clock);

#endif
