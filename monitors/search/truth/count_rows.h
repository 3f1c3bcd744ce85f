/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How many rows of a column are in the relation of a count with a set of events, by
 * where its predecessors end and its successors begin.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_COUNT_ROWS_H
#define ES_MONITORS_SEARCH_TRUTH_COUNT_ROWS_H

#include <stdint.h>

#include "monitors/search/truth/intervals.h"
#include "monitors/search/language/program.h"

struct esi_count_bounds {
    uint32_t before_end;  /* rows below precede some event of the set */
    uint32_t after_begin; /* rows from here on succeed some event */
};

/* Of a COUNT atom (not of RECEIVED), as if it were not negated.  `members` are rows of
 * the set itself, sorted. */
uint64_t esi_count_rows(const struct esi_atom *atom,
                        struct esi_count_bounds bounds,
                        const struct esi_intervals *members,
                        uint32_t rows);

#endif
