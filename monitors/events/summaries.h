/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Merges the summaries of several pulls by group.
 */
#ifndef ES_MONITORS_EVENTS_SUMMARIES_H
#define ES_MONITORS_EVENTS_SUMMARIES_H

#include <stddef.h>

#include "eventspace/summary.h"

/* A summary and an origin of its group; if groups are elements, the origin identifies
 * it. */
struct esi_summary_row {
    struct es_summary summary;
    const struct es_origin *origin; /* borrowed */
    const char *site; /* for groups by site: equal sites have the same pointer;
                         borrowed */
};

/* Caller's memory; a zeroed struct is empty. */
struct esi_summaries {
    struct esi_summary_row *rows; /* owned: esi_summaries_fini() */
    size_t count;
    size_t capacity;
    size_t merged; /* number of rows after the last merge */
};

void esi_summaries_fini(struct esi_summaries *summaries);
/* Adds a summary.  Returns 0 or -ENOMEM. O(1) on average, except for merging. */
int esi_summaries_add(struct esi_summaries *summaries,
                      const struct esi_summary_row *row);
/* Merges all rows of the same group and bucket.  Sorts by group (operations by code,
 * others by host, rank and thread), then by bucket.  O(n log n). */
void esi_summaries_merge(struct esi_summaries *summaries);

#endif
