/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* quantity.h - formats numbers for people, with three significant digits and a unit.
 *
 * Each function writes to `out` of `size` bytes, truncates if necessary, always
 * terminates, and returns `out`. */
#ifndef ES_BASE_QUANTITY_H
#define ES_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum { ESI_QUANTITY_BYTES = 32 }; /* sufficient for all of these texts */

/* A count or a rate: "0.0125", "3.14", "42", "12345".  Does not round integers. */
const char *esi_quantity_number(char *out, size_t size, double number);
/* A duration: "350 ns", "1.25 ms", "-12.3 s", "3 min 20 s", "2 h 5 min". */
const char *esi_quantity_time(char *out, size_t size, double span_ns);
/* A size: "64 B", "1.50 KiB", "-16.0 MiB". */
const char *esi_quantity_bytes(char *out, size_t size, double bytes);
/* A percentage of a nonzero whole: "97 %".  "<1 %" instead of 0 % for a nonzero part,
 * and ">99 %" instead of 100 % for a part less than the whole. */
const char *esi_quantity_part(char *out, size_t size, uint64_t part, uint64_t whole);

#endif
