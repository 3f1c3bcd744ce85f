/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Frames that carry tuples to and from elements held by a tuple server.  Numbers are
 * little endian.  Tuples have the byte order of their writer; the receiver converts
 * trace tuples from a peer with the other byte order.
 *
 *    WRITE   u32 element | u32 bytes of a tuple | u64 position of the first | tuples
 *    READ    u64 position | u64 timeout, ns | u32 most tuples | u32 0
 *    TUPLES  u64 next position | u64 lost | u32 tuples | u32 bytes of one | tuples
 *
 * Pure logic.
 */
#ifndef ES_SCOPES_REMOTE_ELEMENT_WIRE_H
#define ES_SCOPES_REMOTE_ELEMENT_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "tuplespace/transport/link.h"

enum {
    ES_WRITE_HEADER_BYTES = 16,
    ES_READ_HEADER_BYTES = 24,
    ES_TUPLES_HEADER_BYTES = 24,
    ES_ELEMENT_OPENED = UINT16_MAX, /* WRITE: the element opened on this connection */
};

/* WRITE: append to the element. */
#define ES_POSITION_END UINT64_MAX

struct esi_write_header {
    uint32_t element;
    uint32_t tuple_bytes;
    uint64_t position;
};

struct esi_read_header {
    uint64_t position;
    uint64_t timeout_ns;
    uint32_t max;
};

struct esi_tuples_header {
    uint64_t position;
    uint64_t lost;
    uint32_t count;
    uint32_t tuple_bytes;
};

void esi_write_header_encode(const struct esi_write_header *header,
                             unsigned char out[ES_WRITE_HEADER_BYTES]);
void esi_read_header_encode(const struct esi_read_header *header,
                            unsigned char out[ES_READ_HEADER_BYTES]);
void esi_tuples_header_encode(const struct esi_tuples_header *header,
                              unsigned char out[ES_TUPLES_HEADER_BYTES]);

/* The decoders check the length of the payload; *ret_tuples points into the payload.
 * They return 0 or -EPROTO. */
int esi_write_header_decode(const struct esi_frame *frame,
                            struct esi_write_header *ret_header,
                            const void **ret_tuples,
                            size_t *ret_count);
int esi_read_header_decode(const struct esi_frame *frame,
                           struct esi_read_header *ret_header);
int esi_tuples_header_decode(const struct esi_frame *frame,
                             struct esi_tuples_header *ret_header,
                             const void **ret_tuples);

/* Copies tuples received over the link, converted to the native byte order. */
void esi_element_wire_copy(const struct es_link *link,
                           const void *tuples,
                           size_t count,
                           uint32_t tuple_bytes,
                           void *out);

#endif
