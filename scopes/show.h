/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shows gather trees and what each stage has cost: as a table, as JSON Lines, as a
 * graph for graphviz, and as a picture.
 *
 * Works on values alone, so it is the same for a scope of this process and for one that
 * a tuple server reports.  Stages come as a list, the root first, children behind
 * their parent, as es_scope_foreach_stage() visits them; what stands in tuple servers
 * follows its remote stage, one deeper.
 */
#ifndef ES_SCOPES_SHOW_H
#define ES_SCOPES_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One stage.  A value type, texts borrowed. */
struct esi_stage_row {
    int depth;        /* 0 = root; at most one more than the row before */
    const char *type; /* "gather" */
    const char *label;
    const char *host; /* where it runs; NULL or "" = with its parent */
    uint64_t calls;
    uint64_t tuples;
    uint64_t failures;
    uint64_t bytes; /* that crossed a process boundary to get here */
    uint64_t lost;
    uint64_t late;
    uint64_t time_ns; /* wall time of all calls, children included */
    uint64_t cpu_ns;  /* CPU time of the calling thread, likewise */
    bool silent;      /* does not answer at the moment */
};

/* Zero is the default of each. */
struct esi_show_options {
    size_t fold; /* more elements than this below one stage are shown as one line or
                     box, "266 elements", with their sums; 0 = 4 */
    bool all;    /* none are folded */
    bool ascii;  /* the table's tree is drawn with characters every terminal has */
};

/* Prints the tree and its cost in one of these formats:
 *
 *   table   for people, as wide as the terminal is; columns that would be empty all
 *           down are left out
 *   json    one object a stage: "stage" (number), "parent" (number or null), all of the
 *           row, "own_time_ns", and "own_cpu_ns".  Folded elements are one object of
 *           type "elements" with their number in "elements".
 *   dot     for graphviz: `dot -Tsvg`
 *   svg     a picture that needs no other program: boxes coloured by their share of the
 *           CPU time, edges with the tuples that a pull carries
 *
 * `options` NULL: the defaults.  0, -ENOMEM, -EINVAL (depths that make no tree, or no
 * such format), or -EIO. */
int esi_show_print(const char *format,
                   FILE *stream,
                   const struct esi_stage_row *rows,
                   size_t count,
                   const struct esi_show_options *options);

bool esi_show_has_format(const char *format);

#endif
