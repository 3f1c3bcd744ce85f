/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The addresses that this host has on networks. */
#ifndef ES_TUPLESPACE_INTERFACE_H
#define ES_TUPLESPACE_INTERFACE_H

#include <stddef.h>

enum { ES_INTERFACE_BYTES = 64 };

/* Numeric addresses of the interfaces that are up, IPv4 first, IPv6 in brackets; those
 * that lead to this host itself or only to its link are left out.  Returns how many, at
 * most `max`. */
size_t es_interface_addresses(char (*out)[ES_INTERFACE_BYTES], size_t max);

#endif
