/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Frames: what tuple servers and their clients send each other (docs/transport.md).
 *
 * A header of 16 bytes, little endian, then the payload:
 *
 *     u32 length of the payload | u16 type | u16 flags | u64 id
 *
 * Pure logic: decodes from memory, does no I/O.  Nothing in a header is used before it
 * was checked.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_FRAME_H
#define ES_TUPLESPACE_TRANSPORT_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

#define ES_FRAME_HEADER_BYTES 16
#define ES_FRAME_MAX_BYTES (UINT32_C(64) << 20) /* of a payload */
#define ES_PROTOCOL_VERSION 3

enum esi_frame_type {
    ES_FRAME_HELLO = 1,   /* client's first frame: who it is, for which run */
    ES_FRAME_WELCOME = 2, /* server's answer */
    ES_FRAME_REFUSAL = 3, /* or this: text, then the connection ends */
    ES_FRAME_REQUEST = 4, /* control: a JSON object with a member "request" */
    ES_FRAME_REPLY = 5,   /* its answer: a JSON object */
    ES_FRAME_FAILURE = 6, /* or this: {"code": ERRNO, "text": "..."} */
    ES_FRAME_PULL = 7,    /* binary: a pull of the part that this connection opened */
    ES_FRAME_BATCH = 8,   /* its answer, binary */
    /* Over tcp: between HELLO and WELCOME, to prove that both sides have the key. */
    ES_FRAME_CHALLENGE = 9, /* server to client */
    ES_FRAME_PROOF = 10,    /* client to server */
    /* Elements that the server holds: scopes/element_wire.h. */
    ES_FRAME_WRITE = 11,  /* tuples for an element */
    ES_FRAME_READ = 12,   /* asks for tuples of the element that was opened */
    ES_FRAME_TUPLES = 13, /* the answer to both */
    ES_FRAME_LAST = ES_FRAME_TUPLES,
};

struct esi_frame {
    uint16_t type; /* enum esi_frame_type */
    uint16_t flags;
    uint32_t length;     /* of the payload */
    uint64_t id;         /* a reply has its request's */
    const void *payload; /* borrowed */
};

/* Writes a header. */
void esi_frame_encode_header(const struct esi_frame *frame,
                             unsigned char out[ES_FRAME_HEADER_BYTES]);

/* Reads a header; ret_frame->payload becomes NULL.  -EPROTO with words: unknown type,
 * too long. */
int esi_frame_decode_header(const unsigned char bytes[ES_FRAME_HEADER_BYTES],
                            struct es_error *error,
                            struct esi_frame *ret_frame);

#endif
