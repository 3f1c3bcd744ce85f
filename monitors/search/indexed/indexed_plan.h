/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The plan for the search of one disjunct by ranges.  It does not change during the
 * search and may be shared by threads.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_PLAN_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "monitors/search/indexed/indexed.h"
#include "monitors/search/indexed/indexed_groups.h"
#include "monitors/search/search.h"

/* Whether a mask for an event and x distinguishes the events concurrent with x from its
 * successors, so that the first successor has to be found. */
static inline bool esi_mask_needs_successors(uint8_t mask)
{
    return !(mask & ESI_IS_CONCURRENT) != !(mask & ESI_IS_AFTER);
}

/* Facts about a clause. */
struct esi_clause_facts {
    uint64_t exact;   /* bit v: with all others bound, ranges contain exactly the
                         values of v that satisfy it; otherwise each value is tested */
    bool is_equality; /* a single `=` of two existential variables; the first clause
                         of the same variables looks up all of them together */
    uint64_t alternatives; /* for several literals: variables for which each literal
                              that names them is such an `=`, or a bound; the lists
                              are merged */
    uint64_t bounded;      /* it only bounds an attribute of each of these variables */
    uint64_t near; /* it only requires that these variables happened near the other
                      one; times decide */
};

/* Requires that a variable happened near another one. */
struct esi_near_limit {
    unsigned other;
    int64_t within_ns;
};

struct esi_lookups;      /* indexed_lookup.h */
struct esi_sorted_index; /* indexed_sorted.h */

struct esi_indexed_plan {
    const struct esi_program *program;
    uint32_t disjunct;
    const struct esi_domain *const *domains; /* by variable; may be from `selected` */
    const struct esi_domain *const *counted;
    const struct es_order *order;
    struct esi_stamp_cache *stamps; /* borrowed; NULL if several threads search */
    bool is_growing;                /* domains may change between calls */
    bool all_witnesses;             /* as in esi_indexed_config */
    bool is_false;                  /* no assignment satisfies it */
    bool has_closed;                /* some clause has no existential variable */
    uint64_t existential;
    uint64_t universal;
    uint64_t returned;
    uint64_t prompt;     /* variables whose events join their class on arrival */
    uint64_t never_last; /* those of `prompt` that other variables must be after */
    uint64_t senders[ES_PROGRAM_VARIABLES];   /* [y]: x of clauses x => y; if growing */
    uint64_t receivers[ES_PROGRAM_VARIABLES]; /* [x]: y of clauses x => y; if growing */
    uint64_t named;          /* variables that only masks, times and such clauses
                                restrict to ranges; if growing */
    uint64_t single;         /* variables whose values are single events */
    unsigned variable_count; /* of the program */

    struct esi_literal *literals; /* owned: of the clauses */
    size_t literal_count;
    struct esi_clause *clauses;     /* owned; those not represented by masks */
    struct esi_clause_facts *facts; /* owned; by clause */
    uint32_t clause_count;
    uint32_t selecting_count; /* clauses after them, of one variable, which the
                                 selected domains already satisfy */
    size_t size;              /* number of literals in the rewritten pattern */
    /* Of existential single variables. */
    uint8_t masks[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES];
    uint64_t masked[ES_PROGRAM_VARIABLES]; /* variables whose mask is not ANY */
    /* Masks, including those implied by others. */
    uint8_t known[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES];
    uint64_t implied[ES_PROGRAM_VARIABLES];    /* variables for which `known` is
                                                  stricter than the mask */
    uint64_t neighbours[ES_PROGRAM_VARIABLES]; /* linked by masks or clauses */
    uint64_t linked[ES_PROGRAM_VARIABLES]; /* linked by clauses that list its values */
    uint64_t near[ES_PROGRAM_VARIABLES];   /* linked by times */
    uint64_t timed;                        /* variables that others must be near */
    /* Those of `masked` whose mask includes before and after, but not all: it leaves
     * two intervals of some columns. */
    uint64_t holed[ES_PROGRAM_VARIABLES];
    /* Those of `masked` that the variable must be before, or after. */
    uint64_t befores[ES_PROGRAM_VARIABLES];
    uint64_t afters[ES_PROGRAM_VARIABLES];
    uint32_t *clauses_of[ES_PROGRAM_VARIABLES]; /* owned: numbers of clauses */
    uint32_t clause_counts[ES_PROGRAM_VARIABLES];
    uint32_t near_counts[ES_PROGRAM_VARIABLES]; /* further ones at the end: those
                                                   that only require that v happened
                                                   near */
    struct esi_near_limit *near_limits[ES_PROGRAM_VARIABLES]; /* owned: of these */

    struct esi_indexed_groups groups;

    const struct esi_domain *distinct[ES_PROGRAM_VARIABLES]; /* each domain once */
    unsigned distinct_count;
    uint8_t distinct_of[ES_PROGRAM_VARIABLES];
    uint64_t *offsets[ES_PROGRAM_VARIABLES]; /* owned, for distinct domains with
                                                cached results: number of values in
                                                the columns before each */

    const struct esi_domain *selected[ES_PROGRAM_VARIABLES]; /* [variable] */
    struct esi_domain *selections[ES_PROGRAM_VARIABLES];     /* owned; each once */
    unsigned selection_count;

    /* Owned; by distinct domain, may be NULL. */
    struct esi_sorted_index *received[ES_PROGRAM_VARIABLES];
    struct esi_lookups *lookups; /* owned; NULL if there are none */
    uint64_t bounded;            /* variables with an attribute bounded by clauses */
    struct esi_indexed_tuning tuning;
};

static inline uint32_t esi_clause_number(const struct esi_indexed_plan *plan,
                                         const struct esi_clause *clause)
{
    return (uint32_t)(clause - plan->clauses);
}
static inline struct esi_clause_facts *esi_clause_facts_of(
    const struct esi_indexed_plan *plan,
    const struct esi_clause *clause)
{
    return &plan->facts[clause - plan->clauses];
}
/* Returns 0 or -ENOMEM. */
int esi_indexed_plan_create(const struct esi_indexed_config *config,
                            bool is_growing,
                            struct esi_indexed_plan **ret_plan,
                            struct es_error *error);
/* Accepts NULL. */
void esi_indexed_plan_destroy(struct esi_indexed_plan *plan);
/* Current memory of the plan and its indexes, in bytes. */
uint64_t esi_indexed_plan_bytes(const struct esi_indexed_plan *plan);
/* Whether all values satisfy it. */
bool esi_indexed_plan_is_true(const struct esi_indexed_plan *plan);
/* Estimated cost of searching all other variables for one value of v. */
unsigned esi_indexed_plan_weight(const struct esi_indexed_plan *plan, unsigned v);
/* The variable to start with.  The disjunct must have a variable. */
unsigned esi_indexed_plan_first(const struct esi_indexed_plan *plan);
/* Prints the plan and its reasons (indexed_explain.c). */
void esi_indexed_plan_print(const struct esi_indexed_plan *plan, FILE *out);

#endif
