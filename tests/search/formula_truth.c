/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* formula_truth.c - evaluates formulas and rewritten patterns. */
#include "config.h"

#include "formula_truth.h"
#include "tests/random.h"

void truth_draw(struct truth *truth, unsigned events, uint64_t *state)
{
    *truth = (struct truth){.events = events};
    for (unsigned i = events; i-- > 0;) {
        truth->times[i] = (int64_t)(random_next(state) % 20);
        for (unsigned k = i + 1; k < events; k++)
            if (random_next(state) % 4 == 0) {
                truth->after[i] |= UINT32_C(1) << k | truth->after[k];
                if (random_next(state) % 2 == 0)
                    truth->received[i] |= UINT32_C(1) << k;
            }
    }
}

void truth_draw_values(struct truth *truth,
                       const struct esi_program *program,
                       uint64_t *state)
{
    for (uint32_t v = 0; v < program->variable_count; v++) {
        uint64_t more = program->variables[v].class_number == ES_PATTERN_NONE
                            ? random_next(state) % 4
                            : 1;

        truth->values[v] = 0;
        for (; more > 0; more--)
            truth->values[v] |= UINT32_C(1) << random_next(state) % truth->events;
    }
}

/* --- Relations -------------------------------------------------------------------- */

static bool is_any_before(const uint32_t *successors, uint32_t left, uint32_t right)
{
    for (; left; left &= left - 1)
        if (successors[__builtin_ctz(left)] & right)
            return true;
    return false;
}

bool truth_relation(const struct truth *truth,
                    enum esi_pattern_operator op,
                    uint32_t left,
                    uint32_t right)
{
    bool is_before = is_any_before(truth->after, left, right);
    bool is_after = is_any_before(truth->after, right, left);
    bool is_entangled = (left & right) || (is_before && is_after);

    switch (op) {
    case ES_OPERATOR_BEFORE:
        return is_before && !is_entangled;
    case ES_OPERATOR_CONCURRENT:
        return !is_before && !is_after && !is_entangled;
    case ES_OPERATOR_ENTANGLED:
        return is_entangled;
    case ES_OPERATOR_RECEIVED:
        return is_any_before(truth->received, left, right);
    }
    return false;
}

static bool is_within(const struct truth *truth, uint32_t events, int64_t within)
{
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;

    for (; events; events &= events - 1) {
        int64_t time = truth->times[__builtin_ctz(events)];

        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    return first > last || last - first <= within;
}

static uint32_t events_of(const struct truth *truth, uint64_t variables)
{
    uint32_t events = 0;

    for (; variables; variables &= variables - 1)
        events |= truth->values[__builtin_ctzll(variables)];
    return events;
}

static bool chance(uint32_t atom, uint32_t left, uint32_t right)
{
    uint64_t state = (uint64_t)atom << 50 ^ (uint64_t)left << 25 ^ right;

    return random_next(&state) & 1;
}

/* --- Formulas --------------------------------------------------------------------- */

static bool truth_atom(const struct truth *truth,
                       const struct esi_program *program,
                       uint32_t number)
{
    const struct esi_atom *atom = &program->atoms[number];
    uint32_t left = events_of(truth, atom->left & ~truth->empty);
    uint32_t right = events_of(truth, atom->right);

    if (atom->kind == ES_ATOM_WITHIN)
        return is_within(truth, left, atom->node->within_ns);
    if ((atom->left | atom->right) & truth->empty)
        return true;
    if (atom->kind == ES_ATOM_RELATION)
        return truth_relation(truth, atom->op, left, right) != atom->is_negated;
    return chance(number, left, right);
}

bool truth_formula(const struct truth *truth,
                   const struct esi_program *program,
                   const struct esi_formula *formula)
{
    bool is_and = formula->kind == ES_FORMULA_AND;

    if (formula->kind == ES_FORMULA_ATOM)
        return truth_atom(truth, program, formula->atom);
    if (formula->kind == ES_FORMULA_TRUE || formula->kind == ES_FORMULA_FALSE)
        return formula->kind == ES_FORMULA_TRUE;
    for (size_t i = 0; i < formula->part_count; i++)
        if (truth_formula(truth, program, formula->parts[i]) != is_and)
            return !is_and;
    return is_and;
}

/* --- Rewritten patterns ----------------------------------------------------------- */

/* Variables that do not occur in the literal have no value. */
static bool truth_whole(const struct truth *truth,
                        const struct esi_program *program,
                        const struct esi_literal *literal)
{
    struct truth now = *truth;

    now.empty = ~literal->variables;
    return truth_formula(&now, program, literal->formula) != literal->is_negated;
}

static bool truth_literal(const struct truth *truth,
                          const struct esi_program *program,
                          const struct esi_literal *literal)
{
    const struct esi_atom *atoms = program->atoms;
    uint32_t x = truth->values[literal->x];
    uint32_t y = truth->values[literal->y];

    switch (literal->kind) {
    case ES_LITERAL_BEFORE:
        return is_any_before(truth->after, x, y) != literal->is_negated;
    case ES_LITERAL_EQUAL:
        return ((x & y) != 0) != literal->is_negated;
    case ES_LITERAL_RECEIVED:
        return is_any_before(truth->received, x, y) != literal->is_negated;
    case ES_LITERAL_NEAR:
        return is_within(truth, x | y, atoms[literal->atom].node->within_ns) !=
               literal->is_negated;
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
        return chance(literal->atom, events_of(truth, atoms[literal->atom].left),
                      events_of(truth, atoms[literal->atom].right)) !=
               literal->is_negated;
    case ES_LITERAL_FORMULA:
        return truth_whole(truth, program, literal);
    case ES_LITERAL_RELATION: /* occur in plans, not in normal forms */
        break;
    }
    return false;
}

bool truth_cnf(const struct truth *truth,
               const struct esi_program *program,
               const struct esi_cnf *cnf)
{
    for (size_t i = 0; i < cnf->count; i++) {
        const struct esi_clause *clause = &cnf->clauses[i];
        bool is_true = false;

        for (size_t k = 0; k < clause->count && !is_true; k++)
            is_true = truth_literal(truth, program, &clause->literals[k]);
        if (!is_true)
            return false;
    }
    return true;
}
