/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the search by ranges makes of one disjunct before it begins: a plan, which does
 * not change while it is searched and may be shared by threads.
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

/* Whether a mask of an event to x separates the events concurrent with x from x's
 * successors, so that the first of these has to be found. */
static inline bool esi_mask_needs_successors(uint8_t mask)
{
    return !(mask & ESI_IS_CONCURRENT) != !(mask & ESI_IS_AFTER);
}

/* What the plan knows of a clause. */
struct esi_clause_facts {
    uint64_t exact;   /* bit v: with all others bound, ranges tell which values of v
                         satisfy it; else each value is tested */
    bool is_equality; /* nothing but `=` of two existential variables: it is looked up,
                         together with those of the same variables, by the first */
    uint64_t alternatives; /* of several: variables for which each literal that names
                              them is such an `=`, or a bound: lists are merged */
    uint64_t bounded;      /* it is nothing but a bound of an attribute of each of
                              these */
    uint64_t near;         /* it says that these happened near the other one, and no
                          more: times tell */
};

struct esi_lookups;      /* indexed_lookup.h */
struct esi_sorted_index; /* indexed_sorted.h */

struct esi_indexed_plan {
    const struct esi_program *program;
    uint32_t support;
    const struct esi_domain *const *domains; /* of variables; perhaps `selected` */
    const struct esi_domain *const *counted;
    const struct es_order *order;
    struct esi_stamp_cache *stamps; /* borrowed; NULL where several threads search */
    bool is_growing;                /* domains may change between calls */
    bool all_witnesses;             /* as esi_indexed_config */
    bool is_false;                  /* no assignment can satisfy it */
    uint64_t existential;
    uint64_t universal;
    uint64_t returned;
    uint64_t prompt;     /* variables whose events join their class when they arrive */
    uint64_t never_last; /* of these: others have to be after them */
    uint64_t senders[ES_PROGRAM_VARIABLES];   /* [y]: x of clauses x => y; growing */
    uint64_t receivers[ES_PROGRAM_VARIABLES]; /* [x]: y of these */
    uint64_t single;         /* variables whose values are single events */
    unsigned variable_count; /* of the program */

    struct esi_literal *literals; /* owned */
    size_t literal_count;
    struct esi_clause *clauses;     /* owned; those that masks do not say */
    struct esi_clause_facts *facts; /* owned, by clause */
    uint32_t clause_count;
    uint32_t selecting_count; /* clauses behind them, of one variable: what they leave
                                 is in its domain */
    size_t size;              /* literals of the rewritten pattern */
    uint8_t masks[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES]; /* existential, single */
    uint64_t masked[ES_PROGRAM_VARIABLES]; /* variables whose mask is not ANY */
    uint8_t known[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES]; /* masks, with what
                                                                  follows from others */
    uint64_t implied[ES_PROGRAM_VARIABLES];     /* variables of which `known` says more
                                               than is written */
    uint64_t neighbours[ES_PROGRAM_VARIABLES];  /* by masks and clauses */
    uint64_t linked[ES_PROGRAM_VARIABLES];      /* by clauses that list its values */
    uint64_t near[ES_PROGRAM_VARIABLES];        /* by times */
    uint64_t holed[ES_PROGRAM_VARIABLES];       /* of `masked`, before or after but not
                                               all: two intervals of some columns */
    uint32_t *clauses_of[ES_PROGRAM_VARIABLES]; /* owned: numbers of clauses */
    uint32_t clause_counts[ES_PROGRAM_VARIABLES];
    uint32_t near_counts[ES_PROGRAM_VARIABLES]; /* behind them: those that say that v
                                                   happened near, and no more */

    struct esi_indexed_groups groups;

    const struct esi_domain *distinct[ES_PROGRAM_VARIABLES]; /* domains, each once */
    unsigned distinct_count;
    uint8_t distinct_of[ES_PROGRAM_VARIABLES];
    uint64_t *offsets[ES_PROGRAM_VARIABLES]; /* owned, of distinct domains with memory:
                                                values in the columns before each */

    const struct esi_domain *selected[ES_PROGRAM_VARIABLES]; /* [variable] */
    struct esi_domain *selections[ES_PROGRAM_VARIABLES];     /* owned; each once */
    unsigned selection_count;

    struct esi_sorted_index *received[ES_PROGRAM_VARIABLES]; /* owned; of distinct
                                                                domains, or NULL */
    struct esi_lookups *lookups;                             /* owned; NULL: none */
    uint64_t bounded; /* variables that clauses bound an attribute of */
    unsigned without; /* enum esi_indexed_part */
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
/* 0 or -ENOMEM. */
int esi_indexed_plan_create(const struct esi_indexed_config *config,
                            bool is_growing,
                            struct esi_indexed_plan **ret_plan,
                            struct es_error *error);
/* Accepts NULL. */
void esi_indexed_plan_destroy(struct esi_indexed_plan *plan);
/* Bytes of the plan and its indexes as they are now. */
uint64_t esi_indexed_plan_bytes(const struct esi_indexed_plan *plan);
/* Whether any values satisfy it. */
bool esi_indexed_plan_is_true(const struct esi_indexed_plan *plan);
/* What a value of v costs the search of all others, about. */
unsigned esi_indexed_plan_weight(const struct esi_indexed_plan *plan, unsigned v);
/* The variable to begin with; of a disjunct that has one. */
unsigned esi_indexed_plan_first(const struct esi_indexed_plan *plan);
/* What it is and why, for people (indexed_explain.c). */
void esi_indexed_plan_print(const struct esi_indexed_plan *plan, FILE *out);

#endif
