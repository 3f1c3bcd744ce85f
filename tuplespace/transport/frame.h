/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Frames: the messages of tuple servers and their clients (docs/servers.md, "Frames").
 *
 * A header of 16 bytes, little endian, followed by the payload:
 *
 *     u32 length of the payload | u16 type | u16 flags | u64 id
 *
 * Pure logic: decodes from memory, performs no I/O.  Header fields are checked before
 * use.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_FRAME_H
#define ES_TUPLESPACE_TRANSPORT_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

#define ES_FRAME_HEADER_BYTES 16
#define ES_FRAME_MAX_BYTES (UINT32_C(64) << 20) /* of the payload */
#define ES_PROTOCOL_VERSION 3

enum esi_frame_type {
    ES_FRAME_HELLO = 1,   /* client's first frame: who it is, and for which run */
    ES_FRAME_WELCOME = 2, /* server accepts */
    ES_FRAME_REFUSAL = 3, /* server refuses, with a text, and closes the connection */
    ES_FRAME_REQUEST = 4, /* control: a JSON object with a member "request" */
    ES_FRAME_REPLY = 5,   /* reply to a request: a JSON object */
    ES_FRAME_FAILURE = 6, /* error reply: {"code": ERRNO, "text": "..."} */
    ES_FRAME_PULL = 7,    /* binary: pulls the subtree that this connection opened */
    ES_FRAME_BATCH = 8,   /* reply to a pull, binary */
    /* Over tcp, between HELLO and WELCOME: both sides prove that they have the key. */
    ES_FRAME_CHALLENGE = 9, /* server to client */
    ES_FRAME_PROOF = 10,    /* client to server */
    /* Elements held by the server: scopes/element_wire.h. */
    ES_FRAME_WRITE = 11,  /* tuples for an element */
    ES_FRAME_READ = 12,   /* requests tuples of the opened element */
    ES_FRAME_TUPLES = 13, /* reply to both */
    ES_FRAME_LAST = ES_FRAME_TUPLES,
};

struct esi_frame {
    uint16_t type; /* enum esi_frame_type */
    uint16_t flags;
    uint32_t length;     /* of the payload */
    uint64_t id;         /* a reply has the id of its request */
    const void *payload; /* borrowed */
};

/* Encodes a header. */
void esi_frame_encode_header(const struct esi_frame *frame,
                             unsigned char out[ES_FRAME_HEADER_BYTES]);

/* Decodes a header; ret_frame->payload is set to NULL.  Returns 0, or -EPROTO (with
 * `error` filled) for an unknown type or an excessive length. */
int esi_frame_decode_header(const unsigned char bytes[ES_FRAME_HEADER_BYTES],
                            struct es_error *error,
                            struct esi_frame *ret_frame);

#endif
