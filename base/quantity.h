/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* quantity.h - numbers as people read them: three digits that count, and a unit.
 *
 * Each function writes into `out` of `size` bytes, cut if need be, always terminated,
 * and returns out. */
#ifndef ES_BASE_QUANTITY_H
#define ES_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum { ESI_QUANTITY_BYTES = 32 }; /* is enough for any of these texts */

/* A count or a rate: "0.0125", "3.14", "42", "12345": wholes are never rounded. */
const char *esi_quantity_number(char *out, size_t size, double number);
/* A length of time: "350 ns", "1.25 ms", "12.3 s", "3 min 20 s", "2 h 5 min". */
const char *esi_quantity_time(char *out, size_t size, double span_ns);
/* A size: "64 B", "1.50 KiB", "16.0 MiB". */
const char *esi_quantity_bytes(char *out, size_t size, double bytes);
/* A part of a whole that is not 0: "97 %"; never 0 % of something, nor 100 % of what is
 * not all: "<1 %", ">99 %". */
const char *esi_quantity_part(char *out, size_t size, uint64_t part, uint64_t whole);

#endif
