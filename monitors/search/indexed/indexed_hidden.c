/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_hidden.c - variables that are not returned, of which one witness is enough.
 *
 * One that has nothing to do with what is still unbound is looked for as soon as that
 * is so.  One that has few values left, when the next variable has many, is bound
 * before it: it may leave much fewer to that one, as b does in A --> ~b --> C.  What is
 * returned may then be found with several of its values, and is told once: for a value
 * of the first variable it is remembered what was told.  All others come last.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_searcher.h"

enum {
    EARLY_VALUES = 8, /* at most, as all that follows may be done for each of them */
    EARLY_GAIN = 8,   /* the next variable has at least so many times more */
};

/* --- Witnesses -------------------------------------------------------------------- */

static bool has_witness_in(struct esi_searcher *searcher,
                           unsigned v,
                           uint32_t slot,
                           const struct esi_spans *spans)
{
    for (uint32_t i = 0; i < spans->count; i++)
        for (uint32_t p = spans->items[i].begin; p < spans->items[i].end; p++) {
            bool passes;

            esi_searcher_bind(searcher, v, (struct es_domain_value){slot, p});
            passes = esi_searcher_passes(searcher, v);
            esi_searcher_unbind(searcher, v);
            if (passes)
                return true;
        }
    return false;
}

static bool has_witness(struct esi_searcher *searcher, unsigned v)
{
    struct esi_restriction restriction = esi_restriction_begin(searcher, v);
    struct esi_walk walk = esi_walk_begin(searcher, &restriction);
    struct esi_spans *spans =
        &searcher->spans[__builtin_popcountll(searcher->check.bound)];
    bool result = false;
    uint32_t slot;

    while (!result && esi_walk_next(&walk, &slot, spans)) {
        esi_restriction_apply(searcher, &restriction, slot, spans);
        result = has_witness_in(searcher, v, slot, spans);
    }
    esi_restriction_end(searcher, &restriction);
    return result;
}

bool esi_searcher_settle(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    uint64_t hidden = plan->existential & ~plan->returned & ~searcher->check.bound;

    for (hidden &= ~searcher->settled; hidden; hidden &= hidden - 1) {
        unsigned v = (unsigned)__builtin_ctzll(hidden);

        if (plan->neighbours[v] & ~searcher->check.bound)
            continue;
        if (!has_witness(searcher, v))
            return false;
        searcher->settled |= es_program_bit(v);
    }
    return true;
}

/* --- Before what is returned ------------------------------------------------------ */

int esi_hidden_before(struct esi_searcher *searcher, unsigned depth, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    uint64_t left = plan->existential & ~plan->returned & ~searcher->check.bound;
    uint64_t most = esi_known_total(searcher, v) / EARLY_GAIN;
    int best = ESI_NO_VARIABLE;

    if (plan->all_witnesses || most == 0)
        return ESI_NO_VARIABLE;
    if (most > EARLY_VALUES)
        most = EARLY_VALUES;
    for (left &= ~searcher->settled; left; left &= left - 1) {
        unsigned w = (unsigned)__builtin_ctzll(left);

        if (!(plan->neighbours[w] & searcher->check.bound) ||
            !esi_candidates_make(searcher, depth, w, most))
            continue;
        best = (int)w;
        most = esi_known_total(searcher, w);
        if (most == 0)
            break;
        most--;
    }
    return best;
}

bool esi_hidden_is_repeated(struct esi_searcher *searcher)
{
    uint32_t numbers[2 * ES_PROGRAM_VARIABLES];
    uint32_t length = 0;
    int is_new;

    if (searcher->early == 0)
        return false;
    for (uint64_t left = searcher->plan->returned; left; left &= left - 1) {
        struct es_domain_value value = searcher->values[__builtin_ctzll(left)];

        numbers[length++] = value.slot;
        numbers[length++] = value.position;
    }
    is_new = esi_tuple_set_add(&searcher->told, numbers, length);
    if (is_new < 0)
        searcher->error = is_new;
    return is_new <= 0;
}
