/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * In which order clauses and literals of a rewritten pattern are searched (Nichols,
 * 6.2).
 *
 * The search is right in any order, only its length differs.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_REORDER_H
#define ES_MONITORS_SEARCH_THESIS_REORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/truth/cnf.h"
#include "monitors/search/search.h"

/* What is known of the values. */
struct esi_reorder_facts {
    const struct esi_program *program;
    double counts[ES_PROGRAM_VARIABLES]; /* values of each variable */
    /* The share of values of its variables for which a literal holds, estimated. */
    double (*success)(void *data, const struct esi_literal *literal);
    void *data;
};

/* What was done, for people. */
struct esi_reordered {
    enum esi_reordering reordering; /* as was asked for, or what was done instead */
    bool is_too_large;              /* for what was asked for */
    bool is_kept;    /* clusters were expected to take more than what is written */
    uint64_t orders; /* that brute force compared */
    double work;     /* its estimate of the best one */
};

/* Puts clauses and literals of a rewritten pattern into another order.  0 or -ENOMEM.
 */
int esi_reorder(struct esi_cnf *cnf,
                const struct esi_reorder_facts *facts,
                enum esi_reordering reordering,
                struct esi_reordered *ret_reordered);

/* --- Estimates of work (6.2.1) ---------------------------------------------------- */

/* Literals of a clause, or clauses, that are tested one after the other until one ends
 * it: a literal by success, a clause by failure. */
struct esi_work {
    double expected; /* tests, so far */
    double reached;  /* how often the next one is reached */
    unsigned number; /* of those that were added */
};

/* {0, 1, 0} at the start. */
void esi_work_add(struct esi_work *work, double cost, double ends, bool is_last);

#endif
