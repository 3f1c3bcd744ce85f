/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Encodes and decodes frame headers. */
#include "config.h"

#include "tuplespace/transport/frame.h"

#include <errno.h>

#include "base/wire.h"

void esi_frame_encode_header(const struct esi_frame *frame,
                             unsigned char out[ES_FRAME_HEADER_BYTES])
{
    struct esi_wire_writer wire = esi_wire_writer(out, ES_FRAME_HEADER_BYTES);

    esi_wire_put_u32(&wire, frame->length);
    esi_wire_put_u16(&wire, frame->type);
    esi_wire_put_u16(&wire, frame->flags);
    esi_wire_put_u64(&wire, frame->id);
}

int esi_frame_decode_header(const unsigned char bytes[ES_FRAME_HEADER_BYTES],
                            struct es_error *error,
                            struct esi_frame *ret_frame)
{
    struct esi_wire_reader wire = esi_wire_reader(bytes, ES_FRAME_HEADER_BYTES);
    uint32_t length = esi_wire_get_u32(&wire);
    uint16_t type = esi_wire_get_u16(&wire);
    uint16_t flags = esi_wire_get_u16(&wire);
    uint64_t id = esi_wire_get_u64(&wire);

    if (type < ES_FRAME_HELLO || type > ES_FRAME_LAST)
        return es_error_set(error, -EPROTO, "not a frame: type %u", type);
    if (length > ES_FRAME_MAX_BYTES)
        return es_error_set(error, -EPROTO, "a frame of %u bytes: at most %u", length,
                            ES_FRAME_MAX_BYTES);
    *ret_frame =
        (struct esi_frame){.type = type, .flags = flags, .length = length, .id = id};
    return 0;
}
