/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_search.h - the search of one thread: which variable is bound next. */
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
    struct esi_indexed_plan *own_plan; /* owned; NULL: it is borrowed */

    esi_indexed_found_fn found;
    void *found_data;
    /* Whether what is bound cannot become a match, now that v is bound; may be NULL. */
    bool (*is_refused)(void *data, unsigned v);
    void *refused_data;
    bool (*is_over)(void *data); /* asked now and then; may be NULL */
    void *over_data;

    uint64_t nodes;
    uint64_t asked_at; /* nodes and universal values when is_over() is asked again */
    uint64_t backtracks;

    int first; /* variable to begin with; -1: the cheapest */
    uint64_t pinned_excluded;
    bool takes_any_witness;  /* of variables that are not returned */
    uint64_t witnessed;      /* variables for which a witness was found early */
    uint64_t complete_count; /* assignments of all that was to be bound */
    unsigned early;          /* variables that are not returned bound before others */
    struct esi_tuple_set reported; /* with these, since the first variable has its
                                      value */
};

/* Of a plan that is borrowed and may be shared by threads.  0 or -ENOMEM. */
int esi_indexed_create_for(const struct esi_indexed_plan *plan,
                           struct esi_indexed **ret_search);

/* --- The values of the first variable, by several threads ------------------------- */

/* Restricts variables by what depends on nothing that is bound.  1; 0: there is no
 * match; -errno. */
int esi_indexed_prepare(struct esi_indexed *search);
/* Takes over what another one of the same plan has prepared, which has to stay. */
void esi_indexed_inherit(struct esi_indexed *search,
                         const struct esi_indexed *prepared,
                         unsigned first);
/* All that goes on from a value of the first variable; `ordinal` is its number.  0, 1,
 * -errno. */
int esi_indexed_try_first(struct esi_indexed *search,
                          unsigned first,
                          struct esi_domain_value value,
                          uint64_t ordinal);

#endif
