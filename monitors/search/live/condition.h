/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Conditions of a predicate while events arrive: what is true of an assignment of
 * values, whatever events follow.
 */
#ifndef ES_MONITORS_SEARCH_LIVE_CONDITION_H
#define ES_MONITORS_SEARCH_LIVE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/language/program.h"
#include "monitors/search/truth/cnf.h"
#include "monitors/search/truth/formula_check.h"

/* A value that has joined its domain and starts a search. */
struct esi_joined {
    const struct esi_domain *domain;
    struct es_event_id id; /* for a set: NONE and its number */
    struct esi_domain_value value;
    bool is_prompt; /* joined when the event arrived */
};

/* A clause whose truth later values may change, because it names a universal variable
 * or counts. */
struct esi_timed_clause {
    const struct esi_clause *clause;
    bool counts;
    bool is_safe;     /* no later event can make it false */
    bool is_searched; /* and it holds for all assignments that the search finds */
};

/* The condition of a disjunct if the universal variables `empty` have no values: atoms
 * that name them hold (D8). */
struct esi_live_form {
    uint64_t empty;
    struct esi_cnf *cnf;
    struct esi_clause *certain; /* clauses that are not timed */
    size_t certain_count;
    size_t more_count; /* the first of these: those missing from the weak form */
    struct esi_timed_clause *timed;
    size_t timed_count;
};

/* The condition of a disjunct becomes stronger as values arrive: from `weak` to
 * `strong`. */
struct esi_live_condition {
    uint32_t number; /* of the disjunct */
    const struct esi_program_disjunct *disjunct;
    struct esi_live_form weak;   /* no universal variable has values */
    struct esi_live_form strong; /* all have */
    struct esi_live_form now;    /* some have values; created when needed */
};

/* The values of a predicate's variables.  The program and the domains are in `check`;
 * after a failure in `check` the truth values of conditions are invalid. */
struct esi_live_assignment {
    struct esi_formula_check check;
    uint64_t universal;  /* bit set of variables */
    uint64_t empty;      /* universal variables that have had no value */
    bool has_changed;    /* `empty` was changed by the value being searched for */
    uint64_t needs_rows; /* variables whose values must still be stored to decide */
};

/* Returns 0, -EINVAL with a message if the condition is too large, or -ENOMEM.  Must be
 * followed by esi_live_condition_fini() in all cases. */
int esi_live_condition_init(struct esi_live_assignment *assignment,
                            uint32_t disjunct,
                            struct esi_live_condition *ret_condition,
                            struct es_error *error);
void esi_live_condition_fini(struct esi_live_condition *condition);

/* Notes the universal variables for which this is the first value. */
void esi_live_assignment_note(struct esi_live_assignment *assignment,
                              const struct esi_joined *joined);

/* Truth of the condition for the bound variables.  Final unless it is open; `is_end`
 * means that no more events follow, so that it is never open.  `was_found` means that
 * the certain clauses of the weak form are known to hold. */
enum esi_formula_truth esi_live_condition_truth(struct esi_live_assignment *assignment,
                                                struct esi_live_condition *condition,
                                                bool was_found,
                                                bool is_end);
/* Truth of a condition that was open, after a value joined.  `is_counted` means that
 * some atom counts this value. */
enum esi_formula_truth esi_live_condition_update(struct esi_live_assignment *assignment,
                                                 struct esi_live_condition *condition,
                                                 const struct esi_joined *joined,
                                                 bool is_counted);

#endif
