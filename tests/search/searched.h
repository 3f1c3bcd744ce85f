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
    uint64_t
        *matches; /* as bits of the set's numbers, in the order in which they came */
    uint32_t count;
    struct esi_search_statistics statistics;
    struct es_error error;
};

/* The running example of the semantics. */
void searched_example(struct small_set *ret_set);

/* Ends the test where the text is wrong.  `set` is borrowed. */
void searched_init(struct searched *searched,
                   const char *text,
                   const struct small_set *set);
void searched_fini(struct searched *searched);

/* What the search gave; predicate by name.  Earlier matches are dropped. */
int searched_run(struct searched *searched,
                 const struct esi_engine_ops *engine,
                 const char *predicate);

/* Whether the matches are those, each as "p1 q2", "" for the empty one, ended by NULL,
 * in any order; says what is otherwise. */
bool searched_are(const struct searched *searched, const char *const *matches);

#endif
