/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shows gather trees and the cost of each stage: as a table, as JSON Lines, as a graph
 * for graphviz, or as a picture.
 *
 * The input is a list of values, whether the scope is in this process or reported by a
 * tuple server.  Stages are listed with the root first and children after their parent,
 * in the order of es_scope_foreach_stage(); stages in tuple servers follow their remote
 * stage, one level deeper.
 */
#ifndef ES_SCOPES_SHOW_H
#define ES_SCOPES_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One stage.  A value type with borrowed texts. */
struct esi_stage_row {
    int depth;        /* 0 for the root; at most that of the previous row + 1 */
    const char *type; /* "gather" */
    const char *label;
    const char *host; /* host of the stage; NULL or "" if that of its parent */
    uint64_t calls;
    uint64_t tuples;
    uint64_t failures;
    uint64_t bytes; /* received across a process boundary */
    uint64_t lost;
    uint64_t late;
    uint64_t time_ns; /* wall time of all calls, including children */
    uint64_t cpu_ns;  /* CPU time of the calling thread, including children */
    bool silent;      /* does not answer at the moment */
};

/* All zero selects the defaults. */
struct esi_show_options {
    size_t fold; /* if a stage has more elements than this, they are shown as one
                    line or box, "266 elements", with their sums; 0 means 4 */
    bool all;    /* do not fold */
    bool ascii;  /* draw the tree of the table with ASCII characters */
};

/* Prints the tree and its cost in one of these formats:
 *
 *   table   for people, as wide as the terminal; empty columns are omitted
 *   json    one object per stage: "stage" (number), "parent" (number or null), all
 *           members of the row, "own_time_ns", and "own_cpu_ns".  Folded elements are
 *           one object of type "elements" with their number in "elements".
 *   dot     for graphviz: `dot -Tsvg`
 *   svg     a picture that needs no other program: boxes coloured by their share of the
 *           CPU time, edges with the number of tuples per pull
 *
 * `options` may be NULL for the defaults.  Returns 0; -ENOMEM; -EINVAL if the depths do
 * not form a tree or the format is unknown; or -EIO. */
int esi_show_print(const char *format,
                   FILE *stream,
                   const struct esi_stage_row *rows,
                   size_t count,
                   const struct esi_show_options *options);

bool esi_show_has_format(const char *format);

#endif
