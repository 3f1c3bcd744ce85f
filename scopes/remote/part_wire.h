/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* part_wire.h - what a remote stage and its part tell each other besides batches: the
 * binary request of a pull, and the records of clocks in JSON. */
#ifndef ES_SCOPES_REMOTE_PART_WIRE_H
#define ES_SCOPES_REMOTE_PART_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/clock.h"
#include "pathmap/message.h"
#include "tuplespace/transport/frame.h"

#define ES_PART_PULL_BYTES 40

/* The payload of a PULL: u64 serial, acknowledged, max, timeout; u32 flags; u32 0;
 * little endian. */
struct es_part_pull {
    uint64_t serial;       /* counts the pulls of this connection, from 1 */
    uint64_t acknowledged; /* newest whose batch has arrived; 0 = none */
    uint64_t max;
    uint64_t timeout_ns; /* how long the part may wait for others */
    bool drain;          /* this and the next two as in struct es_pull */
    bool kept_only;
    bool measure;
};

void es_part_pull_encode(const struct es_part_pull *pull,
                         unsigned char out[ES_PART_PULL_BYTES]);
/* -EPROTO with words. */
int es_part_pull_decode(const struct es_frame *frame,
                        struct es_error *error,
                        struct es_part_pull *ret_pull);

/* Writes a clock record as a member of an object. */
void es_clock_write(const struct es_clock *clock,
                    struct es_json_out *out,
                    const char *key);
/* Reads it.  -EINVAL with words: not a clock. */
int es_clock_read(const struct es_member *member,
                  struct es_error *error,
                  struct es_clock *ret_clock);

#endif
