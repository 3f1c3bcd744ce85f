/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random computations whose events have random types and attributes, in the classes of
 * a pattern text, and searches of them, for tests of larger searches.
 *
 *   typed_world_init(&world, &config, seed, MADE_NEAR);
 *   answer = typed_world_search(&world, "Pairs", &search_config);
 *   typed_answer_fini(&answer);
 *   typed_world_fini(&world);
 */
#ifndef ES_TESTS_SEARCH_TYPED_WORLD_H
#define ES_TESTS_SEARCH_TYPED_WORLD_H

#include "monitors/search/search.h"
#include "tests/order/made_computation.h"

struct typed_world_config {
    const char *text; /* of patterns */
    uint32_t traces;
    uint32_t events;
    uint32_t keys; /* attributes have numbers below this */
};

/* Attribute `key` is a number, possibly as text ("7"), another
 * text ("t7"), or absent. */
enum typed_key { TYPED_NUMBER, TYPED_NUMBER_AS_TEXT, TYPED_TEXT, TYPED_ABSENT };

/* The type is "a", "b", "c", "ab" or, in half of the cases, "d".  Attribute
 * `other` is a number. */
struct typed_event {
    const char *type;
    enum typed_key form;
    uint32_t key;
    uint32_t other;
};

struct typed_world {
    struct made_computation *made;
    struct typed_event *events; /* by number */
    struct es_pattern_file *file;
    struct esi_domains *domains;
    struct es_order *order;
};

/* Fails the test on errors. */
void typed_world_init(struct typed_world *world,
                      const struct typed_world_config *config,
                      uint64_t seed,
                      enum made_shape shape);
void typed_world_fini(struct typed_world *world);
/* Checks a world of each shape; seeds begin with a random one. */
void typed_worlds_check(const struct typed_world_config *config,
                        const enum made_shape *shapes,
                        size_t count,
                        void (*check)(const struct typed_world *world));

/* The matches of a search in sequence, each after its number of events. */
struct typed_answer {
    uint32_t *words;
    size_t count;
    uint64_t matches;
    struct esi_search_statistics statistics;
};

struct typed_answer typed_world_search(const struct typed_world *world,
                                       const char *predicate,
                                       const struct esi_search_config *config);
/* Tries all values of all variables. */
struct typed_answer typed_world_search_plainly(const struct typed_world *world,
                                               const char *predicate);
void typed_answer_fini(struct typed_answer *answer);
/* Checks that both have the same matches in the same order. */
void typed_answers_check(const struct typed_answer *one,
                         const struct typed_answer *many);

/* Checks that each of the texts, ended by NULL, is in the output of --explain. */
void typed_world_check_explained(const struct typed_world *world,
                                 const char *predicate,
                                 const char *const *expected);

#endif
