/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Converts the ticks of a host to run time for archives, where a conversion must not
 * change later.
 *
 * Estimates of a host's clock improve during the run.  The tuples of a thread come from
 * several elements and at different times; if each were converted by the estimate of
 * its moment, their order could change.  Therefore the conversion is a piecewise linear
 * curve with knots about one second apart.  Each knot is computed by the estimate of
 * the time when it was first needed, and the curve never decreases.  The counters of
 * all processes of a host are one clock: they share a curve, with the clock record that
 * was seen first.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_RECORDER_CLOCK_H
#define ES_MONITORS_ARCHIVE_RECORDER_CLOCK_H

#include "eventspace/stage_batch.h"

struct esi_recorder_clock;

/* Creates the curve for the clock of `origin`, starting at the base of its clock
 * record. Returns 0 or -ENOMEM. */
int esi_recorder_clock_create(const struct es_origin *origin,
                              struct esi_recorder_clock **ret_clock);
/* Accepts NULL. */
void esi_recorder_clock_destroy(struct esi_recorder_clock *clock);

/* Returns whether the origin uses this clock. */
bool esi_recorder_clock_is_of(const struct esi_recorder_clock *clock,
                              const struct es_origin *origin);

/* Converts ticks; the result never decreases with increasing ticks.  `origin` must use
 * this clock; its estimate is used to extend the curve.  Returns 0 or -ENOMEM. */
int esi_recorder_clock_convert(struct esi_recorder_clock *clock,
                               const struct es_origin *origin,
                               uint64_t ticks,
                               uint64_t *ret_run_ns);

#endif
