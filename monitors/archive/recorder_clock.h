/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Run time of a host's ticks, for archives: what was once converted stays.
 *
 * Estimates of a host's clock get better while the run goes on.  Tuples of one thread
 * come from several elements and at different times; if each were converted by the
 * estimate of its moment, their order could change.  So a line of knots is laid over
 * the ticks, about a second apart, each by the estimate of the time when it was first
 * needed, and never rising less than by the ticks' order.  The counters of all
 * processes of a host are one clock: they share a line, by the record that was seen
 * first.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_RECORDER_CLOCK_H
#define ES_MONITORS_ARCHIVE_RECORDER_CLOCK_H

#include "eventspace/stage_batch.h"

struct esi_recorder_clock;

/* The line of the clock of `origin`, from its clock's base on.  -ENOMEM. */
int esi_recorder_clock_create(const struct es_origin *origin,
                              struct esi_recorder_clock **ret_clock);
/* Accepts NULL. */
void esi_recorder_clock_destroy(struct esi_recorder_clock *clock);

/* Whether the origin's ticks are those of this line. */
bool esi_recorder_clock_is_of(const struct esi_recorder_clock *clock,
                              const struct es_origin *origin);

/* Never falls with rising ticks.  `origin` is one of the clock's, whose estimate is
 * asked where the line has to be longer.  -ENOMEM. */
int esi_recorder_clock_convert(struct esi_recorder_clock *clock,
                               const struct es_origin *origin,
                               uint64_t ticks,
                               uint64_t *ret_run_ns);

#endif
