/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* clock_each.h - converts many tick counts of one clock. */
#ifndef ES_BASE_CLOCK_EACH_H
#define ES_BASE_CLOCK_EACH_H

#include <stddef.h>

#include "eventspace/clock.h"

/* Converts each of `count` tick counts in place, like es_clock_realtime_ns(). */
void esi_clock_realtime_each(const struct es_clock *clock,
                             uint64_t *times,
                             size_t count);

#endif
