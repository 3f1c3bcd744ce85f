/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Addresses of tuple servers as text: "unix:/path", "tcp:HOST:PORT", "tls:[::1]:PORT".
 * Text is read and written without looking names up.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ADDRESS_H
#define ES_TUPLESPACE_TRANSPORT_ADDRESS_H

#include <stddef.h>
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

/* --- Addresses of this host on networks ------------------------------------------- */

enum { ES_INTERFACE_BYTES = 64 };

/* Numeric addresses of the interfaces that are up, IPv4 first, IPv6 in brackets; those
 * that lead to this host itself or only to its link are left out.  Returns how many, at
 * most `max`. */
size_t esi_interface_addresses(char (*out)[ES_INTERFACE_BYTES], size_t max);

/* The numeric address of this host that `host` stands for.  A name that leads to this
 * host by the loop only is of no use to others: -EADDRNOTAVAIL, as for what is no
 * address of this host; 127.0.0.1 itself is one. */
int esi_interface_find(const char *host, char out[ES_INTERFACE_BYTES]);

/* The numeric address from which this host reaches `host`, a name or address; nothing
 * is sent.  -EHOSTUNREACH, -EADDRNOTAVAIL. */
int esi_interface_toward(const char *host, char out[ES_INTERFACE_BYTES]);

#endif
