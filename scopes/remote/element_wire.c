/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Frames that carry tuples to and from elements that a tuple server holds. */
#include "config.h"

#include "scopes/remote/element_wire.h"

#include <errno.h>
#include <string.h>

#include "tuplespace/byte_order.h"

static unsigned char *put(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
    return out + bytes;
}

static uint64_t get(const unsigned char *in, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes; i-- > 0;)
        value = value << 8 | in[i];
    return value;
}

void es_write_header_encode(const struct es_write_header *header,
                            unsigned char out[ES_WRITE_HEADER_BYTES])
{
    out = put(out, header->element, 4);
    out = put(out, header->tuple_bytes, 4);
    put(out, header->position, 8);
}

void es_read_header_encode(const struct es_read_header *header,
                           unsigned char out[ES_READ_HEADER_BYTES])
{
    out = put(out, header->position, 8);
    out = put(out, header->timeout_ns, 8);
    out = put(out, header->max, 4);
    put(out, 0, 4);
}

void es_tuples_header_encode(const struct es_tuples_header *header,
                             unsigned char out[ES_TUPLES_HEADER_BYTES])
{
    out = put(out, header->position, 8);
    out = put(out, header->lost, 8);
    out = put(out, header->count, 4);
    put(out, header->tuple_bytes, 4);
}

int es_write_header_decode(const struct es_frame *frame,
                           struct es_write_header *ret_header,
                           const void **ret_tuples,
                           size_t *ret_count)
{
    const unsigned char *payload = frame->payload;
    struct es_write_header header;
    uint32_t rest;

    if (frame->length < ES_WRITE_HEADER_BYTES)
        return -EPROTO;
    header = (struct es_write_header){.element = (uint32_t)get(payload, 4),
                                      .tuple_bytes = (uint32_t)get(payload + 4, 4),
                                      .position = get(payload + 8, 8)};
    rest = frame->length - ES_WRITE_HEADER_BYTES;
    if (header.tuple_bytes == 0 || rest % header.tuple_bytes != 0)
        return -EPROTO;
    *ret_header = header;
    *ret_tuples = payload + ES_WRITE_HEADER_BYTES;
    *ret_count = rest / header.tuple_bytes;
    return 0;
}

int es_read_header_decode(const struct es_frame *frame,
                          struct es_read_header *ret_header)
{
    const unsigned char *payload = frame->payload;

    if (frame->length != ES_READ_HEADER_BYTES)
        return -EPROTO;
    *ret_header = (struct es_read_header){.position = get(payload, 8),
                                          .timeout_ns = get(payload + 8, 8),
                                          .max = (uint32_t)get(payload + 16, 4)};
    return 0;
}

int es_tuples_header_decode(const struct es_frame *frame,
                            struct es_tuples_header *ret_header,
                            const void **ret_tuples)
{
    const unsigned char *payload = frame->payload;
    struct es_tuples_header header;
    uint64_t rest;

    if (frame->length < ES_TUPLES_HEADER_BYTES)
        return -EPROTO;
    header = (struct es_tuples_header){.position = get(payload, 8),
                                       .lost = get(payload + 8, 8),
                                       .count = (uint32_t)get(payload + 16, 4),
                                       .tuple_bytes = (uint32_t)get(payload + 20, 4)};
    rest = frame->length - ES_TUPLES_HEADER_BYTES;
    if ((uint64_t)header.count * header.tuple_bytes != rest)
        return -EPROTO;
    *ret_header = header;
    *ret_tuples = payload + ES_TUPLES_HEADER_BYTES;
    return 0;
}

void es_element_wire_copy(const struct es_link *link,
                          const void *tuples,
                          size_t count,
                          uint32_t tuple_bytes,
                          void *out)
{
    if (count == 0)
        return;
    memcpy(out, tuples, count * tuple_bytes);
    if (es_link_peer(link)->swapped && tuple_bytes == sizeof(struct es_tuple))
        esi_byte_order_swap_tuples(out, count);
}
