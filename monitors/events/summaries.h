/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collects the summaries of several pulls: those of one group become one.
 */
#ifndef ES_MONITORS_EVENTS_SUMMARIES_H
#define ES_MONITORS_EVENTS_SUMMARIES_H

#include <stddef.h>

#include "eventspace/summary.h"

/* A summary and an origin of its group, which is the group where that is an element. */
struct esi_summary_row {
    struct es_summary summary;
    const struct es_origin *origin; /* borrowed */
    const char *site; /* of groups by site: the same pointer for the same; borrowed */
};

/* Caller's memory, all zero is an empty one. */
struct esi_summaries {
    struct esi_summary_row *rows; /* owned: esi_summaries_fini() */
    size_t count;
    size_t capacity;
    size_t merged; /* rows that the last merging left */
};

void esi_summaries_fini(struct esi_summaries *summaries);
/* Adds one; O(1) on average but for the merging.  -ENOMEM. */
int esi_summaries_add(struct esi_summaries *summaries,
                      const struct esi_summary_row *row);
/* Leaves one row for each group and bucket, in the order of groups (operations by code,
 * others by host, rank and thread), buckets within.  O(n log n). */
void esi_summaries_merge(struct esi_summaries *summaries);

#endif
