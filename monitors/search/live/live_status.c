/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * live_status.c - what is decided of an assignment, whatever comes.
 *
 * An event that arrived does not change its relations to others that arrived.  One yet
 * to come is after or concurrent with all of them, unless it joins its class late: the
 * events of classes with a partner, and those of matches, may be old.
 */
#include "config.h"

#include "monitors/search/live/live_private.h"

#include "monitors/search/truth/cnf_clauses.h"

/* --- Literals --------------------------------------------------------------------- */

void esi_live_bind(struct esi_live_part *part,
                   uint32_t variable,
                   struct esi_domain_value value)
{
    esi_formula_check_bind(&part->check, variable, value);
}

/* --- Parts of the condition ------------------------------------------------------- */

/* What counts, or was not written out, may be open before the end. */
static enum esi_live_status told_status(struct esi_live_part *part,
                                        enum esi_formula_truth truth)
{
    if (part->check.failure) {
        part->failure = part->check.failure;
        return ESI_LIVE_OPEN;
    }
    if (truth == ES_FORMULA_OPEN)
        return ESI_LIVE_OPEN;
    return truth == ES_FORMULA_HOLDS ? ESI_LIVE_HOLDS : ESI_LIVE_FAILS;
}

static enum esi_live_status literal_status(struct esi_live_part *part,
                                           const struct esi_literal *literal,
                                           bool is_end)
{
    part->check.may_grow = !is_end;
    part->check.bound = literal->variables;
    return told_status(part, esi_literal_truth(&part->check, literal));
}

/* --- Universal variables ---------------------------------------------------------- */

/* Indexes on a trace. */
struct stretch {
    uint32_t from;
    uint32_t to;
};

/* The least successor on a trace of any event of a value; UINT32_MAX: none so far. */
static uint32_t least_successor(struct esi_live_part *part,
                                const struct esi_formula_binding *binding,
                                uint32_t trace)
{
    struct esi_precedence *precedence = &part->live->precedence;
    uint32_t least = UINT32_MAX;

    for (size_t i = 0; i < binding->count; i++) {
        int64_t index =
            es_order_least_successor(precedence->order, binding->events[i], trace);
        precedence->comparisons++;
        precedence->unknown += index < 0;
        if (index > 0 && index < least)
            least = (uint32_t)index;
    }
    return least;
}

static uint32_t greatest_predecessor(struct esi_live_part *part,
                                     const struct esi_formula_binding *binding,
                                     uint32_t trace)
{
    uint32_t greatest = 0;

    for (size_t i = 0; i < binding->count; i++) {
        uint32_t index =
            esi_precedence_greatest(&part->live->precedence, binding->events[i], trace);
        if (index > greatest)
            greatest = index;
    }
    return greatest;
}

/* Only the same event makes `!=` fail. */
static bool limit_to_event(const struct esi_literal *literal,
                           const struct esi_formula_binding *binding,
                           uint32_t trace,
                           struct stretch *stretch)
{
    if (!literal->is_negated || binding->count != 1)
        return false;
    if (binding->events[0].trace != trace) {
        *stretch = (struct stretch){1, 0};
        return true;
    }
    if (binding->events[0].index > stretch->from)
        stretch->from = binding->events[0].index;
    if (binding->events[0].index < stretch->to)
        stretch->to = binding->events[0].index;
    return true;
}

/* Limits where on a trace the values of `variable` are for which a literal fails; the
 * other variable is bound.  False: that cannot be said by a stretch. */
static bool limit_stretch(struct esi_live_part *part,
                          const struct esi_literal *literal,
                          uint32_t variable,
                          uint64_t unbound,
                          uint32_t trace,
                          struct stretch *stretch)
{
    bool is_x = literal->x == variable;
    uint32_t other = is_x ? literal->y : literal->x;
    uint32_t at;

    if ((!is_x && literal->y != variable) || other == variable ||
        (unbound & esi_program_bit(other)))
        return false;
    if (literal->kind == ES_LITERAL_EQUAL)
        return limit_to_event(literal, &part->check.bindings[other], trace, stretch);
    if (literal->kind != ES_LITERAL_BEFORE)
        return false;
    if (is_x) {
        at = greatest_predecessor(part, &part->check.bindings[other], trace);
        if (literal->is_negated && at < stretch->to)
            stretch->to = at;
        if (!literal->is_negated && at + 1 > stretch->from)
            stretch->from = at + 1;
    } else {
        at = least_successor(part, &part->check.bindings[other], trace);
        if (literal->is_negated && at > stretch->from)
            stretch->from = at;
        if (!literal->is_negated && at - 1 < stretch->to)
            stretch->to = at - 1;
    }
    return true;
}

/* Rows of a column whose indexes are in a stretch: [from, to). */
static struct stretch rows_of(struct esi_domain_column column, struct stretch stretch)
{
    uint32_t from = esi_column_position(&column, stretch.from);
    uint32_t to = stretch.to == UINT32_MAX
                      ? column.count
                      : esi_column_position(&column, stretch.to + 1);

    return (struct stretch){from, to};
}

static enum esi_live_status clause_values(struct esi_live_part *part,
                                          const struct esi_clause *clause,
                                          uint64_t unbound,
                                          bool is_end);

/* With values of one universal variable more on the rows of one slot. */
static enum esi_live_status try_rows(struct esi_live_part *part,
                                     const struct esi_clause *clause,
                                     uint32_t variable,
                                     uint32_t slot,
                                     uint64_t unbound,
                                     bool is_end)
{
    const struct esi_domain *domain = part->domains[variable];
    struct esi_domain_column column = esi_domain_column(domain, slot);
    struct stretch rows = {0, column.count};
    enum esi_live_status status = ESI_LIVE_HOLDS;
    size_t limiting = 0;

    if (esi_domain_is_single(domain)) {
        struct stretch stretch = {0, UINT32_MAX};
        for (size_t i = 0; i < clause->count; i++)
            limiting += limit_stretch(part, &clause->literals[i], variable, unbound,
                                      column.trace, &stretch);
        rows = stretch.from <= stretch.to ? rows_of(column, stretch)
                                          : (struct stretch){0, 0};
        /* All that the clause says fails there. */
        if (limiting == clause->count && rows.from < rows.to)
            return ESI_LIVE_FAILS;
    }
    for (uint32_t row = rows.from; row < rows.to; row++) {
        enum esi_live_status one;
        esi_live_bind(part, variable, (struct esi_domain_value){slot, row});
        one = clause_values(part, clause, unbound & ~esi_program_bit(variable), is_end);
        if (one == ESI_LIVE_FAILS)
            return one;
        if (one == ESI_LIVE_OPEN)
            status = one;
    }
    return status;
}

/* Of a clause for all values that are there of its universal variables that are not
 * bound. */
static enum esi_live_status clause_values(struct esi_live_part *part,
                                          const struct esi_clause *clause,
                                          uint64_t unbound,
                                          bool is_end)
{
    enum esi_live_status status = ESI_LIVE_FAILS;
    uint32_t variable;

    if ((clause->universal & unbound) == 0) {
        for (size_t i = 0; i < clause->count && status != ESI_LIVE_HOLDS; i++) {
            enum esi_live_status one =
                literal_status(part, &clause->literals[i], is_end);
            if (one != ESI_LIVE_FAILS)
                status = one;
        }
        return status;
    }
    variable = (uint32_t)__builtin_ctzll(clause->universal & unbound);
    status = ESI_LIVE_HOLDS;
    for (uint32_t slot = 0; slot < esi_domain_slots(part->domains[variable]); slot++) {
        enum esi_live_status one =
            try_rows(part, clause, variable, slot, unbound, is_end);
        if (one == ESI_LIVE_FAILS)
            return one;
        if (one == ESI_LIVE_OPEN)
            status = one;
    }
    return status;
}

/* Whether a literal about existential variables alone holds for good. */
static bool holds_anyway(struct esi_live_part *part,
                         const struct esi_clause *clause,
                         bool is_end)
{
    for (size_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];
        if ((literal->variables & part->universal) == 0 &&
            literal_status(part, literal, is_end) == ESI_LIVE_HOLDS)
            return true;
    }
    return false;
}

static enum esi_live_status timed_status(struct esi_live_part *part,
                                         const struct esi_timed_clause *timed,
                                         bool is_end)
{
    enum esi_live_status status;

    if (timed->clause->universal && holds_anyway(part, timed->clause, is_end))
        return ESI_LIVE_HOLDS;
    status = clause_values(part, timed->clause, timed->clause->universal, is_end);
    if (status != ESI_LIVE_HOLDS || is_end || timed->clause->universal == 0)
        return status;
    return timed->is_safe ? ESI_LIVE_HOLDS : ESI_LIVE_OPEN;
}

/* Of a condition; `was_found`: what is certain of the weak one is known to hold. */
static enum esi_live_status form_status(struct esi_live_part *part,
                                        const struct esi_live_form *form,
                                        bool was_found,
                                        bool is_end)
{
    size_t certain_count = was_found ? form->more_count : form->certain_count;
    enum esi_live_status status = ESI_LIVE_HOLDS;

    for (size_t i = 0; i < certain_count; i++)
        if (clause_values(part, &form->certain[i], 0, is_end) != ESI_LIVE_HOLDS)
            return ESI_LIVE_FAILS;
    for (size_t i = 0; i < form->timed_count; i++) {
        enum esi_live_status one;
        if (was_found && form->timed[i].is_searched)
            continue;
        one = timed_status(part, &form->timed[i], is_end);
        if (one == ESI_LIVE_FAILS)
            return one;
        if (one == ESI_LIVE_OPEN)
            status = one;
    }
    return status;
}

/* The condition with what is empty now. */
static const struct esi_live_form *form_now(struct esi_live_part *part,
                                            struct esi_live_support *support,
                                            uint64_t empty)
{
    struct esi_live_form form;
    int result;

    if (empty == support->weak.empty)
        return &support->weak;
    if (support->now.cnf && support->now.empty == empty)
        return &support->now;
    result = esi_live_form_create(part, support, empty, &form, NULL);
    if (result < 0) {
        part->failure = result;
        return NULL;
    }
    esi_live_form_fini(&support->now);
    support->now = form;
    return &support->now;
}

enum esi_live_status esi_live_support_status(struct esi_live_part *part,
                                             struct esi_live_support *support,
                                             bool was_found,
                                             bool is_end)
{
    uint64_t empty = part->empty & support->weak.empty;
    const struct esi_live_form *now;
    enum esi_live_status status;

    if (empty == 0)
        return form_status(part, &support->strong, was_found, is_end);
    now = form_now(part, support, empty);
    if (!now)
        return ESI_LIVE_OPEN;
    /* What fails now fails with more values, too. */
    status = form_status(part, now, was_found, is_end);
    if (status == ESI_LIVE_FAILS || is_end)
        return status;
    return form_status(part, &support->strong, was_found, false) == ESI_LIVE_HOLDS
               ? ESI_LIVE_HOLDS
               : ESI_LIVE_OPEN;
}

/* --- A value that joined ---------------------------------------------------------- */

static bool atom_counts_it(const struct esi_atom *atom, const struct esi_joined *joined)
{
    return atom->kind == ES_ATOM_COUNT &&
           esi_joined_is_of(joined, atom->counted, atom->counted_predicate);
}

static bool formula_counts_it(const struct esi_live_part *part,
                              const struct esi_formula *formula,
                              const struct esi_joined *joined)
{
    if (formula->kind == ES_FORMULA_ATOM)
        return atom_counts_it(&part->program->atoms[formula->atom], joined);
    for (size_t i = 0; i < formula->part_count; i++)
        if (formula_counts_it(part, formula->parts[i], joined))
            return true;
    return false;
}

/* Whether the clause counts values of the class or predicate. */
static bool counts_it(const struct esi_live_part *part,
                      const struct esi_clause *clause,
                      const struct esi_joined *joined)
{
    for (size_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (literal->kind == ES_LITERAL_FORMULA
                ? formula_counts_it(part, literal->formula, joined)
                : literal->kind == ES_LITERAL_COUNT &&
                      atom_counts_it(&part->program->atoms[literal->atom], joined))
            return true;
    }
    return false;
}

static bool fails_with(struct esi_live_part *part,
                       const struct esi_timed_clause *timed,
                       const struct esi_joined *joined)
{
    const struct esi_clause *clause = timed->clause;

    for (uint64_t left = clause->universal; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        const struct esi_program_variable *variable = &part->program->variables[v];
        struct esi_domain_value value;

        if (!esi_joined_is_of(joined, variable->class_number, variable->predicate) ||
            !esi_joined_find(part->domains[v], joined, &value))
            continue;
        esi_live_bind(part, v, value);
        if (clause_values(part, clause, clause->universal & ~esi_program_bit(v),
                          false) == ESI_LIVE_FAILS)
            return true;
    }
    return false;
}

enum esi_live_status esi_live_support_update(struct esi_live_part *part,
                                             struct esi_live_support *support,
                                             const struct esi_joined *joined,
                                             bool is_counted)
{
    const struct esi_live_form *form = &support->strong;
    bool is_asked = part->has_changed;

    for (size_t i = 0; i < form->timed_count && !is_asked; i++)
        is_asked = (is_counted && form->timed[i].counts &&
                    counts_it(part, form->timed[i].clause, joined)) ||
                   fails_with(part, &form->timed[i], joined);
    return is_asked ? esi_live_support_status(part, support, true, false)
                    : ESI_LIVE_OPEN;
}
