/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* nearest.h - the name a person may have meant. */
#ifndef ES_BASE_NEAREST_H
#define ES_BASE_NEAREST_H

#include <stddef.h>

/* Remembers the best of the candidates shown to it. */
struct esi_nearest {
    const char *wanted; /* borrowed */
    const char *name; /* the best so far, near enough to be meant, or NULL; borrowed */
    size_t distance;
};

void esi_nearest_init(struct esi_nearest *nearest, const char *wanted);
void esi_nearest_try(struct esi_nearest *nearest, const char *candidate);

#endif
