/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_print.h - prints where the time goes, as sentences, tables, JSON Lines and
 * CSV. */
#ifndef ES_MONITORS_DELAY_DELAY_PRINT_H
#define ES_MONITORS_DELAY_DELAY_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/delay/delay.h"

struct esi_delay_style {
    unsigned groups; /* bits 1 << enum esi_delay_group of the requested groups */
    size_t top;      /* maximum number of rows per group and of sentences; 0 = all */
};

/* Prints sentences about the main causes, then a table for each group.  Returns 0,
 * -ENOMEM or -EIO. */
int esi_delay_print_text(const struct esi_delay *delay,
                         const struct esi_delay_style *style,
                         FILE *stream);
/* Prints JSON Lines: "type" is "rank", "operation", "communicator", "line", "kind",
 * "cause" or "totals". Returns 0, -ENOMEM or -EIO. */
int esi_delay_print_json(const struct esi_delay *delay,
                         const struct esi_delay_style *style,
                         FILE *stream);
/* Prints the rows of the first requested group.  Returns 0, -ENOMEM or -EIO. */
int esi_delay_print_csv(const struct esi_delay *delay,
                        const struct esi_delay_style *style,
                        FILE *stream);

/* Adds the members of a row of a group, or of a cause, as in the lines of `time` and
 * `collectives` for programs. */
void esi_delay_describe_row(struct esi_row *row,
                            enum esi_delay_group group,
                            const struct esi_delay_row *shown);
void esi_delay_describe_blame(struct esi_row *row,
                              int rank,
                              const struct esi_delay_blame *blame);

/* Calls `visit` with descriptions of the main causes of waits, at most `top`: "rank 3
 * costs the others 12.5 ms (40 % of all waiting): ...". Returns 0 or -ENOMEM. */
int esi_delay_foreach_cause(const struct esi_delay *delay,
                            size_t top,
                            void (*visit)(void *data,
                                          const char *text,
                                          double waited_ns),
                            void *data);

#endif
