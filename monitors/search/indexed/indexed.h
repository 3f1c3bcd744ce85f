/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Search of one disjunct by ranges: finds all assignments, or those in which one
 * variable has a given value, while events arrive (docs/indexed-search.md).
 *
 *   struct esi_indexed_config config = {.program = program, .disjunct = 0,
 *                                       .domains = domains, .order = order};
 *   esi_indexed_create(&config, &search, &error);
 *   for each event that joined a class, and each variable v of this class:
 *       esi_indexed_pinned(search, v, value, variables below v of this class,
 *                          found, data);
 *   esi_indexed_destroy(search);
 *
 * A search may be used by one thread.  All events of the domains must be in the order;
 * half of a sync must not be in the domains before the other half has arrived.  The
 * domains must not change during a call, but may change between calls.  A call
 * allocates memory only if it needs more than any call before.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/order/order.h"
#include "monitors/search/truth/cnf.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/language/program.h"

struct esi_indexed;

/* When the engine begins what costs time before it saves any.  The matches and their
 * order stay the same. */
struct esi_indexed_tuning {
    uint64_t alone_ns; /* one thread works alone before others are started */
    /* An index of attributes is made for a value of the first variable with this
     * number, or after so many comparisons for each value of the class. */
    unsigned index_ordinal;
    unsigned index_comparisons;
    unsigned listed_share; /* a list is used if it has at most 1 / this of all values */
    unsigned sorted_share; /* if it must be sorted, 1 / this, or one for each column */
};
extern const struct esi_indexed_tuning esi_indexed_defaults;

/* All pointers are borrowed until esi_indexed_destroy(), except `cnf`, which is only
 * used by esi_indexed_create(). */
struct esi_indexed_config {
    const struct esi_program *program;
    uint32_t disjunct;
    const struct esi_cnf *cnf; /* NULL: created from the disjunct's condition and
                                  pruned */
    const struct esi_domain *const *domains; /* by variable of the program */
    const struct esi_domain *const *counted; /* by atom, for COUNT; may be NULL if
                                                there are none */
    const struct es_order *order;
    struct esi_stamp_cache *stamps; /* of one thread; NULL: no cache */
    uint64_t empty; /* universal variables without values (D8); must be the same as
                       for `cnf` if that is given */
    bool skips_universal; /* the caller checks the clauses that name a universal
                             variable, by esi_indexed_holds() */
    const struct esi_indexed_tuning *tuning; /* NULL: the defaults */
    bool all_witnesses; /* false: for each assignment of the returned variables, one
                           assignment of the others is enough */
};

/* Returns 0 or -ENOMEM. */
int esi_indexed_create(const struct esi_indexed_config *config,
                       struct esi_indexed **ret_search,
                       struct es_error *error);
/* Accepts NULL. */
void esi_indexed_destroy(struct esi_indexed *search);

/* Variables that the newest event cannot be, because other variables must be after
 * them. */
uint64_t esi_indexed_never_last(const struct esi_indexed *search);

/* Receives an assignment of the disjunct's variables, indexed by variable.  Returns 0
 * to go on, 1 to stop, or a negative errno, which ends the call. */
typedef int (*esi_indexed_found_fn)(void *data, const struct esi_domain_value *values);

/* Finds all assignments in which `variable` (existential, of the disjunct) has `value`
 * and no variable in the bit set `excluded` has the same event.  `value` must be the
 * newest event of the domains, except in a class with partners, which events may join
 * late.  Lesser disjuncts are ignored.  Returns 0; 1 if `found` stopped the search;
 * -ENOMEM; or the negative result of `found`. */
int esi_indexed_pinned(struct esi_indexed *search,
                       uint32_t variable,
                       struct esi_domain_value value,
                       uint64_t excluded,
                       esi_indexed_found_fn found,
                       void *data);

/* Finds all assignments. */
int esi_indexed_all(struct esi_indexed *search, esi_indexed_found_fn found, void *data);

/* Selects clauses of the disjunct. */
enum esi_indexed_clauses {
    ESI_INDEXED_EXISTENTIAL, /* clauses without universal variables */
    ESI_INDEXED_UNIVERSAL,   /* clauses with universal variables */
    ESI_INDEXED_ALL,
};

/* Whether these clauses currently hold for an assignment, which need not come from this
 * search.  Returns 1, 0 or -ENOMEM.  Must not be called from `found` of the same
 * search. */
int esi_indexed_holds(struct esi_indexed *search,
                      const struct esi_domain_value *values,
                      enum esi_indexed_clauses clauses);

struct esi_indexed_statistics {
    uint64_t comparisons;
    uint64_t unknown; /* comparisons of events that the order has forgotten */
    uint64_t backtracks;
    uint64_t bytes; /* memory used now */
};

/* Totals since the search was created. */
void esi_indexed_statistics(const struct esi_indexed *search,
                            struct esi_indexed_statistics *ret_statistics);

/* The field `unknown` of the statistics. */
uint64_t esi_indexed_unknown(const struct esi_indexed *search);

#endif
