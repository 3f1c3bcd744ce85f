/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_implied.c - relations implied by other relations, for example
 *
 *   s => r, s2 => r2, s --> s2, r2 --> r     s2 and r2 are after s and before r
 *
 * Masks are narrowed through each third variable until nothing changes (path
 * consistency).  A narrowed mask restricts a variable like one in the pattern, unless a
 * bound variable already implies it; then it would be tested twice.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_implied.h"

#include <string.h>

enum {
    MOST_VARIABLES = 24, /* beyond this limit, finding them takes longer than it may
                            save */
};

/* --- Composition of masks --------------------------------------------------------- */

/* The possible relations of v to x if v is `first` to w and w is `second` to x. */
static uint8_t compose_masks(uint8_t first, uint8_t second)
{
    uint8_t result = 0;

    if (first & ESI_IS_SAME)
        result |= second;
    if (second & ESI_IS_SAME)
        result |= first;
    first &= (uint8_t)~ESI_IS_SAME;
    second &= (uint8_t)~ESI_IS_SAME;
    if (!first || !second)
        return result;
    if ((first | second) == ESI_IS_BEFORE || (first | second) == ESI_IS_AFTER)
        return result | first;
    /* If both are in the same direction, or one is concurrent, the opposite direction
     * is excluded. */
    if (!((first | second) & ESI_IS_AFTER) && !(first & second & ESI_IS_CONCURRENT))
        return result | ESI_IS_BEFORE | ESI_IS_CONCURRENT;
    if (!((first | second) & ESI_IS_BEFORE) && !(first & second & ESI_IS_CONCURRENT))
        return result | ESI_IS_AFTER | ESI_IS_CONCURRENT;
    return ESI_IS_ANY;
}

static bool narrow_mask(struct esi_indexed_plan *plan,
                        unsigned v,
                        unsigned x,
                        uint8_t by)
{
    uint8_t mask = plan->known[v][x] & by;

    if (mask == plan->known[v][x])
        return false;
    plan->known[v][x] = mask;
    plan->known[x][v] = esi_mask_turned(mask);
    return true;
}

/* --- Relations in the pattern ----------------------------------------------------- */

/* A send is before its receive; halves of a sync are concurrent. */
static void note_received(struct esi_indexed_plan *plan)
{
    for (uint32_t i = 0; i < plan->clause_count; i++) {
        const struct esi_literal *literal = plan->clauses[i].literals;

        if (plan->clauses[i].count == 1 && literal->kind == ES_LITERAL_RECEIVED &&
            !literal->is_negated && literal->x != literal->y &&
            !(literal->variables & ~(plan->existential & plan->single)))
            narrow_mask(plan, literal->x, literal->y,
                        esi_domain_has_syncs(plan->domains[literal->y])
                            ? ESI_IS_BEFORE | ESI_IS_CONCURRENT
                            : ESI_IS_BEFORE);
    }
}

static uint64_t related_variables(const struct esi_indexed_plan *plan)
{
    uint64_t related = 0;

    for (unsigned v = 0; v < plan->variable_count; v++)
        for (unsigned x = 0; x < plan->variable_count; x++)
            if (plan->known[v][x] != ESI_IS_ANY)
                related |= esi_program_bit(v);
    return related;
}

/* --- Implied relations ------------------------------------------------------------ */

static bool narrow_all(struct esi_indexed_plan *plan, uint64_t related, unsigned w)
{
    bool is_changed = false;

    for (uint64_t left = related & ~esi_program_bit(w); left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        for (uint64_t rest = left & (left - 1); rest; rest &= rest - 1) {
            unsigned x = (unsigned)__builtin_ctzll(rest);

            is_changed |= narrow_mask(
                plan, v, x, compose_masks(plan->known[v][w], plan->known[w][x]));
        }
    }
    return is_changed;
}

/* Only "before" and "after" exclude enough to be worth their cost. */
static bool is_order(uint8_t mask)
{
    return mask == ESI_IS_BEFORE || mask == ESI_IS_AFTER;
}

void esi_implied_find(struct esi_indexed_plan *plan)
{
    uint8_t written[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES];
    uint64_t related;
    bool is_changed = true;

    memcpy(plan->known, plan->masks, sizeof plan->known);
    if (plan->is_growing || plan->is_false)
        return;
    note_received(plan);
    memcpy(written, plan->known, sizeof written);
    related = related_variables(plan);
    while (is_changed && __builtin_popcountll(related) <= MOST_VARIABLES) {
        is_changed = false;
        for (uint64_t left = related; left; left &= left - 1)
            is_changed |= narrow_all(plan, related, (unsigned)__builtin_ctzll(left));
    }
    for (unsigned v = 0; v < plan->variable_count; v++)
        for (unsigned x = 0; x < plan->variable_count; x++) {
            plan->is_false |= plan->known[v][x] == 0;
            if (plan->known[v][x] != written[v][x] && is_order(plan->known[v][x]))
                plan->implied[v] |= esi_program_bit(x);
        }
}

/* --- During the search ------------------------------------------------------------ */

/* Whether another bound variable already implies the relation of v to x. */
static bool is_said(const struct esi_bound *bound, unsigned v, unsigned x)
{
    const struct esi_indexed_plan *plan = bound->plan;

    for (uint64_t left = bound->check.bound & plan->existential; left;
         left &= left - 1) {
        unsigned w = (unsigned)__builtin_ctzll(left);

        if (w != x &&
            compose_masks(plan->known[v][w], plan->known[w][x]) == plan->known[v][x])
            return true;
    }
    return false;
}

uint64_t esi_implied_of(const struct esi_bound *bound, unsigned v, uint64_t applied)
{
    uint64_t result = 0;

    for (uint64_t left = bound->plan->implied[v] & bound->check.bound & ~applied; left;
         left &= left - 1) {
        unsigned x = (unsigned)__builtin_ctzll(left);

        if (!is_said(bound, v, x))
            result |= esi_program_bit(x);
    }
    return result;
}

bool esi_implied_is_empty(struct esi_bound *bound, unsigned v, uint64_t applied)
{
    const struct esi_indexed_plan *plan = bound->plan;
    uint64_t before = 0;
    uint64_t after = 0;

    for (uint64_t left = bound->check.bound & plan->existential; left;
         left &= left - 1) {
        unsigned x = (unsigned)__builtin_ctzll(left);

        before |= plan->known[v][x] == ESI_IS_BEFORE ? esi_program_bit(x) : 0;
        after |= plan->known[v][x] == ESI_IS_AFTER ? esi_program_bit(x) : 0;
    }
    for (uint64_t left = after; left; left &= left - 1)
        for (uint64_t rest = before; rest; rest &= rest - 1) {
            unsigned x = (unsigned)__builtin_ctzll(left);
            unsigned y = (unsigned)__builtin_ctzll(rest);

            if (!(applied >> x & applied >> y & 1) &&
                esi_bound_are_adjacent(bound, esi_bound_event(bound, x), y,
                                       bound->values[y]))
                return true;
        }
    return false;
}
