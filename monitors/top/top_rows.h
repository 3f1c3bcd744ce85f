/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_rows.h - a run as a table: a row for each rank or host, columns that say what it
 * does, sorted, filtered, and grouped by host; and strips of time.  Pure logic.
 *
 *     struct esi_top_list list = {.count = 0};
 *
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
    bool right;      /* its cells stand to the right */
    unsigned width;  /* in characters; of DOING and LINE the least */
    unsigned minor;  /* the greatest is left out first where there is no room; 0 =
                        never */
    bool descending; /* the greatest first, unless turned round */
};

const struct esi_top_column_info *esi_top_column_info(enum esi_top_column column);

enum { ESI_TOP_VERDICTS = ES_VERDICT_DEAD + 1 };

/* A rank, with its threads, or a host with its ranks.  Texts and pointers are borrowed
 * from the look. */
struct esi_top_row {
    const char *host;
    int rank; /* -1 = a host */
    int pid;
    size_t ranks;                          /* 1, or those of a host */
    size_t verdicts[ESI_TOP_VERDICTS];     /* ranks by verdict */
    enum esi_verdict verdict;              /* the worst of its threads */
    int finding;                           /* enum esi_verdict_kind of a certain
                                                verdict on it; -1 = none */
    uint64_t quiet_ns;                     /* for so long */
    const struct esi_thread_state *thread; /* of this verdict; NULL: a host */
    const struct esi_wait *wait;           /* its; NULL: a host */
    double rate;                           /* events a second; this and the next
                                                three: negative = not known */
    double share;                          /* of its time, in MPI */
    double caused_ns;                      /* waits of all that were its doing */
    double suffered_ns;                    /* that it waited */
    bool is_folded;                        /* a host whose ranks are not shown */
};

/* How bad a verdict is: the greatest first. */
int esi_top_verdict_order(enum esi_verdict verdict);

/* "DEADLOCK" of a rank with a verdict that is certain, else "stalled" and so on. */
const char *esi_top_row_state(const struct esi_top_row *row);

/* The text of a cell, "" where there is none; cut to `size` bytes.  Returns `out`. */
const char *esi_top_cell(const struct esi_top_row *row,
                         enum esi_top_column column,
                         char *out,
                         size_t size);

/* Whether a row has each word of the text: ranks such as "0-3,7", or a part of what
 * stands in one of its columns, in any case.  NULL and "" match all. */
bool esi_top_row_matches(const struct esi_top_row *row, const char *text);

/* --- Lists ------------------------------------------------------------------------ */

enum esi_top_shape { ESI_TOP_BY_RANK, ESI_TOP_BY_TREE, ESI_TOP_BY_HOST };

/* Which rows, and in which order. */
struct esi_top_choice {
    enum esi_top_column sort;
    bool turned;        /* the other way round */
    const char *filter; /* for ranks; NULL = all; borrowed */
    enum esi_top_shape shape;
    const char *const *folded; /* hosts whose ranks a tree does not show; borrowed */
    size_t folded_count;
};

/* All zero is empty. */
struct esi_top_list {
    struct esi_top_row *items; /* owned */
    size_t count;
    size_t capacity;
};

/* Makes the list of rows of ranks anew.  0 or -ENOMEM. */
int esi_top_list_make(struct esi_top_list *list,
                      const struct esi_top_row *rows,
                      size_t count,
                      const struct esi_top_choice *choice);
void esi_top_list_fini(struct esi_top_list *list);

/* --- Strips ----------------------------------------------------------------------- */

/* A time in which the same was done. */
struct esi_top_span {
    uint64_t start_ns;
    uint64_t stop_ns;
    char mark;
};

/* Writes `width` characters and a 0: for each `column_ns` from `begin_ns` on the mark
 * of the spans that fill most of it, '.' where none fills half, '?' before the first
 * span.  Marks are letters. */
void esi_top_strip(const struct esi_top_span *spans,
                   size_t count,
                   uint64_t begin_ns,
                   uint64_t column_ns,
                   size_t width,
                   char *out);

#endif
