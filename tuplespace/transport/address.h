/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Addresses of tuple servers as text: "unix:/path", "tcp:HOST:PORT", "tls:[::1]:PORT".
 * Parsing and formatting do not look up names.
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

/* Parses an address.  Returns 0, or -EINVAL with `error` filled. */
int esi_address_parse(const char *text,
                      struct es_error *error,
                      struct esi_address *ret_address);

/* Formats an address for esi_address_parse(), truncated.  Returns `out`. */
const char *esi_address_format(const struct esi_address *address,
                               char out[ES_ADDRESS_BYTES]);

/* --- Addresses of this host on networks ------------------------------------------- */

enum { ES_INTERFACE_BYTES = 64 };

/* Numeric addresses of the interfaces that are up, IPv4 first, IPv6 in brackets.  Omits
 * loopback and link-local addresses.  Returns their number, at most `max`. */
size_t esi_interface_addresses(char (*out)[ES_INTERFACE_BYTES], size_t max);

/* Finds the numeric address of this host for `host`.  Returns 0, or -EADDRNOTAVAIL if
 * it is not an address of this host, or a name that resolves to loopback only, which is
 * useless to other hosts.  Accepts 127.0.0.1 itself. */
int esi_interface_find(const char *host, char out[ES_INTERFACE_BYTES]);

/* Finds the numeric address from which this host reaches `host`, a name or address;
 * sends nothing.  Returns 0, -EHOSTUNREACH or -EADDRNOTAVAIL. */
int esi_interface_toward(const char *host, char out[ES_INTERFACE_BYTES]);

#endif
