/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The search by ranges of one disjunct: for all assignments, or for those in which one
 * variable has a given value while events still arrive (docs/indexed-search.md).
 *
 *   struct esi_indexed_config config = {.program = program, .support = 0,
 *                                       .domains = domains, .order = order};
 *   esi_indexed_create(&config, &search, &error);
 *   for each event that joined a class, and each variable v of this class:
 *       esi_indexed_pinned(search, v, value, variables below v of this class,
 *                          found, data);
 *   esi_indexed_destroy(search);
 *
 * A search is for one thread.  All events of the domains must be in the order; a half
 * of a sync is not before the other half came, too.  Nothing may be added to the
 * domains or dropped from them during a call; between calls both may happen.  Once as
 * much room as ever was needed has been had, a call allocates nothing.
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

/* All is borrowed until esi_indexed_destroy(), but of `cnf` until the search was
 * created. */
struct esi_indexed_config {
    const struct esi_program *program;
    uint32_t support;
    const struct esi_cnf *cnf; /* NULL: made of the disjunct's condition, and pruned */
    const struct esi_domain *const *domains; /* of the program's variables */
    const struct esi_domain *const *counted; /* of its atoms: of COUNT; may be NULL when
                                               there are none */
    const struct es_order *order;
    struct esi_stamp_cache *stamps; /* of one thread; NULL: nothing is remembered */
    uint64_t empty;       /* universal variables that have no values (D8); when `cnf` is
                             given it must be of the same */
    bool skips_universal; /* clauses that name a universal variable are left to the
                             caller: esi_indexed_holds() tells of them */
    unsigned without;     /* enum esi_indexed_part (search.h) */
    bool all_witnesses;   /* else one assignment of the variables that are not returned
                             is enough for each of those that are */
};

/* 0 or -ENOMEM. */
int esi_indexed_create(const struct esi_indexed_config *config,
                       struct esi_indexed **ret_search,
                       struct es_error *error);
/* Accepts NULL. */
void esi_indexed_destroy(struct esi_indexed *search);

/* Variables that the newest event cannot be: others have to be after them. */
uint64_t esi_indexed_never_last(const struct esi_indexed *search);

/* An assignment of the disjunct's variables, indexed by variable.  0: go on; 1: enough;
 * a negative errno ends the call. */
typedef int (*esi_indexed_found_fn)(void *data, const struct esi_domain_value *values);

/* `value` is the newest event of the domains, but in a class with partners, which
 * events may join late.  All assignments in which `variable` (of the disjunct,
 * existential) has `value`, and in which none of the variables `excluded` (bits) has
 * the event that is `value`.  Lesser disjuncts are not looked at.  0; 1: `found` had
 * enough; -ENOMEM; what `found` gave. */
int esi_indexed_pinned(struct esi_indexed *search,
                       uint32_t variable,
                       struct esi_domain_value value,
                       uint64_t excluded,
                       esi_indexed_found_fn found,
                       void *data);

/* All assignments. */
int esi_indexed_all(struct esi_indexed *search, esi_indexed_found_fn found, void *data);

/* Which clauses of the disjunct. */
enum esi_indexed_clauses {
    ESI_INDEXED_EXISTENTIAL, /* those that name no universal variable */
    ESI_INDEXED_UNIVERSAL,   /* those that do */
    ESI_INDEXED_ALL,
};

/* Whether these clauses hold now of an assignment that need not have been found by this
 * search.  1, 0, -ENOMEM.  Not from within `found` of the same search. */
int esi_indexed_holds(struct esi_indexed *search,
                      const struct esi_domain_value *values,
                      enum esi_indexed_clauses clauses);

struct esi_indexed_statistics {
    uint64_t comparisons;
    uint64_t unknown; /* comparisons of events that the order has forgotten */
    uint64_t backtracks;
    uint64_t bytes; /* held by the search now */
};

/* Since the search was created. */
void esi_indexed_statistics(const struct esi_indexed *search,
                            struct esi_indexed_statistics *ret_statistics);

/* Of these, `unknown` alone. */
uint64_t esi_indexed_unknown(const struct esi_indexed *search);

#endif
