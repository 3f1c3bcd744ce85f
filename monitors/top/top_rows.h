/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_rows.h - a run as a table: one row per rank or host, sorted, filtered and grouped
 * by host; and strips of time.  Pure logic.
 *
 *     struct esi_top_list list = {.count = 0};
 *     esi_top_list_make(&list, rows, count, &choice);
 *     for (size_t i = 0; i < list.count; i++)
 *         puts(esi_top_cell(&list.items[i], ESI_TOP_STATE, text, sizeof text));
 *     esi_top_list_fini(&list);
 */
#ifndef ES_MONITORS_TOP_TOP_ROWS_H
#define ES_MONITORS_TOP_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/follow/thread_state.h"
#include "monitors/verdict/conditions.h"

enum esi_top_column {
    ESI_TOP_RANK,
    ESI_TOP_HOST,
    ESI_TOP_STATE,
    ESI_TOP_FOR,
    ESI_TOP_DOING,
    ESI_TOP_PEER,
    ESI_TOP_RATE,
    ESI_TOP_SHARE,
    ESI_TOP_CAUSED,
    ESI_TOP_SUFFERED,
    ESI_TOP_LINE,
    ESI_TOP_COLUMNS,
};

/* How a column is shown. */
struct esi_top_column_info {
    const char *key; /* for options: "rank", "state" */
    const char *heading;
    bool right;      /* right-aligned */
    unsigned width;  /* in characters; minimum for DOING and LINE */
    unsigned minor;  /* columns with the largest value are omitted first if space is
                        short; 0 = never */
    bool descending; /* sorted in descending order by default */
};

const struct esi_top_column_info *esi_top_column_info(enum esi_top_column column);

/* A rank with its threads, or a host with its ranks.  Texts and pointers are borrowed
 * from the observation. */
struct esi_top_row {
    const char *host;
    int rank; /* -1 = a host */
    int pid;
    size_t ranks;                          /* 1, or number of ranks of a host */
    size_t verdicts[ES_VERDICTS];          /* number of ranks by verdict */
    enum esi_verdict verdict;              /* the worst of its threads */
    int finding;                           /* enum esi_verdict_kind of a certain
                                              verdict that contains it; -1 = none */
    uint64_t quiet_ns;                     /* time since its last progress */
    const struct esi_thread_state *thread; /* the thread with this verdict; NULL for
                                              a host */
    const struct esi_wait *wait;           /* of this thread; NULL for a host */
    double rate;                           /* events per second; in this and the next
                                              three, negative = not known */
    double share;                          /* of its time in MPI */
    double caused_ns;                      /* waiting time that it caused */
    double suffered_ns;                    /* its own waiting time */
    bool is_folded;                        /* a host whose ranks are not shown */
};

/* "DEADLOCK" for a rank with a certain verdict, otherwise "stalled" etc. */
const char *esi_top_row_state(const struct esi_top_row *row);

/* The text of a cell, "" if empty; truncated to `size` bytes.  Returns `out`. */
const char *esi_top_cell(const struct esi_top_row *row,
                         enum esi_top_column column,
                         char *out,
                         size_t size);

/* Whether a row matches each word of the text: ranks such as "0-3,7", or part of the
 * text of a column, ignoring case.  NULL and "" match all. */
bool esi_top_row_matches(const struct esi_top_row *row, const char *text);

/* --- Lists ------------------------------------------------------------------------ */

enum esi_top_shape { ESI_TOP_BY_RANK, ESI_TOP_BY_TREE, ESI_TOP_BY_HOST };

/* Selection and order of rows. */
struct esi_top_choice {
    enum esi_top_column sort;
    bool turned;        /* in reverse order */
    const char *filter; /* for ranks; NULL = all; borrowed */
    enum esi_top_shape shape;
    const char *const *folded; /* hosts whose ranks are hidden in a tree; borrowed */
    size_t folded_count;
};

/* A zeroed struct is empty. */
struct esi_top_list {
    struct esi_top_row *items; /* owned */
    size_t count;
    size_t capacity;
};

/* Replaces the list by a selection of `rows`. Returns 0 or -ENOMEM. */
int esi_top_list_make(struct esi_top_list *list,
                      const struct esi_top_row *rows,
                      size_t count,
                      const struct esi_top_choice *choice);
void esi_top_list_fini(struct esi_top_list *list);

/* --- Strips ----------------------------------------------------------------------- */

/* A time span of one activity. */
struct esi_top_span {
    uint64_t start_ns;
    uint64_t stop_ns;
    char mark;
};

/* Writes `width` characters and a terminating 0. For each interval of `column_ns` from
 * `begin_ns` on, writes the mark whose spans cover most of it, '.' if none covers half,
 * '?' before the first span.  Marks are letters. */
void esi_top_strip(const struct esi_top_span *spans,
                   size_t count,
                   uint64_t begin_ns,
                   uint64_t column_ns,
                   size_t width,
                   char *out);

#endif
