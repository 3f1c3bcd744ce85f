/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cnf_relation.c - expands relations of sets of variables (Nichols, 5.2).
 *
 * The literals between A and B are pairs of their variables: x -> y (before), y -> x
 * (after) and x = y (equal).  By definitions 3.5, 3.7 and 3.8
 *
 *   A --> B   some before, no after, no equal
 *   A || B    no before, no after, no equal
 *   A <-> B   some equal, or some before and some after
 *
 * If either side is one variable of single events, after and equal contradict before,
 * and the relation needs only one literal. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/truth/cnf_clauses.h"

enum { SIDE = ES_PROGRAM_VARIABLES, PAIRS = SIDE * SIDE };

/* Codes of the literals between two sides, not negated. */
struct pairs {
    uint64_t before[PAIRS];
    uint64_t after[PAIRS];
    uint64_t equal[PAIRS];
    uint64_t clause[3 * PAIRS]; /* scratch for one clause */
    size_t directed;            /* length of before and of after */
    size_t undirected;          /* length of equal */
    size_t right; /* number of variables on the right; the pairs of one variable on
                     the left are adjacent */
    bool is_always_equal; /* both sides have the same single event */
    bool is_plain;        /* one single event on each side */
};

static uint64_t code_of(enum esi_literal_kind kind,
                        unsigned x,
                        unsigned y,
                        uint32_t atom)
{
    struct esi_literal literal = {
        .kind = kind, .x = (uint8_t)x, .y = (uint8_t)y, .atom = atom};

    return esi_literal_code(&literal);
}

static uint64_t negated_pair(uint64_t code)
{
    struct esi_literal literal = esi_literal_of(code);

    literal.is_negated = !literal.is_negated;
    return esi_literal_code(&literal);
}

static unsigned next_variable(uint64_t *set)
{
    unsigned v = (unsigned)__builtin_ctzll(*set);

    *set &= *set - 1;
    return v;
}

static void fill_pairs(const struct esi_program *program,
                       const struct esi_atom *atom,
                       enum esi_literal_kind directed,
                       struct pairs *pairs)
{
    pairs->right = (size_t)__builtin_popcountll(atom->right);
    for (uint64_t left = atom->left; left;) {
        unsigned x = next_variable(&left);

        for (uint64_t right = atom->right; right;) {
            unsigned y = next_variable(&right);

            if (x == y && esi_program_is_single(program, x)) {
                pairs->is_always_equal = true;
                continue;
            }
            pairs->before[pairs->directed] = code_of(directed, x, y, 0);
            pairs->after[pairs->directed++] = code_of(directed, y, x, 0);
            pairs->equal[pairs->undirected++] = code_of(ES_LITERAL_EQUAL, x, y, 0);
        }
    }
    pairs->is_plain =
        __builtin_popcountll(atom->left) == 1 &&
        __builtin_popcountll(atom->right) == 1 &&
        esi_program_is_single(program, (unsigned)__builtin_ctzll(atom->left)) &&
        esi_program_is_single(program, (unsigned)__builtin_ctzll(atom->right));
}

/* --- Clauses of pairs ------------------------------------------------------------- */

/* Adds one clause: `first` (0 for none) and all of up to two lists. */
static int some_pair(struct pairs *pairs,
                     uint64_t first,
                     const uint64_t *list,
                     size_t count,
                     const uint64_t *more,
                     size_t more_count,
                     struct esi_clauses *clauses)
{
    size_t length = 0;

    if (first)
        pairs->clause[length++] = first;
    for (size_t i = 0; i < count; i++)
        pairs->clause[length++] = list[i];
    for (size_t i = 0; i < more_count; i++)
        pairs->clause[length++] = more[i];
    return esi_clauses_add(clauses, pairs->clause, length);
}

/* Adds a clause for each literal: its negation. */
static int no_pair(const uint64_t *list, size_t count, struct esi_clauses *clauses)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        uint64_t code = negated_pair(list[i]);

        result = esi_clauses_add(clauses, &code, 1);
    }
    return result;
}

static int no_clause(struct esi_clauses *clauses)
{
    return esi_clauses_add(clauses, NULL, 0);
}

static int no_equal(struct pairs *pairs, struct esi_clauses *clauses)
{
    return pairs->is_always_equal ? no_clause(clauses)
                                  : no_pair(pairs->equal, pairs->undirected, clauses);
}

static int before_pair(struct pairs *pairs, struct esi_clauses *clauses)
{
    int result = some_pair(pairs, 0, pairs->before, pairs->directed, NULL, 0, clauses);

    if (result == 0 && !pairs->is_plain)
        result = no_pair(pairs->after, pairs->directed, clauses);
    if (result == 0 && !pairs->is_plain)
        result = no_equal(pairs, clauses);
    return result;
}

static int not_before(struct pairs *pairs, struct esi_clauses *clauses)
{
    int result = 0;

    if (pairs->is_plain)
        return no_pair(pairs->before, pairs->directed, clauses);
    if (pairs->is_always_equal)
        return 0;
    for (size_t i = 0; i < pairs->directed && result == 0; i++)
        result = some_pair(pairs, negated_pair(pairs->before[i]), pairs->after,
                           pairs->directed, pairs->equal, pairs->undirected, clauses);
    return result;
}

/* Adds the pairs in the order of the thesis, the last of the right side first: for (A
 * --> B) || (C --> D) the first test is whether a precedes d, and all relations between
 * two events are tested before those of the next pair.  This reproduces the thesis'
 * counts for cases 8 and 9. */
static int concurrent_pair(struct pairs *pairs, struct esi_clauses *clauses)
{
    int result = 0;

    if (pairs->is_always_equal)
        return no_clause(clauses);
    for (size_t i = 0; i < pairs->directed && result == 0; i++) {
        size_t pair = i + pairs->right - 1 - 2 * (i % pairs->right);

        result = no_pair(&pairs->before[pair], 1, clauses);
        if (result == 0)
            result = no_pair(&pairs->after[pair], 1, clauses);
        if (result == 0)
            result = no_pair(&pairs->equal[pair], 1, clauses);
    }
    return result;
}

static int not_concurrent(struct pairs *pairs, struct esi_clauses *clauses)
{
    size_t length = 0;

    if (pairs->is_always_equal)
        return 0;
    for (size_t i = 0; i < pairs->directed; i++) {
        pairs->clause[length++] = pairs->before[i];
        pairs->clause[length++] = pairs->after[i];
    }
    for (size_t i = 0; i < pairs->undirected; i++)
        pairs->clause[length++] = pairs->equal[i];
    return esi_clauses_add(clauses, pairs->clause, length);
}

static int entangled_pair(struct pairs *pairs, struct esi_clauses *clauses)
{
    int result;

    if (pairs->is_always_equal)
        return 0;
    if (pairs->is_plain)
        return esi_clauses_add(clauses, pairs->equal, pairs->undirected);
    result = some_pair(pairs, 0, pairs->before, pairs->directed, pairs->equal,
                       pairs->undirected, clauses);
    if (result == 0)
        result = some_pair(pairs, 0, pairs->after, pairs->directed, pairs->equal,
                           pairs->undirected, clauses);
    return result;
}

/* No equal, and not both a before and an after. */
static int not_entangled(const struct esi_program *program,
                         struct pairs *pairs,
                         struct esi_clauses *clauses)
{
    int result = no_equal(pairs, clauses);

    if (pairs->is_plain)
        return result;
    for (size_t i = 0; i < pairs->directed; i++)
        for (size_t k = 0; k < pairs->directed && result == 0; k++) {
            uint64_t codes[2] = {negated_pair(pairs->before[i]),
                                 negated_pair(pairs->after[k])};
            struct esi_literal literal = esi_literal_of(codes[0]);

            /* For single events one of these is always true. */
            if (i == k && esi_program_is_single(program, literal.x) &&
                esi_program_is_single(program, literal.y))
                continue;
            result = esi_clauses_add(clauses, codes, 2);
        }
    return result;
}

static int write_relation(const struct esi_program *program,
                          const struct esi_atom *atom,
                          struct pairs *pairs,
                          struct esi_clauses *clauses)
{
    switch (atom->op) {
    case ES_OPERATOR_BEFORE:
        return atom->is_negated ? not_before(pairs, clauses)
                                : before_pair(pairs, clauses);
    case ES_OPERATOR_CONCURRENT:
        return atom->is_negated ? not_concurrent(pairs, clauses)
                                : concurrent_pair(pairs, clauses);
    case ES_OPERATOR_ENTANGLED:
        return atom->is_negated ? not_entangled(program, pairs, clauses)
                                : entangled_pair(pairs, clauses);
    case ES_OPERATOR_RECEIVED:
        return atom->is_negated ? no_pair(pairs->before, pairs->directed, clauses)
                                : some_pair(pairs, 0, pairs->before, pairs->directed,
                                            NULL, 0, clauses);
    }
    return -EINVAL;
}

static int add_relation(const struct esi_program *program,
                        const struct esi_atom *atom,
                        struct esi_clauses *clauses)
{
    struct pairs *pairs = calloc(1, sizeof *pairs);
    int result;

    if (!pairs)
        return -ENOMEM;
    fill_pairs(program, atom,
               atom->op == ES_OPERATOR_RECEIVED ? ES_LITERAL_RECEIVED
                                                : ES_LITERAL_BEFORE,
               pairs);
    result = write_relation(program, atom, pairs, clauses);
    free(pairs);
    return result;
}

/* --- Other atoms ------------------------------------------------------------------ */

/* For each two variables; a variable is paired with itself if it has several events or
 * is the only one, because an event without a time is not within any time. */
static int add_near(const struct esi_program *program,
                    const struct esi_atom *atom,
                    uint32_t number,
                    uint64_t empty,
                    struct esi_clauses *clauses)
{
    uint64_t variables = atom->left & ~empty;
    bool is_alone = __builtin_popcountll(variables) == 1;
    int result = 0;

    for (uint64_t left = variables; left;) {
        uint64_t right = left;
        unsigned x = next_variable(&left);

        if (esi_program_is_single(program, x) && !is_alone)
            right = left;
        while (right && result == 0) {
            unsigned y = next_variable(&right);
            uint64_t code = code_of(ES_LITERAL_NEAR, x, y, number);

            result = esi_clauses_add(clauses, &code, 1);
        }
    }
    return result;
}

static int add_literal(enum esi_literal_kind kind,
                       uint64_t left,
                       uint64_t right,
                       uint32_t atom,
                       struct esi_clauses *clauses)
{
    unsigned x = (unsigned)__builtin_ctzll(left ? left : right | UINT64_C(1) << 63);
    unsigned y = right ? (unsigned)__builtin_ctzll(right) : x;
    uint64_t code = code_of(kind, left || right ? x : 0, left || right ? y : 0, atom);

    return esi_clauses_add(clauses, &code, 1);
}

int esi_cnf_atom(const struct esi_program *program,
                 uint32_t number,
                 uint64_t empty,
                 struct esi_clauses *clauses)
{
    const struct esi_atom *atom = &program->atoms[number];

    if (atom->kind == ES_ATOM_WITHIN)
        return add_near(program, atom, number, empty, clauses);
    if ((atom->left | atom->right) & empty)
        return 0;
    if (atom->kind == ES_ATOM_RELATION)
        return add_relation(program, atom, clauses);
    return add_literal(
        atom->kind == ES_ATOM_COUNT ? ES_LITERAL_COUNT : ES_LITERAL_COMPARE, atom->left,
        atom->kind == ES_ATOM_COUNT ? 0 : atom->right, number, clauses);
}
