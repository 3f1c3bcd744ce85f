/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_print.h - prints the results of the collective-operation monitor as text
 * and as JSON. */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_PRINT_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_PRINT_H

#include <stdio.h>

#include "monitors/collectives/collectives_monitor.h"

/* Returns the largest share of time that a world rank has cost the others, over all
 * groups; *ret_rank is the rank, -1 = none. */
double esi_collectives_worst(const struct esi_collectives_report *report,
                             int *ret_rank);

/* Describes why a rank is late: "its own delay, ...", or the rank responsible; "" = not
 * known. */
struct esi_collectives_causes {
    void (*describe)(void *data,
                     int rank,
                     char *out,
                     size_t size); /* NULL: no description */
    void *data;                    /* borrowed */
};

/* Prints a table of the `top` most expensive groups, as wide as the terminal, the
 * culprits, and what is missing.  Returns 0, -ENOMEM or -EIO. */
int esi_collectives_print_text(const struct esi_collectives_report *report,
                               size_t top,
                               const struct esi_collectives_causes *causes,
                               FILE *stream);
/* Prints one line of text. */
void esi_collectives_print_instance(const struct esi_collective_instance *instance,
                                    uint64_t start_ns,
                                    FILE *stream);

/* Prints JSON Lines: an "operation" for each of the `top` groups, a "rank" for each of
 * its members, and a "summary". */
int esi_collectives_print_json(const struct esi_collectives_report *report,
                               const char *run,
                               size_t top,
                               FILE *stream);
void esi_collectives_print_instance_json(const struct esi_collective_instance *instance,
                                         uint64_t start_ns,
                                         FILE *stream);

#endif
