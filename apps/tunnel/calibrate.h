/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* How large a tunnel this machine moves in a given time. */
#ifndef APPS_TUNNEL_CALIBRATE_H
#define APPS_TUNNEL_CALIBRATE_H

#include "crew.h"

/*
 * Finds the number of rows (columns are twice as many) for which an iteration, and so
 * the time between exchanges, takes that long. All ranks move a small tunnel of their
 * own for a moment; the slowest decides. Collective; returns the same on all ranks, or
 * -1 when a rank has not the memory or threads for it.
 */
long calibrate_rows(const struct tunnel *tunnel,
                    const struct exchange_layout *layout,
                    int threads,
                    double milliseconds);

#endif
