/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_search.h - the search of one thread: chooses the variable to bind next. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_SEARCH_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_candidates.h"
#include "monitors/search/indexed/indexed_universal.h"
#include "monitors/search/tuple_set.h"

struct esi_indexed {
    struct esi_bound bound;
    struct esi_universal universal;
    struct esi_candidate_sets sets;
    struct esi_indexed_plan *own_plan; /* owned; NULL if the plan is borrowed */

    esi_indexed_found_fn found;
    void *found_data;
    /* Whether the bound variables cannot become a match, after v was bound; may be
     * NULL. */
    bool (*is_refused)(void *data, unsigned v);
    void *refused_data;
    bool (*is_over)(void *data); /* called from time to time; may be NULL */
    void *over_data;

    uint64_t nodes;
    uint64_t asked_at; /* count of nodes and universal values for the next call of
                          is_over() */
    uint64_t backtracks;

    int first; /* variable to start with; -1: the cheapest */
    uint64_t pinned_excluded;
    bool takes_any_witness;  /* one witness of the variables not returned is enough */
    uint64_t witnessed;      /* variables for which a witness was found early */
    uint64_t complete_count; /* complete assignments */
    unsigned early;          /* variables not returned that were bound before others */
    struct esi_tuple_set reported; /* results with these, for the current value of
                                      the first variable */
};

/* Creates a search for a borrowed plan, which threads may share.  Returns 0 or
 * -ENOMEM. */
int esi_indexed_create_for(const struct esi_indexed_plan *plan,
                           struct esi_indexed **ret_search);

/* --- The values of the first variable, by several threads ------------------------- */

/* Restricts variables by constraints that do not depend on bound variables.  Returns 1,
 * 0 if there is no match, or -errno. */
int esi_indexed_prepare(struct esi_indexed *search);
/* Uses the restrictions of a prepared search of the same plan, which must stay
 * valid. */
void esi_indexed_inherit(struct esi_indexed *search,
                         const struct esi_indexed *prepared,
                         unsigned first);
/* Searches for all assignments with this value of the first variable; `ordinal` is the
 * index of the value.  Returns 0, 1 or -errno. */
int esi_indexed_try_first(struct esi_indexed *search,
                          unsigned first,
                          struct esi_domain_value value,
                          uint64_t ordinal);

#endif
