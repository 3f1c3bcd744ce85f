/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_screen.h - `eventspace top` on a terminal: draws observations, reads keys.
 *
 * Restores the terminal when the function returns, and when a signal ends or stops the
 * process.
 *
 * One at a time, one thread.
 */
#ifndef ES_CLI_TOP_SCREEN_H
#define ES_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/top/top.h"

struct esi_top_settings {
    struct esi_top_choice choice;
    uint64_t interval_ns;     /* between two observations */
    unsigned long long count; /* of observations; 0 = until the user quits */
    bool waits;               /* see esi_top_read_waits() */
    bool colours;
};

/* Checks for a terminal and its description.  Returns 0, or -ENOTTY with `error`
 * filled. */
int esi_top_screen_check(struct es_error *error);

/* Shows the run until the user quits, the count is reached, or a signal recorded by
 * interrupt.h, which the caller has enabled.  Returns 0; -ENOTTY (with `error` filled)
 * for an unknown terminal; or the error of reading the run. */
int esi_top_screen_run(struct esi_top *top,
                       const struct esi_top_settings *settings,
                       struct es_error *error);

#endif
