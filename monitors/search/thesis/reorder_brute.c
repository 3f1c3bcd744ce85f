/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reorder_brute.c - the order with the least estimated work of all (Nichols, 6.2.1).
 *
 * The work of a clause depends on the variables that the clauses before it assigned,
 * not on their order, and the work of all rises with that of each.  So for each order
 * of the clauses the best order of each one's literals is found by itself, and nothing
 * of the d! h1! ... hd! orders is missed. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/thesis/reorder_private.h"

enum { MOST_ORDERS = 1 << 18 }; /* orders of clauses times orders of literals of each */

struct brute {
    struct esi_reorder *reorder;
    struct esi_reorder_clause *best; /* clauses in the best order so far */
    double best_work;
    double *work; /* of the clauses that are placed */
    double *failure;
    bool has_best;
};

/* The factorial, or `most` + 1 if it is greater than most. */
static double factorial_of(size_t number, double most)
{
    double product = 1;

    for (size_t i = 2; i <= number; i++) {
        product *= (double)i;
        if (product > most)
            return most + 1;
    }
    return product;
}

/* --- The literals of a clause ----------------------------------------------------- */

static void swap_literals(struct esi_reorder_literal *a, struct esi_reorder_literal *b)
{
    struct esi_reorder_literal keep = *a;

    *a = *b;
    *b = keep;
}

/* Orders of the literals from `first` on; the best goes to `best`. */
static void try_literals(const struct esi_reorder *reorder,
                         struct esi_reorder_clause *clause,
                         size_t first,
                         uint64_t assigned,
                         struct esi_reorder_literal *best,
                         double *best_work)
{
    size_t count = clause->clause.count;

    if (first + 1 >= count) {
        double work = esi_reorder_work(reorder, clause, assigned);

        if (work < *best_work) {
            *best_work = work;
            memcpy(best, clause->literals, count * sizeof *best);
        }
        return;
    }
    for (size_t i = first; i < count; i++) {
        swap_literals(&clause->literals[first], &clause->literals[i]);
        try_literals(reorder, clause, first + 1, assigned, best, best_work);
        swap_literals(&clause->literals[first], &clause->literals[i]);
    }
}

/* Puts the literals into the best order.  Its work, or -1: no memory. */
static double arrange_clauses(const struct esi_reorder *reorder,
                              struct esi_reorder_clause *clause,
                              uint64_t assigned)
{
    size_t bytes = clause->clause.count * sizeof *clause->literals;
    struct esi_reorder_literal *best = malloc(bytes + 1);
    double work = INFINITY;

    if (!best)
        return -1;
    memcpy(best, clause->literals, bytes);
    try_literals(reorder, clause, 0, assigned, best, &work);
    memcpy(clause->literals, best, bytes);
    free(best);
    return work;
}

/* --- Clauses ---------------------------------------------------------------------- */

static void swap_clauses(struct esi_reorder_clause *a, struct esi_reorder_clause *b)
{
    struct esi_reorder_clause keep = *a;

    *a = *b;
    *b = keep;
}

static void keep_best(struct brute *brute)
{
    size_t count = brute->reorder->count;
    struct esi_work work = {.reached = 1};

    for (size_t i = 0; i < count; i++)
        esi_work_add(&work, brute->work[i], brute->failure[i], i + 1 == count);
    if (brute->has_best && !(work.expected < brute->best_work))
        return;
    brute->has_best = true;
    brute->best_work = work.expected;
    memcpy(brute->best, brute->reorder->clauses, count * sizeof *brute->best);
}

static int try_clauses(struct brute *brute, size_t first, uint64_t assigned)
{
    struct esi_reorder_clause *clauses = brute->reorder->clauses;
    int result = 0;

    if (first == brute->reorder->count) {
        keep_best(brute);
        return 0;
    }
    for (size_t i = first; i < brute->reorder->count && result == 0; i++) {
        swap_clauses(&clauses[first], &clauses[i]);
        brute->work[first] = arrange_clauses(brute->reorder, &clauses[first], assigned);
        brute->failure[first] = esi_reorder_failure(&clauses[first]);
        result = brute->work[first] < 0
                     ? -ENOMEM
                     : try_clauses(brute, first + 1,
                                   assigned | clauses[first].clause.existential);
        swap_clauses(&clauses[first], &clauses[i]);
    }
    return result;
}

/* Literals move while other orders are tried: puts them as they suit the best one. */
static int finalize_order(struct brute *brute)
{
    struct esi_reorder *reorder = brute->reorder;
    uint64_t assigned = 0;

    memcpy(reorder->clauses, brute->best, reorder->count * sizeof *brute->best);
    for (size_t i = 0; i < reorder->count; i++) {
        if (arrange_clauses(reorder, &reorder->clauses[i], assigned) < 0)
            return -ENOMEM;
        assigned |= reorder->clauses[i].clause.existential;
    }
    return 0;
}

static bool is_too_large(const struct esi_reorder *reorder, double *ret_orders)
{
    double of_clauses = factorial_of(reorder->count, MOST_ORDERS);
    double of_literals = 0;
    double all = of_clauses;

    for (size_t i = 0; i < reorder->count; i++) {
        double orders = factorial_of(reorder->clauses[i].clause.count, MOST_ORDERS);

        of_literals += orders;
        all *= orders;
    }
    *ret_orders = all;
    return of_clauses * (of_literals + 1) > MOST_ORDERS;
}

bool esi_reorder_brute(struct esi_reorder *reorder,
                       struct esi_reordered *reordered,
                       int *ret_result)
{
    struct brute brute = {.reorder = reorder};
    double orders;

    *ret_result = 0;
    if (is_too_large(reorder, &orders))
        return false;
    brute.best = calloc(reorder->count, sizeof *brute.best);
    brute.work = calloc(reorder->count, sizeof *brute.work);
    brute.failure = calloc(reorder->count, sizeof *brute.failure);
    if (brute.best && brute.work && brute.failure)
        *ret_result = try_clauses(&brute, 0, 0);
    else
        *ret_result = -ENOMEM;
    if (*ret_result == 0)
        *ret_result = finalize_order(&brute);
    reordered->orders = (uint64_t)orders;
    reordered->work = brute.best_work;
    free(brute.best);
    free(brute.work);
    free(brute.failure);
    return true;
}
