/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Finds the size of a tunnel that this machine moves in a given time. */
#ifndef APPS_TUNNEL_CALIBRATE_H
#define APPS_TUNNEL_CALIBRATE_H

#include "crew.h"

/*
 * Finds the number of rows (there are twice as many columns) for which an iteration,
 * and thus the time between exchanges, takes the given time. All ranks move a small
 * tunnel of their own for a moment; the slowest one counts. Collective; returns the
 * same on all ranks, or -1 if a rank lacks the memory or threads.
 */
long calibrate_rows(const struct tunnel *tunnel,
                    const struct exchange_layout *layout,
                    int threads,
                    double milliseconds);

#endif
