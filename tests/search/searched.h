/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* searched.h - a pattern text and a small set of events, ready to be searched. */
#ifndef ES_TESTS_SEARCH_SEARCHED_H
#define ES_TESTS_SEARCH_SEARCHED_H

#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/search_engine.h"
#include "tests/search/small_set.h"

struct searched {
    const struct small_set *set;
    struct es_pattern_file *file;
    struct es_order *order;
    struct esi_domains *domains;
    struct esi_search_config config;
    uint64_t *matches; /* as bit sets of event numbers, in order of delivery */
    uint32_t count;
    struct esi_search_statistics statistics;
    struct es_error error;
};

/* The running example of the semantics, as in test_reference.c. */
void searched_example(struct small_set *ret_set);

/* Fails the test if the text is invalid.  Borrows `set`. */
void searched_init(struct searched *searched,
                   const char *text,
                   const struct small_set *set);
void searched_fini(struct searched *searched);

/* Searches a predicate by name and returns the result; drops earlier matches. */
int searched_run(struct searched *searched,
                 const struct esi_engine_ops *engine,
                 const char *predicate);

/* Whether the matches are these, in any order: each as "p1 q2", "" for the empty one,
 * ended by NULL.  Prints differences. */
bool searched_are(const struct searched *searched, const char *const *matches);

#endif
