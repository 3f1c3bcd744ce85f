/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Evaluates parts of a condition for bound values, for engines that do not expand them
 * and for searches while events arrive.
 *
 *   struct esi_formula_check check = {.program = program, .domains = domains, ...};
 *   esi_formula_check_init(&check);
 *   esi_formula_check_bind(&check, v, value); ...
 *   esi_formula_check(&check, formula, variables);
 *   esi_formula_check_fini(&check);
 *
 * The sides of relations are the unions of their values' events, or what an engine
 * provides for them.  A formula that depends on an unbound variable is open; so is
 * "within" until all its variables are bound, unless the bound ones are already too far
 * apart.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_FORMULA_CHECK_H
#define ES_MONITORS_SEARCH_TRUTH_FORMULA_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/domains/domain.h"
#include "monitors/search/truth/cnf.h"
#include "monitors/search/truth/event_list.h"
#include "monitors/search/truth/intervals.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/language/program.h"
#include "monitors/search/search.h"

/* In increasing order: the truth of AND is the minimum, that of OR the maximum. */
enum esi_formula_truth {
    ES_FORMULA_FAILS,
    ES_FORMULA_OPEN,
    ES_FORMULA_HOLDS,
};

static inline enum esi_formula_truth esi_truth_least(enum esi_formula_truth a,
                                                     enum esi_formula_truth b)
{
    return a < b ? a : b;
}

#define ES_FORMULA_UNCOUNTED UINT64_MAX

/* The binding of a variable: its events, and the value in its domain if that is
 * known. */
struct esi_formula_binding {
    struct esi_domain_value value;
    bool has_value; /* false: it has no time, attributes or partners */
    struct es_event_id one;
    const struct es_event_id *events; /* sorted; may be &one */
    size_t count;
};

/* The first four are borrowed, as are those that may be NULL. */
struct esi_formula_check {
    const struct esi_program *program;
    const struct esi_domain *const *domains; /* by variable of the program */
    const struct esi_domain *const *counted; /* by atom, for COUNT */
    struct esi_precedence *precedence;
    bool may_grow; /* counted values may still arrive: "at most" is open until there
                      are too many, "at least" until there are enough */
    /* Returns the events to be compared instead of all events of some variables'
     * values, borrowed until the next call for the same variables; NULL means all
     * events.  Returns 0 or -errno. */
    int (*side)(void *data,
                uint64_t variables,
                const struct es_event_id **ret_events,
                size_t *ret_count);
    void *side_data;
    /* Counting stops when esi_search_is_over(); NULL: never. */
    const struct esi_search_config *config;
    unsigned counted_since; /* values counted since the time was checked */
    uint64_t bound;         /* bit set of variables */
    int failure; /* -errno, or 1 if the search is over; later results are invalid */
    struct esi_formula_binding *bindings; /* owned; by variable of the program */
    struct esi_event_list sides[2];       /* the two sides of a relation */
    struct esi_intervals members;         /* of a column being counted */

    /* For searches while events arrive; both may be zero. */
    struct es_event_id newest; /* no event in the domains is after it; index 0: none */
    const uint64_t *counts;    /* by atom: number of values known to be counted, or
                                  ES_FORMULA_UNCOUNTED */
};

/* Allocates the bindings; `program` and the other borrowed fields must be set.  Returns
 * 0 or -ENOMEM. */
int esi_formula_check_init(struct esi_formula_check *check);
void esi_formula_check_fini(struct esi_formula_check *check);

void esi_formula_check_bind(struct esi_formula_check *check,
                            unsigned variable,
                            struct esi_domain_value value);

/* The same for a single event, which is that of `value`. */
static inline void esi_formula_check_bind_event(struct esi_formula_check *check,
                                                unsigned variable,
                                                struct esi_domain_value value,
                                                struct es_event_id event)
{
    struct esi_formula_binding *binding = &check->bindings[variable];

    binding->value = value;
    binding->has_value = true;
    binding->one = event;
    binding->events = &binding->one;
    binding->count = 1;
    check->bound |= UINT64_C(1) << variable;
}

/* Evaluates a literal.  All its variables must be bound, except for COUNT and
 * FORMULA. */
enum esi_formula_truth esi_literal_truth(struct esi_formula_check *check,
                                         const struct esi_literal *literal);

/* Evaluates a formula.  `variables` are those that have values: atoms that name another
 * variable hold (D8), except that WITHIN omits it. */
enum esi_formula_truth esi_formula_check(struct esi_formula_check *check,
                                         const struct esi_formula *formula,
                                         uint64_t variables);

/* Counts the values that are in the relation of a COUNT atom with the bound values.
 * Stops soon after `most`. */
uint64_t esi_formula_count(struct esi_formula_check *check,
                           uint32_t atom,
                           uint64_t most);
/* Whether one value is counted. */
bool esi_formula_is_counted(struct esi_formula_check *check,
                            uint32_t atom,
                            struct esi_domain_value value);

/* The variables of all its atoms. */
uint64_t esi_formula_variables(const struct esi_program *program,
                               const struct esi_formula *formula);

#endif
