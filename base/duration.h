/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* duration.h - durations as text.  For parsing see es_duration_parse() in
 * eventspace/stage_property.h. */
#ifndef ES_BASE_DURATION_H
#define ES_BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* Writes the duration in the largest unit that needs no fraction: "1500ms", "0s". */
void esi_duration_format(uint64_t ns, char *out, size_t size);

#endif
