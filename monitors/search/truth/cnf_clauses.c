/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cnf_clauses.c - growing conjunctions of clauses, and their distribution. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/truth/cnf_clauses.h"

/* --- Literals as numbers ---------------------------------------------------------- */

uint64_t esi_literal_code(const struct esi_literal *literal)
{
    uint8_t x = literal->x;
    uint8_t y = literal->y;

    if ((literal->kind == ES_LITERAL_EQUAL || literal->kind == ES_LITERAL_NEAR) &&
        x > y) {
        x = literal->y;
        y = literal->x;
    }
    return (uint64_t)literal->atom << 24 | (uint64_t)literal->kind << 20 |
           (uint64_t)literal->is_negated << 16 | (uint64_t)x << 8 | y;
}

struct esi_literal esi_literal_of(uint64_t code)
{
    return (struct esi_literal){
        .kind = (enum esi_literal_kind)(code >> 20 & 15),
        .is_negated = code >> 16 & 1,
        .x = (uint8_t)(code >> 8 & 255),
        .y = (uint8_t)(code & 255),
        .atom = (uint32_t)(code >> 24),
    };
}

static uint64_t signature_of(uint64_t code)
{
    return UINT64_C(1) << ((code * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
}

/* --- Clauses ---------------------------------------------------------------------- */

void esi_clauses_free(struct esi_clauses *clauses)
{
    free(clauses->items);
    free(clauses->codes);
    *clauses = (struct esi_clauses){.items = NULL};
}

static int reserve_clauses(struct esi_clauses *clauses, size_t more_codes)
{
    int result =
        ESI_ARRAY_RESERVE(clauses->items, clauses->capacity, clauses->count + 1);

    return result < 0 ? result
                      : ESI_ARRAY_RESERVE(clauses->codes, clauses->code_capacity,
                                          clauses->code_count + more_codes);
}

static bool has_code(const struct esi_clauses *clauses,
                     const struct esi_draft_clause *clause,
                     uint64_t code)
{
    if (!(clause->signature & signature_of(code)))
        return false;
    for (size_t i = 0; i < clause->count; i++)
        if (clauses->codes[clause->start + i] == code)
            return true;
    return false;
}

/* The false clause has no codes, and `codes` may be NULL. */
static const uint64_t *codes_of(const struct esi_clauses *clauses,
                                const struct esi_draft_clause *clause)
{
    return clause->count > 0 ? clauses->codes + clause->start : NULL;
}

static void append_codes(struct esi_clauses *clauses,
                         struct esi_draft_clause *clause,
                         const uint64_t *codes,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_code(clauses, clause, codes[i])) {
            clauses->codes[clause->start + clause->count++] = codes[i];
            clause->signature |= signature_of(codes[i]);
        }
}

static int keep_clause(struct esi_clauses *clauses,
                       const struct esi_draft_clause *clause)
{
    clauses->items[clauses->count++] = *clause;
    clauses->code_count += clause->count;
    clauses->literals += clause->count;
    return clauses->literals <= clauses->limit && clauses->count <= clauses->limit &&
                   clauses->code_count <= 8 * clauses->limit
               ? 0
               : -EOVERFLOW;
}

int esi_clauses_add(struct esi_clauses *clauses, const uint64_t *codes, size_t count)
{
    struct esi_draft_clause clause = {.start = clauses->code_count};
    int result = reserve_clauses(clauses, count);

    if (result)
        return result;
    append_codes(clauses, &clause, codes, count);
    return keep_clause(clauses, &clause);
}

int esi_clauses_add_all(struct esi_clauses *clauses, const struct esi_clauses *more)
{
    int result = 0;

    for (size_t i = 0; i < more->count && result == 0; i++)
        result = esi_clauses_add(clauses, codes_of(more, &more->items[i]),
                                 more->items[i].count);
    return result;
}

/* --- Distribution ----------------------------------------------------------------- */

static bool is_subset(const struct esi_clauses *clauses,
                      const struct esi_draft_clause *part,
                      const struct esi_draft_clause *whole)
{
    if (part->count > whole->count || (part->signature & ~whole->signature))
        return false;
    for (size_t i = 0; i < part->count; i++)
        if (!has_code(clauses, whole, clauses->codes[part->start + i]))
            return false;
    return true;
}

/* Adds a clause unless an existing one is a subset of it; removes existing ones of
 * which it is a subset. */
static int absorb_clause(struct esi_clauses *clauses,
                         const struct esi_draft_clause *clause,
                         uint64_t *steps)
{
    size_t kept = 0;

    *steps += 2 * clauses->count + 1;
    if (*steps > ESI_CNF_STEPS)
        return -EOVERFLOW;
    for (size_t i = 0; i < clauses->count; i++)
        if (is_subset(clauses, &clauses->items[i], clause))
            return 0;
    for (size_t i = 0; i < clauses->count; i++) {
        if (is_subset(clauses, clause, &clauses->items[i]))
            clauses->literals -= clauses->items[i].count;
        else
            clauses->items[kept++] = clauses->items[i];
    }
    clauses->count = kept;
    return keep_clause(clauses, clause);
}

static int add_pair(struct esi_clauses *clauses,
                    const struct esi_clauses *a,
                    const struct esi_draft_clause *left,
                    const struct esi_clauses *b,
                    const struct esi_draft_clause *right,
                    uint64_t *steps)
{
    struct esi_draft_clause clause = {.start = clauses->code_count};
    int result = reserve_clauses(clauses, left->count + right->count);

    if (result)
        return result;
    append_codes(clauses, &clause, codes_of(a, left), left->count);
    append_codes(clauses, &clause, codes_of(b, right), right->count);
    *steps += clause.count;
    return absorb_clause(clauses, &clause, steps);
}

int esi_clauses_distribute(const struct esi_clauses *a,
                           const struct esi_clauses *b,
                           size_t limit,
                           uint64_t *steps,
                           struct esi_clauses *ret_clauses)
{
    struct esi_clauses clauses = {.limit = limit};
    int result = 0;

    for (size_t i = 0; i < a->count && result == 0; i++)
        for (size_t k = 0; k < b->count && result == 0; k++)
            result = add_pair(&clauses, a, &a->items[i], b, &b->items[k], steps);
    if (result == 0)
        *ret_clauses = clauses;
    else
        esi_clauses_free(&clauses);
    return result;
}
