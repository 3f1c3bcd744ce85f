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

enum esi_address_kind {
    ES_ADDRESS_UNIX,
    ES_ADDRESS_TCP,
    ES_ADDRESS_TLS,
};

struct esi_address {
    enum esi_address_kind kind;
    char place[ES_ADDRESS_BYTES]; /* the path, or the host without brackets */
    uint16_t port;
};

/* -EINVAL with words: not an address. */
int esi_address_parse(const char *text,
                      struct es_error *error,
                      struct esi_address *ret_address);

/* The text that esi_address_parse() reads; cut if too long.  Returns out. */
const char *esi_address_format(const struct esi_address *address,
                               char out[ES_ADDRESS_BYTES]);

#endif
