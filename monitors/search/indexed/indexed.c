/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed.c - the search by ranges of one support, for domains that may grow. */
#include "config.h"

#include "monitors/search/indexed/indexed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/indexed/indexed_searcher.h"

struct esi_indexed {
    struct esi_indexed_plan *plan;
    struct esi_searcher *searcher;
};

int esi_indexed_create(const struct esi_indexed_config *config,
                       struct esi_indexed **ret_search,
                       struct es_error *error)
{
    struct esi_indexed *search = calloc(1, sizeof *search);
    int result = search ? 0 : -ENOMEM;

    if (result == 0)
        result = esi_indexed_plan_create(config, true, &search->plan, error);
    if (result == 0)
        result = esi_searcher_create(search->plan, &search->searcher);
    if (result < 0) {
        esi_indexed_destroy(search);
        return result;
    }
    *ret_search = search;
    return 0;
}

void esi_indexed_destroy(struct esi_indexed *search)
{
    if (!search)
        return;
    esi_searcher_destroy(search->searcher);
    esi_indexed_plan_destroy(search->plan);
    free(search);
}

/* Forgets what was true of the domains as they were. */
static void begin_search(struct esi_searcher *searcher)
{
    searcher->error = 0;
    searcher->check.bound = 0;
    searcher->settled = 0;
    esi_tuple_set_fini(&searcher->told);
    searcher->pinned_excluded = 0;
    searcher->first = -1;
    searcher->pinned = -1;
    memcpy(searcher->hints_from, searcher->bindings, sizeof searcher->hints_from);
    memset(searcher->source, 0, sizeof searcher->source);
}

/* Clauses that name the pinned variable alone: nobody chose its value by them. */
static bool pin_holds(struct esi_searcher *searcher, unsigned variable)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    for (uint32_t i = 0; i < plan->clause_counts[variable]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[variable][i]];

        if (clause->existential == esi_program_bit(variable) &&
            !esi_clause_holds(searcher, clause))
            return false;
    }
    return true;
}

int esi_indexed_pinned(struct esi_indexed *search,
                       uint32_t variable,
                       struct esi_domain_value value,
                       uint64_t excluded,
                       esi_indexed_found_fn found,
                       void *data)
{
    struct esi_searcher *searcher = search->searcher;
    int result = 0;

    begin_search(searcher);
    searcher->found = found;
    searcher->found_data = data;
    if (!esi_searcher_may_begin(searcher))
        return searcher->error;
    esi_searcher_bind(searcher, variable, value);
    searcher->pinned = (int)variable;
    searcher->pinned_event = esi_event_of(searcher, variable);
    searcher->pinned_excluded = excluded & ~esi_program_bit(variable);
    if (pin_holds(searcher, variable))
        result = esi_searcher_descend(searcher, 1);
    searcher->check.bound = 0;
    return result != 0 ? result : searcher->error;
}

int esi_indexed_all(struct esi_indexed *search, esi_indexed_found_fn found, void *data)
{
    struct esi_searcher *searcher = search->searcher;
    int result;

    begin_search(searcher);
    searcher->found = found;
    searcher->found_data = data;
    result = esi_searcher_all(searcher);
    return result != 0 ? result : searcher->error;
}

int esi_indexed_holds(struct esi_indexed *search,
                      const struct esi_domain_value *values,
                      enum esi_indexed_clauses clauses)
{
    struct esi_searcher *searcher = search->searcher;
    bool holds;

    begin_search(searcher);
    holds = esi_searcher_holds(searcher, values, clauses);
    return searcher->error ? searcher->error : holds;
}

void esi_indexed_statistics(const struct esi_indexed *search,
                            struct esi_indexed_statistics *ret_statistics)
{
    const struct esi_searcher *searcher = search->searcher;

    *ret_statistics = (struct esi_indexed_statistics){
        .comparisons = searcher->precedence.comparisons,
        .unknown = searcher->precedence.unknown,
        .backtracks = searcher->backtracks,
        .bytes = esi_searcher_bytes(searcher),
    };
}

uint64_t esi_indexed_unknown(const struct esi_indexed *search)
{
    return search->searcher->precedence.unknown;
}

/* --- Searchers -------------------------------------------------------------------- */

static unsigned variable_depths(const struct esi_indexed_plan *plan)
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
        calloc(variable_depths(plan) * variables, sizeof *searcher->candidates);
    searcher->spans = calloc(variable_depths(plan), sizeof *searcher->spans);
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
    size_t count =
        (size_t)variable_depths(searcher->plan) * searcher->plan->variable_count;

    for (size_t i = 0; searcher->candidates && i < count; i++)
        free(searcher->candidates[i].ranges);
    for (size_t i = 0; searcher->spans && i < variable_depths(searcher->plan); i++)
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
    esi_formula_check_fini(&searcher->check);
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
                     esi_domain_count(plan->distinct[i / domains]) *
                     esi_domain_slots(plan->distinct[i % domains]);
    for (size_t i = 0; i < plan->variable_count; i++)
        bytes += searcher->stamps[i].capacity * (sizeof *searcher->stamps[i].bindings +
                                                 sizeof *searcher->stamps[i].greatest);
    for (size_t i = 0; i < plan->clause_count; i++)
        bytes += searcher->orders[i].count * sizeof *searcher->orders[i].slots;
    return bytes;
}

uint64_t esi_searcher_bytes(const struct esi_searcher *searcher)
{
    size_t count =
        (size_t)variable_depths(searcher->plan) * searcher->plan->variable_count;
    uint64_t bytes = sizeof *searcher + bytes_of_rows(searcher) +
                     count * sizeof *searcher->candidates;

    for (size_t i = 0; i < count; i++)
        bytes +=
            searcher->candidates[i].capacity * sizeof *searcher->candidates[i].ranges;
    for (size_t i = 0; i < variable_depths(searcher->plan); i++)
        bytes += searcher->spans[i].capacity * sizeof *searcher->spans[i].items;
    return bytes + esi_tuple_set_bytes(&searcher->told) +
           searcher->work_capacity * sizeof *searcher->work +
           (searcher->check.sides[0].capacity + searcher->check.sides[1].capacity) *
               sizeof *searcher->check.sides[0].events;
}

/* --- Values ----------------------------------------------------------------------- */

void esi_searcher_bind(struct esi_searcher *searcher,
                       unsigned variable,
                       struct esi_domain_value value)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    if (plan->single >> variable & 1) {
        struct esi_domain_column column =
            esi_domain_column(plan->domains[variable], value.slot);

        esi_formula_check_bind_event(
            &searcher->check, variable, value,
            (struct es_event_id){column.trace, column.indexes[value.position]});
    } else {
        esi_formula_check_bind(&searcher->check, variable, value);
    }
    searcher->values[variable] = value;
    searcher->bindings[variable]++;
}
