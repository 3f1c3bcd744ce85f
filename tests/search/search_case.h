/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A pattern text and a small event set, to be searched by every engine.
 *
 *   search = search_case_create(text, &set, NULL, &error);
 *   for (i = 0; i < search_case_config_count(); i++)
 *       search_case_run(search, "P1", &search_case_config(i)->config, &answer, &error);
 *   search_case_destroy(search);
 */
#ifndef ES_TESTS_SEARCH_SEARCH_CASE_H
#define ES_TESTS_SEARCH_SEARCH_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "monitors/search/language/pattern.h"
#include "monitors/search/search.h"
#include "tests/search/reference.h"
#include "tests/search/small_set.h"

struct search_case;

/* Parses the text and streams the events into order and domains, in the given order
 * (NULL = by number).  Borrows the set.  Returns 0 or a negative errno. */
int search_case_create(const char *text,
                       const struct small_set *set,
                       const uint32_t *order,
                       struct search_case **ret_search,
                       struct es_error *error);
/* Accepts NULL. */
void search_case_destroy(struct search_case *search);

const struct es_pattern_file *search_case_file(const struct search_case *search);

/* The result of a search. */
struct search_answer {
    uint64_t *matches; /* ascending */
    uint32_t count;
    bool has_repeats; /* a set was delivered twice */
    bool is_sorted;   /* the events of each set were sorted and distinct */
    struct esi_search_statistics statistics;
};

/* Calls esi_search_run(); on success the caller clears the answer. */
int search_case_run(const struct search_case *search,
                    const char *predicate,
                    const struct esi_search_config *config,
                    struct search_answer *ret_answer,
                    struct es_error *error);
void search_answer_clear(struct search_answer *answer);

/* Like esi_search_run() and esi_search_explain(); -ENOENT = no such predicate. */
int search_case_give(const struct search_case *search,
                     const char *predicate,
                     const struct esi_search_config *config,
                     const struct esi_match_sink *sink,
                     struct esi_search_statistics *ret_statistics,
                     struct es_error *error);
int search_case_explain(const struct search_case *search,
                        const char *predicate,
                        const struct esi_search_config *config,
                        FILE *out,
                        struct es_error *error);

/* NULL if a complete answer is as expected, otherwise a
 * description of the difference. */
const char *search_answer_fault(const struct search_answer *answer,
                                const struct reference_answer *expected);
/* Likewise for an answer with a limit. */
const char *search_answer_limited_fault(const struct search_answer *answer,
                                        const struct reference_answer *expected,
                                        uint64_t limit);

/* --- Engines and their options ---------------------------------------------------- */

struct search_case_config {
    char name[48];
    struct esi_search_config config;
};

size_t search_case_config_count(void);
const struct search_case_config *search_case_config(size_t number);

#endif
