/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * condition.c - decides what is certain about an assignment, whatever events follow.
 *
 * The relations between events that have arrived never change.  A later event is after
 * or concurrent with all of them, unless it joins its class late: the events of classes
 * with a partner, and those of matches, may be old.
 */
#include "config.h"

#include "monitors/search/live/condition.h"

#include <errno.h>
#include <stdlib.h>

/* --- Timed clauses ---------------------------------------------------------------- */

/* Whether a literal holds if the value of `variable` arrives after the value of the
 * other variable, which is existential. */
static bool is_safe_for(const struct esi_live_assignment *assignment,
                        const struct esi_literal *literal,
                        uint32_t variable)
{
    bool is_x = literal->x == variable;
    uint32_t other = is_x ? literal->y : literal->x;

    if (!literal->is_negated || (!is_x && literal->y != variable) ||
        (assignment->universal & esi_program_bit(other)))
        return false;
    if (literal->kind == ES_LITERAL_EQUAL)
        return true;
    return is_x &&
           (literal->kind == ES_LITERAL_BEFORE || literal->kind == ES_LITERAL_RECEIVED);
}

static bool is_safe(const struct esi_live_assignment *assignment,
                    const struct esi_clause *clause)
{
    for (uint64_t left = clause->universal; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        bool is_safe = false;

        for (size_t i = 0; i < clause->count; i++)
            is_safe |= esi_program_is_prompt(assignment->check.program, v) &&
                       is_safe_for(assignment, &clause->literals[i], v);
        if (!is_safe)
            return false;
    }
    return true;
}

static bool formula_counts(const struct esi_formula_check *check,
                           const struct esi_formula *formula,
                           const struct esi_domain *domain)
{
    if (formula->kind == ES_FORMULA_ATOM)
        return check->counted[formula->atom] &&
               (!domain || check->counted[formula->atom] == domain);
    for (size_t i = 0; i < formula->part_count; i++)
        if (formula_counts(check, formula->parts[i], domain))
            return true;
    return false;
}

/* Whether a clause counts values of a domain; NULL: of any domain. */
static bool clause_counts(const struct esi_formula_check *check,
                          const struct esi_clause *clause,
                          const struct esi_domain *domain)
{
    for (size_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (literal->kind == ES_LITERAL_FORMULA
                ? formula_counts(check, literal->formula, domain)
                : literal->kind == ES_LITERAL_COUNT &&
                      (!domain || check->counted[literal->atom] == domain))
            return true;
    }
    return false;
}

/* Notes the variables whose rows are needed to decide a timed clause. */
static void note_rows(struct esi_live_assignment *assignment,
                      const struct esi_clause *clause)
{
    for (size_t i = 0; i < clause->count; i++)
        switch (clause->literals[i].kind) {
        case ES_LITERAL_RECEIVED:
        case ES_LITERAL_NEAR:
        case ES_LITERAL_COMPARE:
        case ES_LITERAL_FORMULA:
            assignment->needs_rows |= clause->existential;
            break;
        case ES_LITERAL_COUNT:
            if (assignment->check.program->atoms[clause->literals[i].atom].op ==
                ES_OPERATOR_RECEIVED)
                assignment->needs_rows |= clause->existential;
            break;
        case ES_LITERAL_BEFORE:
        case ES_LITERAL_EQUAL:
        case ES_LITERAL_RELATION:
            break;
        }
}

static int split_condition(struct esi_live_assignment *assignment,
                           struct esi_live_form *form)
{
    const struct esi_cnf *cnf = form->cnf;

    form->certain = calloc(cnf->count + 1, sizeof *form->certain);
    form->timed = calloc(cnf->count + 1, sizeof *form->timed);
    if (!form->certain || !form->timed)
        return -ENOMEM;
    for (size_t i = 0; i < cnf->count; i++) {
        const struct esi_clause *clause = &cnf->clauses[i];
        if (clause->universal == 0 &&
            !clause_counts(&assignment->check, clause, NULL)) {
            form->certain[form->certain_count++] = *clause;
            continue;
        }
        form->timed[form->timed_count++] = (struct esi_timed_clause){
            clause, clause_counts(&assignment->check, clause, NULL),
            is_safe(assignment, clause), false};
        note_rows(assignment, clause);
    }
    return 0;
}

/* --- From the weak to the strong condition ---------------------------------------- */

static bool is_same_literal(const struct esi_literal *x, const struct esi_literal *y)
{
    return x->kind == y->kind && x->formula == y->formula &&
           x->variables == y->variables &&
           (x->kind == ES_LITERAL_FORMULA ||
            (x->is_negated == y->is_negated && x->x == y->x && x->y == y->y &&
             x->atom == y->atom));
}

static bool is_same(const struct esi_clause *a, const struct esi_clause *b)
{
    bool is_same = a->count == b->count;

    for (size_t i = 0; is_same && i < a->count; i++)
        is_same = is_same_literal(&a->literals[i], &b->literals[i]);
    return is_same;
}

static bool has_clause(const struct esi_live_form *form,
                       const struct esi_clause *clause)
{
    for (size_t i = 0; i < form->certain_count; i++)
        if (is_same(&form->certain[i], clause))
            return true;
    return false;
}

/* Moves the clauses that are not in the weak condition to the front. */
static void compare_forms(struct esi_live_assignment *assignment,
                          const struct esi_live_form *weak,
                          struct esi_live_form *form)
{
    for (size_t i = 0; weak->cnf && i < form->certain_count; i++) {
        struct esi_clause clause = form->certain[i];
        if (has_clause(weak, &clause))
            continue;
        note_rows(assignment, &clause);
        form->certain[i] = form->certain[form->more_count];
        form->certain[form->more_count++] = clause;
    }
}

static void fini_form(struct esi_live_form *form)
{
    esi_cnf_destroy(form->cnf);
    free(form->certain);
    free(form->timed);
    *form = (struct esi_live_form){.cnf = NULL};
}

/* Creates the condition for these empty variables. */
static int init_form(struct esi_live_assignment *assignment,
                     const struct esi_live_condition *condition,
                     uint64_t empty,
                     struct esi_live_form *ret_form,
                     struct es_error *error)
{
    struct esi_live_form form = {.empty = empty};
    int result = esi_cnf_create(assignment->check.program, condition->number, empty,
                                &form.cnf, error);

    if (result == 0)
        result = split_condition(assignment, &form);
    if (result < 0) {
        fini_form(&form);
        return result;
    }
    compare_forms(assignment, &condition->weak, &form);
    *ret_form = form;
    return 0;
}

int esi_live_condition_init(struct esi_live_assignment *assignment,
                            uint32_t disjunct,
                            struct esi_live_condition *ret_condition,
                            struct es_error *error)
{
    struct esi_live_condition *condition = ret_condition;
    int result;

    *condition = (struct esi_live_condition){
        .number = disjunct,
        .disjunct = &assignment->check.program->disjuncts[disjunct],
    };
    result = init_form(assignment, condition, condition->disjunct->universal,
                       &condition->weak, error);
    return result < 0 ? result
                      : init_form(assignment, condition, 0, &condition->strong, error);
}

void esi_live_condition_fini(struct esi_live_condition *condition)
{
    fini_form(&condition->weak);
    fini_form(&condition->strong);
    fini_form(&condition->now);
}

/* --- Literals --------------------------------------------------------------------- */

/* Literals that count or were not expanded may be open before the end. */
static enum esi_formula_truth literal_truth(struct esi_formula_check *check,
                                            const struct esi_literal *literal,
                                            bool is_end)
{
    enum esi_formula_truth truth;

    check->may_grow = !is_end;
    check->bound = literal->variables;
    truth = esi_literal_truth(check, literal);
    return check->failure ? ES_FORMULA_OPEN : truth;
}

/* --- Universal variables ---------------------------------------------------------- */

/* A range of indexes on a trace. */
struct stretch {
    uint32_t from;
    uint32_t to;
};

/* The first successor on a trace of any event of a value; UINT32_MAX if there is none
 * so far. */
static uint32_t least_successor(struct esi_formula_check *check,
                                const struct esi_formula_binding *binding,
                                uint32_t trace)
{
    struct esi_precedence *precedence = check->precedence;
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

static uint32_t greatest_predecessor(struct esi_formula_check *check,
                                     const struct esi_formula_binding *binding,
                                     uint32_t trace)
{
    uint32_t greatest = 0;

    for (size_t i = 0; i < binding->count; i++) {
        uint32_t index =
            esi_precedence_greatest(check->precedence, binding->events[i], trace);
        if (index > greatest)
            greatest = index;
    }
    return greatest;
}

static void narrow_stretch(struct stretch *stretch, uint32_t from, uint32_t to)
{
    if (from > stretch->from)
        stretch->from = from;
    if (to < stretch->to)
        stretch->to = to;
}

/* Limits the range of a trace in which the values of `variable` make a literal fail;
 * the other variable is bound.  False if this is not a range. */
static bool limit_stretch(struct esi_formula_check *check,
                          const struct esi_literal *literal,
                          uint32_t variable,
                          uint64_t unbound,
                          uint32_t trace,
                          struct stretch *stretch)
{
    bool is_x = literal->x == variable;
    uint32_t other = is_x ? literal->y : literal->x;
    const struct esi_formula_binding *binding = &check->bindings[other];
    uint32_t at;

    if ((!is_x && literal->y != variable) || other == variable ||
        (unbound & esi_program_bit(other)))
        return false;
    if (literal->kind == ES_LITERAL_EQUAL) {
        /* Only the same event makes `!=` fail. */
        if (!literal->is_negated || binding->count != 1)
            return false;
        at = binding->events[0].index;
        if (binding->events[0].trace == trace)
            narrow_stretch(stretch, at, at);
        else
            narrow_stretch(stretch, 1, 0);
        return true;
    }
    if (literal->kind != ES_LITERAL_BEFORE)
        return false;
    at = is_x ? greatest_predecessor(check, binding, trace)
              : least_successor(check, binding, trace);
    if (is_x == literal->is_negated)
        narrow_stretch(stretch, 0, is_x ? at : at - 1);
    else
        narrow_stretch(stretch, is_x ? at + 1 : at, UINT32_MAX);
    return true;
}

/* The rows [from, to) of a column whose indexes are in a range. */
static struct stretch rows_of(struct esi_domain_column column, struct stretch stretch)
{
    uint32_t from = esi_column_position(&column, stretch.from);
    uint32_t to = stretch.to == UINT32_MAX
                      ? column.count
                      : esi_column_position(&column, stretch.to + 1);

    return (struct stretch){from, to};
}

static enum esi_formula_truth clause_values(struct esi_formula_check *check,
                                            const struct esi_clause *clause,
                                            uint64_t unbound,
                                            bool is_end);

/* Evaluates a clause for the values of one more universal variable in the rows of one
 * slot. */
static enum esi_formula_truth try_rows(struct esi_formula_check *check,
                                       const struct esi_clause *clause,
                                       uint32_t variable,
                                       uint32_t slot,
                                       uint64_t unbound,
                                       bool is_end)
{
    const struct esi_domain *domain = check->domains[variable];
    struct esi_domain_column column = esi_domain_column(domain, slot);
    struct stretch rows = {0, column.count};
    enum esi_formula_truth truth = ES_FORMULA_HOLDS;
    size_t limiting = 0;

    if (esi_domain_is_single(domain)) {
        struct stretch stretch = {0, UINT32_MAX};
        for (size_t i = 0; i < clause->count; i++)
            limiting += limit_stretch(check, &clause->literals[i], variable, unbound,
                                      column.trace, &stretch);
        rows = stretch.from <= stretch.to ? rows_of(column, stretch)
                                          : (struct stretch){0, 0};
        /* All literals of the clause fail there. */
        if (limiting == clause->count && rows.from < rows.to)
            return ES_FORMULA_FAILS;
    }
    for (uint32_t row = rows.from; truth != ES_FORMULA_FAILS && row < rows.to; row++) {
        esi_formula_check_bind(check, variable, (struct esi_domain_value){slot, row});
        truth = esi_truth_least(
            truth,
            clause_values(check, clause, unbound & ~esi_program_bit(variable), is_end));
    }
    return truth;
}

/* Evaluates a clause for all existing values of its unbound universal variables. */
static enum esi_formula_truth clause_values(struct esi_formula_check *check,
                                            const struct esi_clause *clause,
                                            uint64_t unbound,
                                            bool is_end)
{
    uint64_t left = clause->universal & unbound;
    enum esi_formula_truth truth = left ? ES_FORMULA_HOLDS : ES_FORMULA_FAILS;

    if (left) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        uint32_t slots = esi_domain_slots(check->domains[v]);

        for (uint32_t slot = 0; truth != ES_FORMULA_FAILS && slot < slots; slot++)
            truth = esi_truth_least(truth,
                                    try_rows(check, clause, v, slot, unbound, is_end));
        return truth;
    }
    for (size_t i = 0; i < clause->count && truth != ES_FORMULA_HOLDS; i++) {
        enum esi_formula_truth one = literal_truth(check, &clause->literals[i], is_end);

        truth = one > truth ? one : truth;
    }
    return truth;
}

/* Whether a literal about existential variables alone holds for certain. */
static bool holds_anyway(struct esi_live_assignment *assignment,
                         const struct esi_clause *clause,
                         bool is_end)
{
    for (size_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];
        if ((literal->variables & assignment->universal) == 0 &&
            literal_truth(&assignment->check, literal, is_end) == ES_FORMULA_HOLDS)
            return true;
    }
    return false;
}

static enum esi_formula_truth timed_truth(struct esi_live_assignment *assignment,
                                          const struct esi_timed_clause *timed,
                                          bool is_end)
{
    enum esi_formula_truth truth;

    if (timed->clause->universal && holds_anyway(assignment, timed->clause, is_end))
        return ES_FORMULA_HOLDS;
    truth = clause_values(&assignment->check, timed->clause, timed->clause->universal,
                          is_end);
    if (truth != ES_FORMULA_HOLDS || is_end || timed->clause->universal == 0)
        return truth;
    return timed->is_safe ? ES_FORMULA_HOLDS : ES_FORMULA_OPEN;
}

/* Evaluates a condition.  With `was_found`, the certain clauses of the weak form are
 * known to hold. */
static enum esi_formula_truth form_truth(struct esi_live_assignment *assignment,
                                         const struct esi_live_form *form,
                                         bool was_found,
                                         bool is_end)
{
    size_t certain_count = was_found ? form->more_count : form->certain_count;
    enum esi_formula_truth truth = ES_FORMULA_HOLDS;

    for (size_t i = 0; i < certain_count; i++)
        if (clause_values(&assignment->check, &form->certain[i], 0, is_end) !=
            ES_FORMULA_HOLDS)
            return ES_FORMULA_FAILS;
    for (size_t i = 0; truth != ES_FORMULA_FAILS && i < form->timed_count; i++)
        if (!was_found || !form->timed[i].is_searched)
            truth = esi_truth_least(truth,
                                    timed_truth(assignment, &form->timed[i], is_end));
    return truth;
}

/* The condition for the variables that are empty now. */
static const struct esi_live_form *form_now(struct esi_live_assignment *assignment,
                                            struct esi_live_condition *condition,
                                            uint64_t empty)
{
    struct esi_live_form form;
    int result;

    if (empty == condition->weak.empty)
        return &condition->weak;
    if (condition->now.cnf && condition->now.empty == empty)
        return &condition->now;
    result = init_form(assignment, condition, empty, &form, NULL);
    if (result < 0) {
        assignment->check.failure = result;
        return NULL;
    }
    fini_form(&condition->now);
    condition->now = form;
    return &condition->now;
}

enum esi_formula_truth esi_live_condition_truth(struct esi_live_assignment *assignment,
                                                struct esi_live_condition *condition,
                                                bool was_found,
                                                bool is_end)
{
    uint64_t empty = assignment->empty & condition->weak.empty;
    const struct esi_live_form *now;
    enum esi_formula_truth truth;

    if (empty == 0)
        return form_truth(assignment, &condition->strong, was_found, is_end);
    now = form_now(assignment, condition, empty);
    if (!now)
        return ES_FORMULA_OPEN;
    /* A condition that fails now also fails with more values. */
    truth = form_truth(assignment, now, was_found, is_end);
    if (truth == ES_FORMULA_FAILS || is_end)
        return truth;
    truth = form_truth(assignment, &condition->strong, was_found, false);
    return truth == ES_FORMULA_FAILS ? ES_FORMULA_OPEN : truth;
}

/* --- Values that join ------------------------------------------------------------- */

void esi_live_assignment_note(struct esi_live_assignment *assignment,
                              const struct esi_joined *joined)
{
    assignment->has_changed = false;
    for (uint64_t left = assignment->empty; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);

        if (assignment->check.domains[v] != joined->domain)
            continue;
        assignment->empty &= ~esi_program_bit(v);
        assignment->has_changed = true;
    }
}

static bool fails_with(struct esi_live_assignment *assignment,
                       const struct esi_timed_clause *timed,
                       const struct esi_joined *joined)
{
    const struct esi_clause *clause = timed->clause;

    for (uint64_t left = clause->universal; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);

        if (assignment->check.domains[v] != joined->domain)
            continue;
        esi_formula_check_bind(&assignment->check, v, joined->value);
        if (clause_values(&assignment->check, clause,
                          clause->universal & ~esi_program_bit(v),
                          false) == ES_FORMULA_FAILS)
            return true;
    }
    return false;
}

enum esi_formula_truth esi_live_condition_update(struct esi_live_assignment *assignment,
                                                 struct esi_live_condition *condition,
                                                 const struct esi_joined *joined,
                                                 bool is_counted)
{
    const struct esi_live_form *form = &condition->strong;
    bool is_asked = assignment->has_changed;

    for (size_t i = 0; i < form->timed_count && !is_asked; i++)
        is_asked = (is_counted && form->timed[i].counts &&
                    clause_counts(&assignment->check, form->timed[i].clause,
                                  joined->domain)) ||
                   fails_with(assignment, &form->timed[i], joined);
    return is_asked ? esi_live_condition_truth(assignment, condition, true, false)
                    : ES_FORMULA_OPEN;
}
