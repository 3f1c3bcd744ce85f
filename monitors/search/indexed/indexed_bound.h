/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The bound variables of one thread, and what they say of a column of another variable:
 * where predecessors end, where successors begin, and which intervals of positions
 * satisfy a literal.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_BOUND_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_BOUND_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/domains/precedence.h"
#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/truth/formula_check.h"
#include "monitors/search/truth/intervals.h"

struct esi_bound_variable;
struct esi_bound_ends;
struct esi_bound_memo;

struct esi_bound {
    const struct esi_indexed_plan *plan;
    struct esi_precedence precedence;
    struct esi_formula_check check; /* what is bound, and the truth of literals of it */
    struct esi_domain_value *values; /* owned: [variable] */
    int error;                       /* -errno once something could not be had */

    int pinned; /* variable, -1: none */
    struct es_event_id pinned_event;

    struct esi_bound_variable *variables; /* owned: [variable] */
    struct esi_bound_ends *ends;          /* owned: [variable][distinct domain] */
    struct esi_bound_memo *memos; /* owned: [distinct domain][distinct domain] */
    struct esi_intervals plain;   /* of a literal that is negated */
};

/* 0 or -ENOMEM; it is to be ended in both cases. */
int esi_bound_init(struct esi_bound *bound, const struct esi_indexed_plan *plan);
void esi_bound_fini(struct esi_bound *bound);
uint64_t esi_bound_bytes(const struct esi_bound *bound);

/* Unbinds and unpins all, and forgets failures. */
void esi_bound_reset(struct esi_bound *bound);

void esi_bound_bind(struct esi_bound *bound,
                    unsigned variable,
                    struct esi_domain_value value);
static inline void esi_bound_unbind(struct esi_bound *bound, unsigned variable)
{
    bound->check.bound &= ~esi_program_bit(variable);
}
/* That bound single x is. */
static inline struct es_event_id esi_bound_event(const struct esi_bound *bound,
                                                 unsigned x)
{
    return bound->check.bindings[x].one;
}
/* Whether nothing has come after bound x. */
static inline bool esi_bound_is_last(const struct esi_bound *bound, unsigned x)
{
    return (int)x == bound->pinned && bound->plan->prompt >> x & 1;
}
/* Notes that a list could not grow. */
static inline void esi_bound_check(struct esi_bound *bound,
                                   const struct esi_intervals *intervals)
{
    if (intervals->has_failed)
        bound->error = -ENOMEM;
}

/* Whether nothing is after an event and before a value of single y; false: perhaps
 * something is. */
bool esi_bound_are_adjacent(struct esi_bound *bound,
                            struct es_event_id event,
                            unsigned y,
                            struct esi_domain_value value);

/* --- Truth ------------------------------------------------------------------------ */

/* All its variables are bound, but perhaps of FORMULA. */
enum esi_formula_truth esi_bound_truth(struct esi_bound *bound,
                                       const struct esi_literal *literal);
/* Whether a literal holds all of whose variables are bound. */
bool esi_bound_satisfies(struct esi_bound *bound, const struct esi_clause *clause);
/* Whether it is certain that no values of what is unbound satisfy a clause with FORMULA
 * literals; false: perhaps. */
bool esi_bound_refutes(struct esi_bound *bound, const struct esi_clause *clause);

/* --- Intervals of one column ------------------------------------------------------ */

/* Positions of the column below which all precede an event, and from which on all
 * succeed it; the first successor is looked for `within`, at whose begin or
 * before it no predecessor may be. */
uint32_t esi_bound_before_end(struct esi_bound *bound,
                              struct es_event_id event,
                              const struct esi_domain_column *column);
uint32_t esi_bound_after_begin(struct esi_bound *bound,
                               struct es_event_id event,
                               const struct esi_domain_column *column,
                               struct esi_interval within);
/* What esi_bound_greatest() does not find in the cache is asked once. */
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

/* A column of the domain of a variable. */
struct esi_bound_target {
    unsigned v;
    unsigned distinct; /* the domain */
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
        .column = esi_domain_column(bound->plan->domains[v], slot)};
}

/* Leaves of positions what is to bound single x as `mask` says, which takes what is
 * before and what is after only if it takes all. */
void esi_bound_keep_mask(struct esi_bound *bound,
                         unsigned x,
                         uint8_t mask,
                         const struct esi_bound_target *target,
                         struct esi_interval *kept);

/* All below adds intervals; they are not sorted. */

/* Positions of those events that are in the column. */
void esi_column_add_events(const struct esi_domain_column *column,
                           const struct es_event_id *events,
                           size_t count,
                           struct esi_intervals *intervals);
/* The values of single v that satisfy a literal all of whose other variables are bound,
 * of a kind that intervals can tell (clauses that are exact for v have no other). */
void esi_bound_add_literal(struct esi_bound *bound,
                           const struct esi_literal *literal,
                           unsigned v,
                           uint32_t slot,
                           struct esi_intervals *intervals);
/* The values of a single variable that are to bound x as `mask` says. */
void esi_bound_add_mask(struct esi_bound *bound,
                        unsigned x,
                        uint8_t mask,
                        const struct esi_bound_target *target,
                        struct esi_intervals *intervals);

#endif
