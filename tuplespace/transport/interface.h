/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The addresses that this host has on networks. */
#ifndef ES_TUPLESPACE_TRANSPORT_INTERFACE_H
#define ES_TUPLESPACE_TRANSPORT_INTERFACE_H

#include <stddef.h>

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
