/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The conditions of a predicate while events arrive: what is true of an assignment of
 * values, whatever comes.
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

/* A value that joined its domain and is searched for. */
struct esi_joined {
    const struct esi_domain *domain;
    struct es_event_id id; /* of a set: NONE and its number */
    struct esi_domain_value value;
    bool is_prompt; /* it joined as it came */
};

/* A clause whose truth values yet to come may change: it names a universal variable or
 * counts. */
struct esi_timed_clause {
    const struct esi_clause *clause;
    bool counts;
    bool is_safe;     /* no event yet to come can make it false */
    bool is_searched; /* and it holds of all that the search finds */
};

/* The condition of a support where these universal variables have no values: atoms that
 * name them hold (D8). */
struct esi_live_form {
    uint64_t empty;
    struct esi_cnf *cnf;
    struct esi_clause *certain; /* the clauses that are not timed */
    size_t certain_count;
    size_t more_count; /* of these, first: those that the weak form does not have */
    struct esi_timed_clause *timed;
    size_t timed_count;
};

/* As values come, the condition of a support gets stronger: from `weak` to `strong`. */
struct esi_live_condition {
    uint32_t number; /* of the support */
    const struct esi_program_support *support;
    struct esi_live_form weak;   /* no universal variable has values */
    struct esi_live_form strong; /* all have */
    struct esi_live_form now;    /* some have; made when it is needed */
};

/* What the variables of a predicate have.  `check` says the program and the domains;
 * when it has a failure what is said of a condition is wrong. */
struct esi_live_assignment {
    struct esi_formula_check check;
    uint64_t universal;  /* variables */
    uint64_t empty;      /* universal ones that have had no value */
    bool has_changed;    /* `empty`, by the value that is searched for */
    uint64_t needs_rows; /* variables whose values must be there to decide */
};

/* 0, -EINVAL with words: it is too large; -ENOMEM.  It is destroyed in each case. */
int esi_live_condition_init(struct esi_live_assignment *assignment,
                            uint32_t support,
                            struct esi_live_condition *ret_condition,
                            struct es_error *error);
void esi_live_condition_fini(struct esi_live_condition *condition);

/* Notes universal variables that have no value before this one. */
void esi_live_assignment_note(struct esi_live_assignment *assignment,
                              const struct esi_joined *joined);

/* Of the variables that are bound, for ever unless it is open; `is_end`: nothing comes
 * any more, so it is not open.  `was_found`: the certain clauses of the weak form are
 * known to hold. */
enum esi_formula_truth esi_live_condition_truth(struct esi_live_assignment *assignment,
                                                struct esi_live_condition *condition,
                                                bool was_found,
                                                bool is_end);
/* Of one that was open, after a value joined: what it changes; `is_counted`: some
 * count, too. */
enum esi_formula_truth esi_live_condition_update(struct esi_live_assignment *assignment,
                                                 struct esi_live_condition *condition,
                                                 const struct esi_joined *joined,
                                                 bool is_counted);

#endif
