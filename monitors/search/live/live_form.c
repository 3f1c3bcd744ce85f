/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_form.c - the condition of a support, what of it is certain once events are
 * there, and what changes with events that come. */
#include "config.h"

#include "monitors/search/live/live_private.h"

#include <errno.h>
#include <stdlib.h>

/* A literal that holds whenever the value of `variable` is yet to come, and that of the
 * other, which is existential, is there. */
static bool is_safe_for(const struct esi_live_part *part,
                        const struct esi_literal *literal,
                        uint32_t variable)
{
    bool is_x = literal->x == variable;
    uint32_t other = is_x ? literal->y : literal->x;

    if (!literal->is_negated || (!is_x && literal->y != variable) ||
        (part->universal & esi_program_bit(other)))
        return false;
    if (literal->kind == ES_LITERAL_EQUAL)
        return true;
    return is_x &&
           (literal->kind == ES_LITERAL_BEFORE || literal->kind == ES_LITERAL_RECEIVED);
}

static bool is_safe(const struct esi_live_part *part, const struct esi_clause *clause)
{
    for (uint64_t left = clause->universal; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        bool is_safe = false;

        for (size_t i = 0; i < clause->count; i++)
            is_safe |= esi_program_is_prompt(part->program, v) &&
                       is_safe_for(part, &clause->literals[i], v);
        if (!is_safe)
            return false;
    }
    return true;
}

static bool counts_events(const struct esi_live_part *part,
                          const struct esi_clause *clause)
{
    for (size_t i = 0; i < clause->count; i++)
        if (clause->literals[i].kind == ES_LITERAL_COUNT ||
            (clause->literals[i].kind == ES_LITERAL_FORMULA &&
             esi_formula_counts(part->program, clause->literals[i].formula)))
            return true;
    return false;
}

/* Variables whose rows are asked when a timed clause is decided. */
static void note_rows(struct esi_live_part *part, const struct esi_clause *clause)
{
    for (size_t i = 0; i < clause->count; i++)
        switch (clause->literals[i].kind) {
        case ES_LITERAL_RECEIVED:
        case ES_LITERAL_NEAR:
        case ES_LITERAL_COMPARE:
        case ES_LITERAL_FORMULA:
            part->needs_rows |= clause->existential;
            break;
        case ES_LITERAL_COUNT:
            if (part->program->atoms[clause->literals[i].atom].op ==
                ES_OPERATOR_RECEIVED)
                part->needs_rows |= clause->existential;
            break;
        case ES_LITERAL_BEFORE:
        case ES_LITERAL_EQUAL:
        case ES_LITERAL_RELATION:
            break;
        }
}

static int split_condition(struct esi_live_part *part, struct esi_live_form *form)
{
    const struct esi_cnf *cnf = form->cnf;

    form->certain = calloc(cnf->count + 1, sizeof *form->certain);
    form->timed = calloc(cnf->count + 1, sizeof *form->timed);
    if (!form->certain || !form->timed)
        return -ENOMEM;
    for (size_t i = 0; i < cnf->count; i++) {
        const struct esi_clause *clause = &cnf->clauses[i];
        if (clause->universal == 0 && !counts_events(part, clause)) {
            form->certain[form->certain_count++] = *clause;
            continue;
        }
        form->timed[form->timed_count++] = (struct esi_timed_clause){
            clause, counts_events(part, clause), is_safe(part, clause), false};
        note_rows(part, clause);
    }
    return 0;
}

/* --- From the weak to the strong condition ---------------------------------------- */

static bool is_same(const struct esi_clause *a, const struct esi_clause *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct esi_literal *x = &a->literals[i], *y = &b->literals[i];
        if (x->kind == ES_LITERAL_FORMULA && y->kind == ES_LITERAL_FORMULA &&
            x->formula == y->formula && x->variables == y->variables)
            continue;
        if (x->kind == ES_LITERAL_FORMULA || x->kind != y->kind ||
            x->is_negated != y->is_negated || x->x != y->x || x->y != y->y ||
            x->atom != y->atom)
            return false;
    }
    return true;
}

static bool has_clause(const struct esi_live_form *form,
                       const struct esi_clause *clause)
{
    for (size_t i = 0; i < form->certain_count; i++)
        if (is_same(&form->certain[i], clause))
            return true;
    return false;
}

/* Puts those first that the weak condition does not have. */
static void compare_literals(struct esi_live_part *part,
                             const struct esi_live_form *weak,
                             struct esi_live_form *form)
{
    for (size_t i = 0; weak->cnf && i < form->certain_count; i++) {
        struct esi_clause clause = form->certain[i];
        if (has_clause(weak, &clause))
            continue;
        note_rows(part, &clause);
        form->certain[i] = form->certain[form->more_count];
        form->certain[form->more_count++] = clause;
    }
}

int esi_live_form_create(struct esi_live_part *part,
                         const struct esi_live_support *support,
                         uint64_t empty,
                         struct esi_live_form *ret_form,
                         struct es_error *error)
{
    uint32_t number = (uint32_t)(support - part->supports);
    struct esi_live_form form = {.empty = empty};
    int result = esi_cnf_create(part->program, number, empty, &form.cnf, error);

    if (result == 0)
        result = split_condition(part, &form);
    if (result < 0) {
        esi_live_form_fini(&form);
        return result;
    }
    compare_literals(part, &support->weak, &form);
    *ret_form = form;
    return 0;
}

void esi_live_form_fini(struct esi_live_form *form)
{
    esi_cnf_destroy(form->cnf);
    free(form->certain);
    free(form->timed);
    *form = (struct esi_live_form){.cnf = NULL};
}
