/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The values of variables in the engine "rewrite", and evaluation of literals for the
 * chosen values.
 *
 *   esi_choice_init(&choice, task);
 *   esi_choice_test(&choice, &literal, &test);
 *   choice.chosen[x] = 3; ...  esi_test_holds(&choice, &test);
 *   esi_choice_fini(&choice);
 *
 * As in the thesis, x -> y takes one comparison: of x's index with the entry of y's
 * timestamp for x's trace.  Entries are cached if there is room (64 MB), because the
 * order computes them anew each time.  A comparison is counted whether or not the entry
 * was cached.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_ENGINE_REWRITE_VALUES_H
#define ES_MONITORS_SEARCH_THESIS_ENGINE_REWRITE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/truth/cnf.h"
#include "monitors/search/engine.h"
#include "monitors/search/truth/formula_check.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/language/arena.h"

/* All values of a domain, in the order of the domain. */
struct esi_values {
    const struct esi_domain *domain;
    bool is_single;
    uint32_t count;
    const struct esi_domain_value *items;
    const struct es_event_id *ids; /* for single events, otherwise NULL */
    struct esi_values *next;
};

/* Not entries of a timestamp: not queried yet, and not known. */
#define ESI_ENTRY_NONE UINT32_MAX
#define ESI_ENTRY_UNKNOWN (UINT32_MAX - 1)

/* The greatest predecessors of the values of `of` on the traces of `on`. */
struct esi_entries {
    const struct esi_values *of;
    const struct esi_values *on;
    uint32_t slots;
    uint32_t *items; /* [value][slot]; NULL: no room */
    struct esi_entries *next;
};

/* A literal prepared for testing. */
struct esi_test {
    struct esi_literal literal;
    struct esi_entries *entries; /* for BEFORE between single events, otherwise NULL */
    bool is_equality;            /* between single events */
    uint8_t *known; /* for COUNT of one variable, by value: 1 false, 2 true */
};

struct esi_choice {
    const struct esi_engine_task *task;
    struct esi_precedence precedence;
    const struct esi_values *values[ES_PROGRAM_VARIABLES];
    uint32_t chosen[ES_PROGRAM_VARIABLES]; /* index of the value of each variable */
    uint64_t bytes;
    struct esi_values *all_values;
    struct esi_entries *all_entries;
    struct esi_arena arena;
    struct esi_formula_check check;
    int failure;    /* -ENOMEM: later results are invalid */
    unsigned steps; /* since the time was checked */
    bool is_over;   /* later results are invalid */
};

int esi_choice_init(struct esi_choice *choice, const struct esi_engine_task *task);
void esi_choice_fini(struct esi_choice *choice);
int esi_choice_test(struct esi_choice *choice,
                    const struct esi_literal *literal,
                    struct esi_test *ret_test);
/* Whether the time limit has passed or the search is cancelled; checked from time to
 * time. */
static inline bool esi_choice_is_over(struct esi_choice *choice)
{
    if ((++choice->steps & 4095) == 0)
        choice->is_over |= esi_search_is_over(choice->task->config);
    return choice->is_over;
}

/* Whether a FORMULA literal fails for any values of its variables outside `bound`. */
bool esi_test_is_refuted(struct esi_choice *choice,
                         const struct esi_test *test,
                         uint64_t bound);

/* For literals that are not simple. */
bool esi_test_holds_slowly(struct esi_choice *choice, const struct esi_test *test);

/* Whether a literal holds; all its variables must have values. */
static inline bool esi_test_holds(struct esi_choice *choice,
                                  const struct esi_test *test)
{
    if (test->entries) {
        const struct esi_values *on = test->entries->on;
        uint32_t x = choice->chosen[test->literal.x];
        uint32_t y = choice->chosen[test->literal.y];
        uint32_t entry =
            test->entries->items[(size_t)y * test->entries->slots + on->items[x].slot];

        if (entry < ESI_ENTRY_UNKNOWN) {
            choice->precedence.comparisons++;
            return (on->ids[x].index <= entry) != test->literal.is_negated;
        }
    }
    if (test->is_equality) {
        struct es_event_id a =
            choice->values[test->literal.x]->ids[choice->chosen[test->literal.x]];
        struct es_event_id b =
            choice->values[test->literal.y]->ids[choice->chosen[test->literal.y]];

        return esi_event_is(a, b) != test->literal.is_negated;
    }
    return esi_test_holds_slowly(choice, test);
}

#endif
