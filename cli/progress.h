/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * progress.h - how many events there were so far, on a terminal, of what takes longer
 * than two seconds.
 *
 *     struct esi_progress progress;
 *     struct es_set_sink sink;
 *
 *     if (esi_progress_start(&progress, &sink))
 *         (let the events go through `sink`, too)
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
    uint64_t next_ns; /* when to show it; 0 = never */
    bool shown;
};

/* Whether standard error is a terminal: then `ret_sink`, which borrows the progress,
 * counts and shows it. */
bool esi_progress_start(struct esi_progress *progress, struct es_set_sink *ret_sink);
/* Shows it if it is time, also where no events come. */
void esi_progress_show(struct esi_progress *progress);
/* Takes away what was shown. */
void esi_progress_end(struct esi_progress *progress);

#endif
