/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Shows the number of events so far on a terminal. */
#include "config.h"

#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/now.h"
#include "cli/command.h"

#define FIRST_NS UINT64_C(2000000000) /* nothing is shown before */
#define NEXT_NS UINT64_C(500000000)

enum { LOOK_EVERY = 4096 }; /* events between two readings of the clock */

void esi_progress_show(struct esi_progress *progress)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    if (progress->next_ns == 0 || now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + NEXT_NS;
    progress->shown = true;
    fprintf(stderr, "\r%" PRIu64 " events ...", progress->events);
}

static int count_event(void *data, const struct es_set_event *event)
{
    struct esi_progress *progress = data;

    (void)event;
    if (++progress->events % LOOK_EVERY == 0)
        esi_progress_show(progress);
    return 0;
}

bool esi_progress_start(struct esi_progress *progress, struct es_set_sink *ret_sink)
{
    *progress = (struct esi_progress){.events = 0};
    if (!esi_command_is_terminal(stderr))
        return false;
    progress->next_ns = esi_now_ns(CLOCK_MONOTONIC) + FIRST_NS;
    *ret_sink = (struct es_set_sink){.event = count_event, .data = progress};
    return true;
}

void esi_progress_end(struct esi_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
