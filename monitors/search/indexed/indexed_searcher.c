/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_searcher.c - the state of one thread that searches by ranges. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/indexed/indexed_searcher.h"

/* --- Searchers -------------------------------------------------------------------- */

static unsigned depths(const struct esi_indexed_plan *plan)
{
    return (unsigned)__builtin_popcountll(plan->existential) + 1;
}

int esi_searcher_create(const struct esi_indexed_plan *plan,
                        struct esi_searcher **ret_searcher)
{
    struct esi_searcher *searcher = calloc(1, sizeof *searcher);
    size_t variables = plan->variable_count + 1;
    size_t domains = plan->distinct_count + 1;

    if (!searcher)
        return -ENOMEM;
    searcher->plan = plan;
    searcher->precedence.order = plan->order;
    searcher->check.program = plan->program;
    searcher->check.domains = plan->domains;
    searcher->check.counted = plan->counted;
    searcher->check.precedence = &searcher->precedence;
    searcher->first = -1;
    searcher->pinned = -1;
    searcher->may_settle = !plan->all_witnesses;
    searcher->rows = calloc(variables * domains, sizeof *searcher->rows);
    searcher->memos = calloc(domains * domains, sizeof *searcher->memos);
    searcher->stamps = calloc(variables, sizeof *searcher->stamps);
    searcher->orders = calloc(plan->clause_count + 1u, sizeof *searcher->orders);
    searcher->candidates =
        calloc(depths(plan) * variables, sizeof *searcher->candidates);
    searcher->spans = calloc(depths(plan), sizeof *searcher->spans);
    if (plan->is_growing)
        searcher->few = calloc(variables * ESI_LISTED_FEW, sizeof *searcher->few);
    if ((plan->is_growing && !searcher->few) || !searcher->rows || !searcher->memos ||
        !searcher->stamps || !searcher->orders || !searcher->candidates ||
        !searcher->spans) {
        esi_searcher_destroy(searcher);
        return -ENOMEM;
    }
    *ret_searcher = searcher;
    return 0;
}

static void free_rows(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    size_t domains = plan->distinct_count;

    for (size_t i = 0; searcher->rows && i < plan->variable_count * domains; i++)
        free(searcher->rows[i].entries);
    for (size_t i = 0; searcher->memos && i < domains * domains; i++)
        free(searcher->memos[i].ends);
    for (size_t i = 0; searcher->stamps && i < plan->variable_count; i++) {
        free(searcher->stamps[i].bindings);
        free(searcher->stamps[i].greatest);
    }
    for (size_t i = 0; searcher->orders && i < plan->clause_count; i++)
        free(searcher->orders[i].slots);
    free(searcher->rows);
    free(searcher->memos);
    free(searcher->stamps);
    free(searcher->orders);
}

static void free_candidates(struct esi_searcher *searcher)
{
    size_t count = (size_t)depths(searcher->plan) * searcher->plan->variable_count;

    for (size_t i = 0; searcher->candidates && i < count; i++)
        free(searcher->candidates[i].ranges);
    for (size_t i = 0; searcher->spans && i < depths(searcher->plan); i++)
        esi_spans_fini(&searcher->spans[i]);
    free(searcher->candidates);
    free(searcher->spans);
}

void esi_searcher_destroy(struct esi_searcher *searcher)
{
    if (!searcher)
        return;
    free_rows(searcher);
    free_candidates(searcher);
    free(searcher->few);
    free(searcher->work);
    esi_tuple_set_fini(&searcher->told);
    es_formula_check_fini(&searcher->check);
    esi_spans_fini(&searcher->allowed);
    esi_spans_fini(&searcher->scratch);
    esi_spans_fini(&searcher->kept);
    esi_spans_fini(&searcher->open);
    esi_spans_fini(&searcher->satisfied);
    esi_spans_fini(&searcher->plain);
    free(searcher);
}

/* --- What it holds ---------------------------------------------------------------- */

static uint64_t bytes_of_rows(const struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned domains = plan->distinct_count;
    uint64_t bytes = 0;

    for (size_t i = 0; i < (size_t)plan->variable_count * domains; i++)
        bytes += searcher->rows[i].capacity * sizeof *searcher->rows[i].entries;
    for (unsigned i = 0; i < domains * domains; i++)
        if (searcher->memos[i].ends)
            bytes += 2 * sizeof *searcher->memos[i].ends *
                     es_domain_count(plan->distinct[i / domains]) *
                     es_domain_slots(plan->distinct[i % domains]);
    for (size_t i = 0; i < plan->variable_count; i++)
        bytes += searcher->stamps[i].capacity * (sizeof *searcher->stamps[i].bindings +
                                                 sizeof *searcher->stamps[i].greatest);
    for (size_t i = 0; i < plan->clause_count; i++)
        bytes += searcher->orders[i].count * sizeof *searcher->orders[i].slots;
    return bytes;
}

uint64_t esi_searcher_bytes(const struct esi_searcher *searcher)
{
    size_t count = (size_t)depths(searcher->plan) * searcher->plan->variable_count;
    uint64_t bytes = sizeof *searcher + bytes_of_rows(searcher) +
                     count * sizeof *searcher->candidates;

    for (size_t i = 0; i < count; i++)
        bytes +=
            searcher->candidates[i].capacity * sizeof *searcher->candidates[i].ranges;
    for (size_t i = 0; i < depths(searcher->plan); i++)
        bytes += searcher->spans[i].capacity * sizeof *searcher->spans[i].items;
    return bytes + esi_tuple_set_bytes(&searcher->told) +
           searcher->work_capacity * sizeof *searcher->work +
           (searcher->check.sides[0].capacity + searcher->check.sides[1].capacity) *
               sizeof *searcher->check.sides[0].events;
}

/* --- Values ----------------------------------------------------------------------- */

void esi_searcher_bind(struct esi_searcher *searcher,
                       unsigned variable,
                       struct es_domain_value value)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    if (plan->single >> variable & 1) {
        struct es_domain_column column =
            es_domain_column(plan->domains[variable], value.slot);

        es_formula_check_bind_event(
            &searcher->check, variable, value,
            (struct es_event_id){column.trace, column.indexes[value.position]});
    } else {
        es_formula_check_bind(&searcher->check, variable, value);
    }
    searcher->values[variable] = value;
    searcher->bindings[variable]++;
}
