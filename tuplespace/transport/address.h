/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Addresses of tuple servers as text: "unix:/path", "tcp:HOST:PORT", "tls:[::1]:PORT".
 * Pure logic; names are not looked up.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ADDRESS_H
#define ES_TUPLESPACE_TRANSPORT_ADDRESS_H

#include <stdint.h>

#include "eventspace/error.h"

#define ES_ADDRESS_BYTES 300

enum es_address_kind {
    ES_ADDRESS_UNIX,
    ES_ADDRESS_TCP,
    ES_ADDRESS_TLS,
};

struct es_address {
    enum es_address_kind kind;
    char place[ES_ADDRESS_BYTES]; /* the path, or the host without brackets */
    uint16_t port;
};

/* -EINVAL with words: not an address. */
int es_address_parse(const char *text,
                     struct es_error *error,
                     struct es_address *ret_address);

/* The text that es_address_parse() reads; cut if too long.  Returns out. */
const char *es_address_format(const struct es_address *address,
                              char out[ES_ADDRESS_BYTES]);

#endif
