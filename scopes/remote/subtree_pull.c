/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_pull.c - encodes and decodes a pull. */
#include "config.h"

#include "scopes/remote/subtree_pull.h"

#include <errno.h>
#include <stddef.h>

#include "base/wire.h"

enum { FLAG_DRAIN = 1, FLAG_MEASURE = 2, FLAG_CAREFUL = 4 };

void esi_subtree_pull_encode(const struct esi_subtree_pull *pull,
                             unsigned char bytes[ES_SUBTREE_PULL_BYTES])
{
    struct esi_wire_writer out = esi_wire_writer(bytes, ES_SUBTREE_PULL_BYTES);

    esi_wire_put_u64(&out, pull->serial);
    esi_wire_put_u64(&out, pull->max);
    esi_wire_put_u64(&out, pull->timeout_ns);
    esi_wire_put_u32(&out, (pull->drain ? FLAG_DRAIN : 0) |
                               (pull->measure ? FLAG_MEASURE : 0) |
                               (pull->careful ? FLAG_CAREFUL : 0));
    esi_wire_put_u32(&out, pull->acknowledged_count);
}

int esi_subtree_pull_decode(const struct esi_frame *frame,
                            struct es_error *error,
                            struct esi_subtree_pull *ret_pull)
{
    struct esi_wire_reader in = esi_wire_reader(frame->payload, frame->length);
    struct esi_subtree_pull pull;
    uint32_t flags;

    pull.serial = esi_wire_get_u64(&in);
    pull.max = esi_wire_get_u64(&in);
    pull.timeout_ns = esi_wire_get_u64(&in);
    flags = esi_wire_get_u32(&in);
    pull.drain = flags & FLAG_DRAIN;
    pull.careful = flags & FLAG_CAREFUL;
    pull.measure = flags & FLAG_MEASURE;
    pull.acknowledged_count = esi_wire_get_u32(&in);
    pull.acknowledged = in.at;
    if (in.failed)
        return es_error_set(error, -EPROTO, "a pull has %u bytes, expected %d",
                            frame->length, ES_SUBTREE_PULL_BYTES);
    if (esi_wire_left(&in) !=
        (uint64_t)pull.acknowledged_count * ES_SUBTREE_ACKNOWLEDGED_BYTES)
        return es_error_set(error, -EPROTO,
                            "a pull of %u bytes acknowledges %u positions",
                            frame->length, (unsigned)pull.acknowledged_count);
    *ret_pull = pull;
    return 0;
}

void esi_subtree_acknowledged_encode(
    const struct esi_subtree_acknowledged *acknowledged,
    unsigned char out[ES_SUBTREE_ACKNOWLEDGED_BYTES])
{
    esi_wire_store(out, acknowledged->origin, 4);
    esi_wire_store(out + 4, acknowledged->position, 8);
}

struct esi_subtree_acknowledged esi_subtree_acknowledged_at(
    const struct esi_subtree_pull *pull,
    uint32_t index)
{
    const unsigned char *in =
        pull->acknowledged + (size_t)index * ES_SUBTREE_ACKNOWLEDGED_BYTES;

    return (struct esi_subtree_acknowledged){.origin = (uint32_t)esi_wire_load(in, 4),
                                             .position = esi_wire_load(in + 4, 8)};
}
