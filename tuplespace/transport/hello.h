/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The payload of HELLO, CHALLENGE and WELCOME frames: who speaks, and 32 bytes that
 * prove something where the link has to (docs/transport.md).
 *
 * The version comes first and stays there, so that any two versions understand at least
 * that they do not understand each other.  Pure logic.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_HELLO_H
#define ES_TUPLESPACE_TRANSPORT_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/link.h"

#define ESI_TOKEN_BYTES 32
#define ESI_HELLO_BYTES 240

struct esi_hello {
    struct esi_greeting greeting;
    unsigned char token[ESI_TOKEN_BYTES];
};

/* Writes our hello, of ES_PROTOCOL_VERSION and this machine's byte order. */
void esi_hello_encode(const struct esi_hello *hello,
                      unsigned char out[ESI_HELLO_BYTES]);

/* Reads the peer's.  -EPROTONOSUPPORT, without words: `ret_version` is not ours, the
 * rest was not read; -EPROTO with words: not a hello. */
int esi_hello_decode(const void *bytes,
                     size_t length,
                     struct es_error *error,
                     uint32_t *ret_version,
                     struct esi_hello *ret_hello);

/* Copies text of a peer for people: at most size - 1 bytes, each that could steer a
 * terminal becomes '?'. */
void esi_text_copy(const void *text, size_t length, char *out, size_t size);

#endif
