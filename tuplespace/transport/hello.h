/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The payload of HELLO, CHALLENGE and WELCOME frames: the sender's identity, and 32
 * bytes that prove its key if the link requires it (docs/servers.md, "Hello").
 *
 * The version comes first in all versions, so that different versions can at least
 * detect that they are incompatible.  Pure logic.
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

/* Encodes a hello with ES_PROTOCOL_VERSION and this machine's byte order. */
void esi_hello_encode(const struct esi_hello *hello,
                      unsigned char out[ESI_HELLO_BYTES]);

/* Decodes the peer's hello.  Returns 0; -EPROTONOSUPPORT, without filling `error`, if
 * *ret_version is not ours, and then decodes nothing else; or -EPROTO (with `error`
 * filled) if it is not a hello. */
int esi_hello_decode(const void *bytes,
                     size_t length,
                     struct es_error *error,
                     uint32_t *ret_version,
                     struct esi_hello *ret_hello);

/* Copies text of a peer for display: at most size - 1 bytes, with '?' for bytes that
 * could control a terminal. */
void esi_text_copy(const void *text, size_t length, char *out, size_t size);

#endif
