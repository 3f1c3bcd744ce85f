/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A rewritten pattern while it is put into another order. */
#ifndef ES_MONITORS_SEARCH_THESIS_REORDER_PRIVATE_H
#define ES_MONITORS_SEARCH_THESIS_REORDER_PRIVATE_H

#include "monitors/search/thesis/reorder.h"

struct esi_reorder_literal {
    struct esi_literal literal;
    double success;
};

struct esi_reorder_clause {
    struct esi_clause clause;
    struct esi_reorder_literal *literals; /* clause.count */
    double work;
};

struct esi_reorder {
    const struct esi_reorder_facts *facts;
    struct esi_reorder_clause *clauses;
    size_t count;
};

/* --- reorder_estimate.c ----------------------------------------------------------- */

/* How many pairs of values a literal may take where these variables have values. */
double esi_reorder_pairs(const struct esi_reorder *reorder,
                         const struct esi_reorder_literal *literal,
                         uint64_t assigned);
/* Tests of a clause, of its literals in their order. */
double esi_reorder_work(const struct esi_reorder *reorder,
                        const struct esi_reorder_clause *clause,
                        uint64_t assigned);
/* How likely it is that no literal of a clause holds. */
double esi_reorder_failure(const struct esi_reorder_clause *clause);
/* Tests of all clauses in their order. */
double esi_reorder_work_of_all(const struct esi_reorder *reorder);

/* --- reorder_brute.c -------------------------------------------------------------- */

/* False: there are too many orders.  -ENOMEM in *ret_result. */
bool esi_reorder_brute(struct esi_reorder *reorder,
                       struct esi_reordered *reordered,
                       int *ret_result);

#endif
