/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_screen.h - `eventspace top` on a terminal: draws looks, reads keys.
 *
 * The terminal is as it was before when the function returns, and when a signal ends or
 * stops the process.
 *
 *   one at a time, one thread.
 */
#ifndef ES_CLI_TOP_SCREEN_H
#define ES_CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/top/top.h"

struct esi_top_settings {
    struct esi_top_choice choice;
    uint64_t interval_ns;     /* between two looks */
    unsigned long long count; /* of looks; 0 = until the user quits */
    bool waits;               /* see esi_top_read_waits() */
    bool colours;
};

/* Whether there is a terminal, and what draws on it.  0, or -ENOTTY with words. */
int esi_top_screen_check(struct es_error *error);

/* Shows the run until the user quits, so many looks are done, or a signal comes that
 * interrupt.h notes, which the caller has asked for.  0; -ENOTTY with words: the
 * terminal is not known; or why the run cannot be read. */
int esi_top_screen_run(struct esi_top *top,
                       const struct esi_top_settings *settings,
                       struct es_error *error);

#endif
