/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Orders the clauses and literals of a rewritten pattern (Nichols, 6.2).
 *
 * The order affects only the length of the search, not its result.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_REORDER_H
#define ES_MONITORS_SEARCH_THESIS_REORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/thesis/tuning.h"
#include "monitors/search/truth/cnf.h"

/* Facts about the values. */
struct esi_reorder_facts {
    const struct esi_program *program;
    double counts[ES_PROGRAM_VARIABLES]; /* number of values of each variable */
    /* Estimates the share of its variables' values for which a literal holds. */
    double (*success)(void *data, const struct esi_literal *literal);
    void *data;
};

/* What was done, for explanations. */
struct esi_reordered {
    enum esi_reordering reordering; /* the method used, which may differ from the one
                                       requested */
    bool is_too_large;              /* for the method requested */
    bool is_kept;    /* clusters were estimated to take more work than the order as
                        written */
    uint64_t orders; /* compared by brute force */
    double work;     /* its estimate for the best order */
};

/* Reorders the clauses and literals of a rewritten pattern.  Returns 0 or -ENOMEM. */
int esi_reorder(struct esi_cnf *cnf,
                const struct esi_reorder_facts *facts,
                enum esi_reordering reordering,
                struct esi_reordered *ret_reordered);

/* --- Estimates of work (6.2.1) ---------------------------------------------------- */

/* Literals of a clause, or clauses, that are tested in sequence until one decides: a
 * literal by success, a clause by failure. */
struct esi_work {
    double expected; /* tests so far */
    double reached;  /* how often the next one is reached */
    unsigned number; /* number added */
};

/* {0, 1, 0} at the start. */
void esi_work_add(struct esi_work *work, double cost, double ends, bool is_last);

#endif
