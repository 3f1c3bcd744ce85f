/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Headers of frames, between memory and the wire. */
#include "config.h"

#include "tuplespace/transport/frame.h"

#include <errno.h>

static void put(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *in, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes; i-- > 0;)
        value = value << 8 | in[i];
    return value;
}

void es_frame_encode_header(const struct es_frame *frame,
                            unsigned char out[ES_FRAME_HEADER_BYTES])
{
    put(out, frame->length, 4);
    put(out + 4, frame->type, 2);
    put(out + 6, frame->flags, 2);
    put(out + 8, frame->id, 8);
}

int es_frame_decode_header(const unsigned char bytes[ES_FRAME_HEADER_BYTES],
                           struct es_error *error,
                           struct es_frame *ret_frame)
{
    uint32_t length = (uint32_t)get(bytes, 4);
    uint16_t type = (uint16_t)get(bytes + 4, 2);

    if (type < ES_FRAME_HELLO || type > ES_FRAME_LAST)
        return es_error_set(error, -EPROTO, "not a frame: type %u", type);
    if (length > ES_FRAME_MAX_BYTES)
        return es_error_set(error, -EPROTO, "a frame of %u bytes: at most %u", length,
                            ES_FRAME_MAX_BYTES);
    *ret_frame = (struct es_frame){.type = type,
                                   .flags = (uint16_t)get(bytes + 6, 2),
                                   .length = length,
                                   .id = get(bytes + 8, 8)};
    return 0;
}
