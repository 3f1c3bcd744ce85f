/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * progress.h - shows the number of events so far on a terminal, for activities that
 * take longer than two seconds.
 *
 *     struct esi_progress progress;
 *     struct es_set_sink sink;
 *
 *     if (esi_progress_start(&progress, &sink))
 *         (pass the events to `sink`, too)
 *     ...
 *     esi_progress_end(&progress);
 */
#ifndef ES_CLI_PROGRESS_H
#define ES_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/event.h"

/* Caller's memory; its fields are private. */
struct esi_progress {
    uint64_t events;
    uint64_t next_ns; /* when to show it next; 0 = never */
    bool shown;
};

/* Returns whether standard error is a terminal; then `ret_sink`, which borrows the
 * progress, counts the events and shows their number. */
bool esi_progress_start(struct esi_progress *progress, struct es_set_sink *ret_sink);
/* Updates the display if it is time, even without events. */
void esi_progress_show(struct esi_progress *progress);
/* Removes the display. */
void esi_progress_end(struct esi_progress *progress);

#endif
