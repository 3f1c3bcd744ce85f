/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_print.h - shows what the collective-operation monitor has found, to
 * people and to programs. */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_PRINT_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_PRINT_H

#include <stdio.h>

#include "monitors/collectives/collectives_monitor.h"

/* The greatest share that a world rank owes, over all groups; its rank in *ret_rank, -1
 * = nobody owes anything. */
double esi_collectives_worst(const struct esi_collectives_report *report,
                             int *ret_rank);

/* Tells why a rank is late: "its own delay, ...", or whose it was.  "" = not known. */
struct esi_collectives_causes {
    void (*describe)(void *data, int rank, char *out, size_t size); /* NULL: nobody */
    void *data;                                                     /* borrowed */
};

/* A table of the `top` groups that cost most, as wide as the terminal is, who is to
 * blame, and what is missing.  0, -ENOMEM or -EIO. */
int esi_collectives_print_text(const struct esi_collectives_report *report,
                               size_t top,
                               const struct esi_collectives_causes *causes,
                               FILE *stream);
/* One line of text. */
void esi_collectives_print_instance(const struct esi_collective_instance *instance,
                                    uint64_t start_ns,
                                    FILE *stream);

/* JSON Lines: an "operation" for each of the `top` groups, a "rank" for each member of
 * each of them, and a "summary". */
int esi_collectives_print_json(const struct esi_collectives_report *report,
                               const char *run,
                               size_t top,
                               FILE *stream);
void esi_collectives_print_instance_json(const struct esi_collective_instance *instance,
                                         uint64_t start_ns,
                                         FILE *stream);

#endif
