/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Counts the rows of a column that are in the relation of a COUNT with a set of events,
 * from the end of the predecessors and the beginning of the successors.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_COUNT_ROWS_H
#define ES_MONITORS_SEARCH_TRUTH_COUNT_ROWS_H

#include <stdint.h>

#include "monitors/search/truth/intervals.h"
#include "monitors/search/language/program.h"

struct esi_count_bounds {
    uint32_t before_end;  /* rows before this precede some event of the set */
    uint32_t after_begin; /* rows from here on succeed some event of the set */
};

/* Counts for a COUNT atom (not RECEIVED), ignoring its negation.  `members` are the
 * rows that belong to the set itself, sorted. */
uint64_t esi_count_rows(const struct esi_atom *atom,
                        struct esi_count_bounds bounds,
                        const struct esi_intervals *members,
                        uint32_t rows);

#endif
