/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* origin_process.h - the process of an origin: a rank on a host, by pid and birth.  The
 * pid alone may come again: after exec, or in another container of the same name. */
#ifndef ES_SCOPES_ORIGIN_PROCESS_H
#define ES_SCOPES_ORIGIN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "eventspace/clock.h"
#include "eventspace/stage_batch.h"

/* When its process began to be observed, in ns by CLOCK_REALTIME of its host; 0 = not
 * known. */
static inline uint64_t esi_origin_birth(const struct es_origin *origin)
{
    return origin->clock ? origin->clock->base_realtime_ns : 0;
}

static inline bool esi_origin_is_same_process(const struct es_origin *a,
                                              const struct es_origin *b)
{
    return a->pid == b->pid && a->rank == b->rank &&
           esi_origin_birth(a) == esi_origin_birth(b) && strcmp(a->host, b->host) == 0;
}

#endif
