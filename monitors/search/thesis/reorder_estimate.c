/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reorder_estimate.c - how much a search is expected to test (Nichols, 6.2.1).
 *
 * Of a clause it is the sum over its h literals of
 *     i (l r)i success_i  times the product over j < i of (l r)j (1 - success_j)
 * where the last one's success is left out, since it ends the clause either way; l and
 * r are how many values its variables may take.  Of all clauses it is the same sum with
 * what each is expected to test in place of l r, and its failure in place of success.
 * All are taken to be independent of each other. */
#include "config.h"

#include "monitors/search/thesis/reorder_private.h"

void esi_work_add(struct esi_work *work, double cost, double ends, bool is_last)
{
    work->number++;
    work->expected += work->number * cost * (is_last ? 1 : ends) * work->reached;
    work->reached *= cost * (1 - ends);
}

static double values_of(const struct esi_reorder *reorder,
                        unsigned variable,
                        uint64_t assigned)
{
    return assigned >> variable & 1 ? 1 : reorder->facts->counts[variable];
}

double esi_reorder_pairs(const struct esi_reorder *reorder,
                         const struct esi_reorder_literal *literal,
                         uint64_t assigned)
{
    unsigned x = literal->literal.x;
    unsigned y = literal->literal.y;

    return values_of(reorder, x, assigned) *
           (x == y ? 1 : values_of(reorder, y, assigned));
}

double esi_reorder_work(const struct esi_reorder *reorder,
                        const struct esi_reorder_clause *clause,
                        uint64_t assigned)
{
    struct esi_work work = {.reached = 1};
    size_t count = clause->clause.count;

    for (size_t i = 0; i < count; i++) {
        const struct esi_reorder_literal *literal = &clause->literals[i];

        esi_work_add(&work, esi_reorder_pairs(reorder, literal, assigned),
                     literal->success, i + 1 == count);
        assigned |= literal->literal.variables;
    }
    return work.expected;
}

double esi_reorder_failure(const struct esi_reorder_clause *clause)
{
    double failure = 1;

    for (size_t i = 0; i < clause->clause.count; i++)
        failure *= 1 - clause->literals[i].success;
    return failure;
}

double esi_reorder_work_of_all(const struct esi_reorder *reorder)
{
    struct esi_work work = {.reached = 1};
    uint64_t assigned = 0;

    for (size_t i = 0; i < reorder->count; i++) {
        const struct esi_reorder_clause *clause = &reorder->clauses[i];

        esi_work_add(&work, esi_reorder_work(reorder, clause, assigned),
                     esi_reorder_failure(clause), i + 1 == reorder->count);
        assigned |= clause->clause.existential;
    }
    return work.expected;
}
