/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Frames that carry tuples to and from elements held by a tuple server. */
#include "config.h"

#include "scopes/remote/element_wire.h"

#include <errno.h>
#include <string.h>

#include "base/wire.h"
#include "tuplespace/byte_order.h"

void esi_write_header_encode(const struct esi_write_header *header,
                             unsigned char out[ES_WRITE_HEADER_BYTES])
{
    struct esi_wire_writer wire = esi_wire_writer(out, ES_WRITE_HEADER_BYTES);

    esi_wire_put_u32(&wire, header->element);
    esi_wire_put_u32(&wire, header->tuple_bytes);
    esi_wire_put_u64(&wire, header->position);
}

void esi_read_header_encode(const struct esi_read_header *header,
                            unsigned char out[ES_READ_HEADER_BYTES])
{
    struct esi_wire_writer wire = esi_wire_writer(out, ES_READ_HEADER_BYTES);

    esi_wire_put_u64(&wire, header->position);
    esi_wire_put_u64(&wire, header->timeout_ns);
    esi_wire_put_u32(&wire, header->max);
    esi_wire_put_u32(&wire, 0);
}

void esi_tuples_header_encode(const struct esi_tuples_header *header,
                              unsigned char out[ES_TUPLES_HEADER_BYTES])
{
    struct esi_wire_writer wire = esi_wire_writer(out, ES_TUPLES_HEADER_BYTES);

    esi_wire_put_u64(&wire, header->position);
    esi_wire_put_u64(&wire, header->lost);
    esi_wire_put_u32(&wire, header->count);
    esi_wire_put_u32(&wire, header->tuple_bytes);
}

int esi_write_header_decode(const struct esi_frame *frame,
                            struct esi_write_header *ret_header,
                            const void **ret_tuples,
                            size_t *ret_count)
{
    struct esi_wire_reader wire = esi_wire_reader(frame->payload, frame->length);
    struct esi_write_header header;

    header.element = esi_wire_get_u32(&wire);
    header.tuple_bytes = esi_wire_get_u32(&wire);
    header.position = esi_wire_get_u64(&wire);
    if (wire.failed || header.tuple_bytes == 0 ||
        esi_wire_left(&wire) % header.tuple_bytes != 0)
        return -EPROTO;
    *ret_header = header;
    *ret_tuples = wire.at;
    *ret_count = esi_wire_left(&wire) / header.tuple_bytes;
    return 0;
}

int esi_read_header_decode(const struct esi_frame *frame,
                           struct esi_read_header *ret_header)
{
    struct esi_wire_reader wire = esi_wire_reader(frame->payload, frame->length);
    struct esi_read_header header;

    if (frame->length != ES_READ_HEADER_BYTES)
        return -EPROTO;
    header.position = esi_wire_get_u64(&wire);
    header.timeout_ns = esi_wire_get_u64(&wire);
    header.max = esi_wire_get_u32(&wire);
    *ret_header = header;
    return 0;
}

int esi_tuples_header_decode(const struct esi_frame *frame,
                             struct esi_tuples_header *ret_header,
                             const void **ret_tuples)
{
    struct esi_wire_reader wire = esi_wire_reader(frame->payload, frame->length);
    struct esi_tuples_header header;

    header.position = esi_wire_get_u64(&wire);
    header.lost = esi_wire_get_u64(&wire);
    header.count = esi_wire_get_u32(&wire);
    header.tuple_bytes = esi_wire_get_u32(&wire);
    if (wire.failed ||
        (uint64_t)header.count * header.tuple_bytes != esi_wire_left(&wire))
        return -EPROTO;
    *ret_header = header;
    *ret_tuples = wire.at;
    return 0;
}

void esi_element_wire_copy(const struct es_link *link,
                           const void *tuples,
                           size_t count,
                           uint32_t tuple_bytes,
                           void *out)
{
    if (count == 0)
        return;
    memcpy(out, tuples, count * tuple_bytes);
    if (esi_link_peer(link)->swapped && tuple_bytes == sizeof(struct es_tuple))
        esi_byte_order_swap_tuples(out, count);
}
