/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The plan of the engine "rewrite": the rewritten pattern of each disjunct, ordered,
 * with its literals ready for testing.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_ENGINE_REWRITE_PRIVATE_H
#define ES_MONITORS_SEARCH_THESIS_ENGINE_REWRITE_PRIVATE_H

#include "monitors/search/thesis/engine_rewrite_values.h"
#include "monitors/search/thesis/reorder.h"

/* One universal variable of a clause, and the order in which its values are tried:
 * values that failed last come first (6.3). */
struct esi_forall {
    unsigned variable;
    uint32_t count;
    uint32_t *order; /* NULL: in the order of the domain */
};

struct esi_plan_clause {
    uint64_t existential;
    size_t count;
    struct esi_test *tests; /* if some have universal variables, those without come
                               first */
    size_t fixed;           /* number of tests without universal variables */
    size_t lucky; /* among those with universal variables, the test that held last:
                     tried first if failed values are */
    bool learns;
    size_t forall_count;
    struct esi_forall *foralls;
};

/* The plan of one disjunct. */
struct esi_plan {
    struct esi_cnf *cnf;
    size_t size_before; /* size of the pattern before pruning */
    size_t literals_before;
    struct esi_reordered reordered;
    uint64_t sampled; /* comparisons made for samples, not counted elsewhere */
    struct esi_plan_clause *clauses;
    size_t clause_count;
};

struct esi_plans {
    const struct esi_engine_task *task;
    struct esi_choice choice;
    uint64_t empty;         /* universal variables without values */
    struct esi_plan *items; /* by disjunct of the program */
    uint32_t count;
};

/* --- engine_rewrite_plan.c -------------------------------------------------------- */

int esi_plans_create(const struct esi_engine_task *task,
                     struct esi_plans *ret_plans,
                     struct es_error *error);
void esi_plans_destroy(struct esi_plans *plans);

/* --- engine_rewrite_explain.c ----------------------------------------------------- */

int esi_rewrite_explain(const struct esi_engine_task *task,
                        FILE *out,
                        struct es_error *error);

#endif
