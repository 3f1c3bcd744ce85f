/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Evaluates formulas of programs and rewritten patterns in a small partial order, by
 * the definitions alone.
 *
 * Sets of events are bit sets.  Conditions that need attributes or whole domains
 * (comparisons, counts) are random, but equal for equal values.
 */
#ifndef ES_TESTS_SEARCH_FORMULA_TRUTH_H
#define ES_TESTS_SEARCH_FORMULA_TRUTH_H

#include "monitors/search/truth/cnf.h"
#include "monitors/search/language/program.h"

enum { TRUTH_EVENTS = 16 };

struct truth {
    unsigned events;
    uint32_t after[TRUTH_EVENTS];    /* events that an event precedes */
    uint32_t received[TRUTH_EVENTS]; /* events that receive it */
    int64_t times[TRUTH_EVENTS];
    uint32_t values[ES_PROGRAM_VARIABLES]; /* of variables */
    uint64_t empty;                        /* universal variables without values */
};

/* Draws a partial order with random partners and times. */
void truth_draw(struct truth *truth, unsigned events, uint64_t *state);
/* Draws a value for each variable: one event, or a set of up to three. */
void truth_draw_values(struct truth *truth,
                       const struct esi_program *program,
                       uint64_t *state);

bool truth_relation(const struct truth *truth,
                    enum esi_pattern_operator op,
                    uint32_t left,
                    uint32_t right);
bool truth_formula(const struct truth *truth,
                   const struct esi_program *program,
                   const struct esi_formula *formula);
bool truth_cnf(const struct truth *truth,
               const struct esi_program *program,
               const struct esi_cnf *cnf);

#endif
