/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* spans.h - lists of spans of positions in a column; for the search by ranges.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_SPANS_H
#define ES_MONITORS_SEARCH_TRUTH_SPANS_H

#include <stdbool.h>
#include <stdint.h>

struct esi_span {
    uint32_t begin; /* positions in a column */
    uint32_t end;
};

/* Rising and apart, but between esi_spans_add() and esi_spans_sort(). */
struct esi_spans {
    struct esi_span *items; /* owned */
    uint32_t count;
    uint32_t capacity;
    bool has_failed; /* no memory: some are missing */
};

void esi_spans_fini(struct esi_spans *spans);
/* Nothing where begin >= end.  Joins the last one if it begins at or in that. */
void esi_spans_add(struct esi_spans *spans, uint32_t begin, uint32_t end);
void esi_spans_sort(struct esi_spans *spans);
/* Leaves only what is in [begin, end). */
void esi_spans_keep(struct esi_spans *spans, uint32_t begin, uint32_t end);
/* What is in both; `to` is neither of them. */
void esi_spans_intersect(struct esi_spans *to,
                         const struct esi_spans *a,
                         const struct esi_spans *b);
/* Adds what is in [0, end) but not in `of`. */
void esi_spans_add_others(struct esi_spans *to,
                          const struct esi_spans *of,
                          uint32_t end);
uint64_t esi_spans_total(const struct esi_spans *spans);

#endif
