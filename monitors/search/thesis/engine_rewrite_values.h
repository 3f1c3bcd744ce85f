/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Values of variables as "rewrite" goes through them, and whether a literal holds of
 * those that are chosen.
 *
 *   esi_choice_init(&choice, task);
 *   esi_choice_test(&choice, &literal, &test);
 *   choice.chosen[x] = 3; ...  esi_test_holds(&choice, &test);
 *   esi_choice_fini(&choice);
 *
 * Whether x -> y is one comparison, as in the thesis: of x's index with the entry of
 * y's timestamp for x's trace.  The entries that were needed are kept where there is
 * room (64 MB), since the order works them out anew each time; each question counts as
 * a comparison all the same, whether the entry was kept or not.
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
    const struct es_event_id *ids; /* of single events, else NULL */
    struct esi_values *next;
};

/* What is not an entry of a timestamp: none was asked for, or it is not known. */
#define ESI_ENTRY_NONE UINT32_MAX
#define ESI_ENTRY_UNKNOWN (UINT32_MAX - 1)

/* Greatest predecessors of the values of `of` on the traces of `on`. */
struct esi_entries {
    const struct esi_values *of;
    const struct esi_values *on;
    uint32_t slots;
    uint32_t *items; /* value by slot; NULL: no room */
    struct esi_entries *next;
};

/* A literal that can be tested. */
struct esi_test {
    struct esi_literal literal;
    struct esi_entries *entries; /* of BEFORE between single events, else NULL */
    bool is_equality;            /* of single events */
    uint8_t *known; /* of COUNT of one variable: 1 false, 2 true, by value */
};

struct esi_choice {
    const struct esi_engine_task *task;
    struct esi_precedence precedence;
    const struct esi_values *values[ES_PROGRAM_VARIABLES];
    uint32_t chosen[ES_PROGRAM_VARIABLES]; /* number of the value of each variable */
    uint64_t bytes;
    struct esi_values *all_values;
    struct esi_entries *all_entries;
    struct esi_arena arena;
    struct esi_formula_check check;
    int failure;    /* -ENOMEM: what was told since is wrong */
    unsigned steps; /* since the time was looked at */
    bool is_over;   /* what was told since is wrong */
};

int esi_choice_init(struct esi_choice *choice, const struct esi_engine_task *task);
void esi_choice_fini(struct esi_choice *choice);
int esi_choice_test(struct esi_choice *choice,
                    const struct esi_literal *literal,
                    struct esi_test *ret_test);
/* Whether the time is over, or the search cancelled; looks now and then. */
static inline bool esi_choice_is_over(struct esi_choice *choice)
{
    if ((++choice->steps & 4095) == 0)
        choice->is_over |= esi_search_is_over(choice->task->config);
    return choice->is_over;
}

/* Whether a FORMULA literal fails whatever its variables beside those of `bound` are.
 */
bool esi_test_is_refuted(struct esi_choice *choice,
                         const struct esi_test *test,
                         uint64_t bound);

/* Of literals that are not simple. */
bool esi_test_holds_slowly(struct esi_choice *choice, const struct esi_test *test);

/* Whether a literal holds; all its variables have values. */
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
