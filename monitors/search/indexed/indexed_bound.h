/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The bound variables of one thread, and their constraints on a column of another
 * variable: the end of the predecessors, the beginning of the successors, and the
 * intervals of positions that satisfy a literal.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_BOUND_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_BOUND_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/truth/formula_check.h"
#include "monitors/search/truth/intervals.h"

/* The times of a bound variable. */
struct esi_bound_times {
    bool are_known;
    int64_t first; /* first > last: a set without events has no times */
    int64_t last;
};

struct esi_bound_variable;
struct esi_bound_ends;
struct esi_bound_memo;

struct esi_bound {
    const struct esi_indexed_plan *plan;
    struct esi_precedence precedence;
    struct esi_formula_check check;  /* the bindings, and evaluation of literals for
                                        them */
    struct esi_domain_value *values; /* owned: [variable] */
    struct esi_bound_times *times;   /* owned: [variable], of those linked by times */
    int error;                       /* -errno after a failure */

    int pinned; /* variable; -1: none */
    struct es_event_id pinned_event;

    struct esi_bound_variable *variables; /* owned: [variable] */
    struct esi_bound_ends *ends;          /* owned: [variable][distinct domain] */
    struct esi_bound_memo *memos; /* owned: [distinct domain][distinct domain] */
    struct esi_intervals plain;   /* scratch: intervals of a negated literal before
                                     negation */
};

/* Returns 0 or -ENOMEM.  Must be followed by esi_bound_fini() in both cases. */
int esi_bound_init(struct esi_bound *bound, const struct esi_indexed_plan *plan);
void esi_bound_fini(struct esi_bound *bound);
uint64_t esi_bound_bytes(const struct esi_bound *bound);

/* Unbinds and unpins all variables, and clears errors. */
void esi_bound_reset(struct esi_bound *bound);

void esi_bound_bind(struct esi_bound *bound,
                    unsigned variable,
                    struct esi_domain_value value);
static inline void esi_bound_unbind(struct esi_bound *bound, unsigned variable)
{
    bound->check.bound &= ~esi_program_bit(variable);
}
/* The event of x, which must be bound and single. */
static inline struct es_event_id esi_bound_event(const struct esi_bound *bound,
                                                 unsigned x)
{
    return bound->check.bindings[x].one;
}
/* Whether no event is after bound x. */
static inline bool esi_bound_is_last(const struct esi_bound *bound, unsigned x)
{
    return (int)x == bound->pinned && bound->plan->prompt >> x & 1;
}
/* Records an error if the list ran out of memory. */
static inline void esi_bound_check(struct esi_bound *bound,
                                   const struct esi_intervals *intervals)
{
    if (intervals->has_failed)
        bound->error = -ENOMEM;
}

/* Whether no event is after `event` and before this value of single y.  False if that
 * is not certain. */
bool esi_bound_are_adjacent(struct esi_bound *bound,
                            struct es_event_id event,
                            unsigned y,
                            struct esi_domain_value value);

/* --- Truth ------------------------------------------------------------------------ */

/* Evaluates a literal.  All its variables must be bound, except those of a FORMULA. */
enum esi_formula_truth esi_bound_truth(struct esi_bound *bound,
                                       const struct esi_literal *literal);
/* Whether the clause has a true literal among those whose variables are all bound. */
bool esi_bound_satisfies(struct esi_bound *bound, const struct esi_clause *clause);
/* Whether no values of the unbound variables can satisfy a clause with FORMULA
 * literals.  False if that is not certain. */
bool esi_bound_refutes(struct esi_bound *bound, const struct esi_clause *clause);

/* --- Intervals of one column ------------------------------------------------------ */

/* The end of the events in the column that precede an event, and the beginning of those
 * that succeed it.  Successors are only searched for in `within`; the result is a
 * position in it or its end. */
uint32_t esi_bound_before_end(struct esi_bound *bound,
                              struct es_event_id event,
                              const struct esi_domain_column *column);
uint32_t esi_bound_after_begin(struct esi_bound *bound,
                               struct es_event_id event,
                               const struct esi_domain_column *column,
                               struct esi_interval within);
/* esi_bound_greatest() for entries that are not in the cache. */
uint32_t esi_bound_ask_greatest(struct esi_bound *bound, unsigned x, uint32_t trace);
/* Index of the greatest predecessor of bound single x on a trace. */
static inline uint32_t esi_bound_greatest(struct esi_bound *bound,
                                          unsigned x,
                                          uint32_t trace)
{
    struct esi_stamp_cache *stamps = bound->plan->stamps;
    uint32_t known =
        stamps ? esi_stamp_cache_known(stamps, esi_bound_event(bound, x), trace)
               : ESI_STAMP_UNKNOWN;

    if (known == ESI_STAMP_UNKNOWN)
        return esi_bound_ask_greatest(bound, x, trace);
    bound->precedence.comparisons++;
    return known;
}

/* A column of a variable's domain. */
struct esi_bound_target {
    unsigned v;
    unsigned distinct; /* number of the domain */
    uint32_t slot;
    struct esi_domain_column column;
};

static inline struct esi_bound_target esi_bound_target_of(const struct esi_bound *bound,
                                                          unsigned v,
                                                          uint32_t slot)
{
    return (struct esi_bound_target){
        .v = v,
        .distinct = bound->plan->distinct_of[v],
        .slot = slot,
        .column = bound->plan->single >> v & 1
                      ? esi_domain_column_at(bound->plan->domains[v], slot)
                      : esi_domain_column(bound->plan->domains[v], slot)};
}

/* Clips `kept` to the positions whose relation to bound single x may be in `mask`.
 * Positions before and after x are excluded only if all of them are. */
void esi_bound_keep_mask(struct esi_bound *bound,
                         unsigned x,
                         uint8_t mask,
                         const struct esi_bound_target *target,
                         struct esi_interval *kept);

/* Whether the relations of an event to the bound variables `masked` are in the masks of
 * v with them. */
bool esi_bound_allows(struct esi_bound *bound,
                      struct es_event_id event,
                      unsigned v,
                      uint64_t masked);

/* The functions below add intervals without sorting them. */

/* Adds the positions of those events that are in the column. */
void esi_column_add_events(const struct esi_domain_column *column,
                           const struct es_event_id *events,
                           size_t count,
                           struct esi_intervals *intervals);
/* Adds the values of single v that satisfy a literal whose other variables are bound.
 * The literal must be of a kind that intervals can represent (clauses that are exact
 * for v have only such literals). */
void esi_bound_add_literal(struct esi_bound *bound,
                           const struct esi_literal *literal,
                           unsigned v,
                           uint32_t slot,
                           struct esi_intervals *intervals);
/* Adds the values of a single variable whose relation to bound x is in `mask`. */
void esi_bound_add_mask(struct esi_bound *bound,
                        unsigned x,
                        uint8_t mask,
                        const struct esi_bound_target *target,
                        struct esi_intervals *intervals);

#endif
