/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Whether a part of a condition is true of values that are bound: for engines that do
 * not write it out, and for searches while events arrive.
 *
 *   struct esi_formula_check check = {.program = program, .domains = domains, ...};
 *   esi_formula_check_init(&check);
 *   esi_formula_check_bind(&check, v, value); ...
 *   esi_formula_check(&check, formula, variables);
 *   esi_formula_check_fini(&check);
 *
 * Sides of relations are the unions of their values' events, or what an engine gives
 * for them.  What depends on a variable that is not bound yet is open; so is "within"
 * until all are bound, unless those that are lie too far apart already.
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

/* Rising: all of several are as true as the least of them, any as the greatest. */
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

/* What a variable has: events, and the value in its domain if that is known. */
struct esi_formula_binding {
    struct esi_domain_value value;
    bool has_value; /* else it has no time, no attributes and no partners */
    struct es_event_id one;
    const struct es_event_id *events; /* sorted; perhaps &one */
    size_t count;
};

/* The first four are borrowed; those that may be NULL are, too. */
struct esi_formula_check {
    const struct esi_program *program;
    const struct esi_domain *const *domains; /* of the program's variables */
    const struct esi_domain *const *counted; /* of its atoms: of COUNT */
    struct esi_precedence *precedence;
    bool may_grow; /* values that are counted may still come: "at most" is open until
                      there are too many, "at least" until there are enough */
    /* Instead of all events of some variables' values those to be compared, borrowed
     * until it is asked again for the same ones; NULL: all.  0 or -errno. */
    int (*side)(void *data,
                uint64_t variables,
                const struct es_event_id **ret_events,
                size_t *ret_count);
    void *side_data;
    /* When it is over counting ends; NULL: never. */
    const struct esi_search_config *config;
    unsigned counted_since; /* the time was looked at */
    uint64_t bound;         /* variables */
    int failure;            /* -errno, or 1: the search is over; what was told since is
                               wrong */
    struct esi_formula_binding *bindings; /* owned; of the program's variables */
    struct esi_event_list sides[2];       /* of a relation */
    struct esi_intervals members;         /* of a column that is counted */

    /* While events arrive; both may be zero. */
    struct es_event_id newest; /* no event that is there is after it; index 0: none */
    const uint64_t *counts;    /* by atom: how many values are known to be counted, or
                                  ES_FORMULA_UNCOUNTED */
};

/* Room for the values of the program's variables; `program` and what else is borrowed
 * is set.  0 or -ENOMEM. */
int esi_formula_check_init(struct esi_formula_check *check);
void esi_formula_check_fini(struct esi_formula_check *check);

void esi_formula_check_bind(struct esi_formula_check *check,
                            unsigned variable,
                            struct esi_domain_value value);

/* The same of a single event, that of `value`. */
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

/* Of what is bound.  All variables of a literal but COUNT and FORMULA are. */
enum esi_formula_truth esi_literal_truth(struct esi_formula_check *check,
                                         const struct esi_literal *literal);

/* `variables` are those that have values.  Atoms that name another one hold (D8); of
 * WITHIN it is left out. */
enum esi_formula_truth esi_formula_check(struct esi_formula_check *check,
                                         const struct esi_formula *formula,
                                         uint64_t variables);

/* How many values are in the relation of a COUNT atom with what is bound, not many more
 * than `most`. */
uint64_t esi_formula_count(struct esi_formula_check *check,
                           uint32_t atom,
                           uint64_t most);
/* Whether one value is. */
bool esi_formula_is_counted(struct esi_formula_check *check,
                            uint32_t atom,
                            struct esi_domain_value value);

/* All variables that its atoms name. */
uint64_t esi_formula_variables(const struct esi_program *program,
                               const struct esi_formula *formula);

#endif
