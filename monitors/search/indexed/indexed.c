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
static void begin(struct esi_searcher *searcher)
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
        const struct es_clause *clause = &plan->clauses[plan->clauses_of[variable][i]];

        if (clause->existential == es_program_bit(variable) &&
            !esi_clause_holds(searcher, clause))
            return false;
    }
    return true;
}

int esi_indexed_pinned(struct esi_indexed *search,
                       uint32_t variable,
                       struct es_domain_value value,
                       uint64_t excluded,
                       esi_indexed_found_fn found,
                       void *data)
{
    struct esi_searcher *searcher = search->searcher;
    int result = 0;

    begin(searcher);
    searcher->found = found;
    searcher->found_data = data;
    if (!esi_searcher_may_begin(searcher))
        return searcher->error;
    esi_searcher_bind(searcher, variable, value);
    searcher->pinned = (int)variable;
    searcher->pinned_event = esi_event_of(searcher, variable);
    searcher->pinned_excluded = excluded & ~es_program_bit(variable);
    if (pin_holds(searcher, variable))
        result = esi_searcher_descend(searcher, 1);
    searcher->check.bound = 0;
    return result != 0 ? result : searcher->error;
}

int esi_indexed_all(struct esi_indexed *search, esi_indexed_found_fn found, void *data)
{
    struct esi_searcher *searcher = search->searcher;
    int result;

    begin(searcher);
    searcher->found = found;
    searcher->found_data = data;
    result = esi_searcher_all(searcher);
    return result != 0 ? result : searcher->error;
}

int esi_indexed_holds(struct esi_indexed *search,
                      const struct es_domain_value *values,
                      enum esi_indexed_clauses clauses)
{
    struct esi_searcher *searcher = search->searcher;
    bool holds;

    begin(searcher);
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
