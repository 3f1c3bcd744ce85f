/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_print.h - where the time goes, in words, tables, JSON Lines and CSV. */
#ifndef ES_MONITORS_DELAY_DELAY_PRINT_H
#define ES_MONITORS_DELAY_DELAY_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/delay/delay.h"

struct esi_delay_style {
    unsigned groups; /* bits 1 << enum esi_delay_group that are wanted */
    size_t top;      /* rows of each group and sentences at most; 0 = all */
};

/* Sentences about the greatest causes, then a table for each group.  0, -ENOMEM, -EIO.
 */
int esi_delay_print_text(const struct esi_delay *delay,
                         const struct esi_delay_style *style,
                         FILE *stream);
/* JSON Lines: "type" is "rank", "operation", "communicator", "line", "kind", "cause" or
 * "totals".  0, -ENOMEM, -EIO. */
int esi_delay_print_json(const struct esi_delay *delay,
                         const struct esi_delay_style *style,
                         FILE *stream);
/* The rows of the first group that is wanted.  0, -ENOMEM, -EIO. */
int esi_delay_print_csv(const struct esi_delay *delay,
                        const struct esi_delay_style *style,
                        FILE *stream);

/* Calls `visit` for the greatest causes of waits, `top` at most, in words: "rank 3
 * costs the others 12.5 ms (40 % of all waiting): ...".  0 or -ENOMEM. */
int esi_delay_foreach_cause(const struct esi_delay *delay,
                            size_t top,
                            void (*visit)(void *data,
                                          const char *text,
                                          double waited_ns),
                            void *data);

#endif
