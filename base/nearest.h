/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* nearest.h - suggests a name for a misspelled one. */
#ifndef ES_BASE_NEAREST_H
#define ES_BASE_NEAREST_H

#include <stddef.h>

/* Remembers the best of the candidates. */
struct esi_nearest {
    const char *wanted; /* borrowed */
    const char *name;   /* the best candidate so far, if similar
                           enough; else NULL; borrowed */
    size_t distance;
};

void esi_nearest_init(struct esi_nearest *nearest, const char *wanted);
void esi_nearest_try(struct esi_nearest *nearest, const char *candidate);

#endif
