/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_world.h - random events in classes and a random condition in
 * conjunctive normal form over them, with its evaluation by the plain
 * definition, for tests of searches. */
#ifndef ES_TESTS_SEARCH_MADE_WORLD_H
#define ES_TESTS_SEARCH_MADE_WORLD_H

#include "monitors/search/domains/domains.h"
#include "monitors/search/engine.h"
#include "monitors/search/indexed/indexed.h"
#include "tests/search/made_sets.h"

enum {
    MADE_SETS = 4,      /* maximum number of values of a domain of sets */
    MADE_VARIABLES = 4, /* maximum number of existential variables */
    MADE_UNIVERSAL = 2,
    MADE_CLAUSES = 9,
    MADE_LITERALS = 3, /* of a clause */
};

/* Events in classes, a random condition over them, and the
 * assignments that were found. */
struct made_world {
    uint64_t draw;
    struct made_computation *made;
    const char **type_of; /* by number */
    struct es_pattern_file *file;
    struct esi_domains *events;
    struct esi_domain *sets;
    struct es_order *order;

    struct esi_program_variable variables[MADE_VARIABLES + MADE_UNIVERSAL];
    struct esi_atom atom;
    struct esi_program_disjunct disjunct;
    struct esi_program program;
    const struct esi_domain *domains[MADE_VARIABLES + MADE_UNIVERSAL];
    uint64_t empty; /* universal variables without values */
    struct esi_literal literals[MADE_CLAUSES][MADE_LITERALS];
    struct esi_clause clauses[MADE_CLAUSES];
    struct esi_cnf cnf;

    uint8_t *found; /* how often each assignment was found, by code; used by the test */
    size_t codes;
    unsigned variable_count; /* existential variables */
};

/* If a world is not filled, it has no domains of classes and no condition yet: make
 * them by esi_domains_create(), made_world_give_traces(), made_world_make_condition()
 * and made_world_give(). */
struct made_world *made_world_create(uint64_t seed, unsigned round, bool is_filled);
void made_world_destroy(struct made_world *world);

void made_world_give_traces(struct made_world *world);
/* Adds all events; both halves of a sync are in the order before
 * either is in a domain. */
void made_world_give(struct made_world *world);

void made_world_make_condition(struct made_world *world);
/* Makes another condition: three returned variables of one class, each two related
 * alike, so that they are interchangeable. */
void made_world_make_exchangeable(struct made_world *world);

/* Iterates over all assignments of existential variables; returns false at the end. */
bool made_world_first_assignment(const struct made_world *world,
                                 struct esi_domain_value *values);
bool made_world_next_assignment(const struct made_world *world,
                                struct esi_domain_value *values);
/* Iterates over the values of a domain; returns false at the end. */
bool made_world_first_value(const struct esi_domain *domain,
                            struct esi_domain_value *value);
bool made_world_next_value(const struct esi_domain *domain,
                           struct esi_domain_value *value);
/* Whether the selected clauses hold, for all values of universal variables. */
bool made_world_satisfies(const struct made_world *world,
                          const struct esi_domain_value *assignment,
                          enum esi_indexed_clauses which);

#endif
