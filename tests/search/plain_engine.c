/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* plain_engine.c - tries all values of all variables, by the
 * definitions of program.h. */
#include "config.h"

#include "tests/search/plain_engine.h"

#include <errno.h>
#include <stddef.h>

static uint64_t most = UINT64_MAX;

void plain_engine_set_limit(uint64_t limit)
{
    most = limit;
}

struct plain {
    const struct esi_engine_task *task;
    uint64_t empty; /* universal variables without values */
    uint64_t tried;
    struct esi_domain_value values[ES_PROGRAM_VARIABLES];
};

/* --- Values ----------------------------------------------------------------------- */

static bool first_value(const struct esi_domain *domain, struct esi_domain_value *value)
{
    *value = (struct esi_domain_value){.slot = 0};
    if (esi_domain_count(domain) == 0)
        return false;
    while (esi_domain_is_single(domain) &&
           esi_domain_column(domain, value->slot).count == 0)
        value->slot++;
    return true;
}

static bool next_value(const struct esi_domain *domain, struct esi_domain_value *value)
{
    value->position++;
    if (!esi_domain_is_single(domain))
        return value->position < esi_domain_count(domain);
    while (value->slot < esi_domain_slots(domain) &&
           value->position >= esi_domain_column(domain, value->slot).count)
        *value = (struct esi_domain_value){.slot = value->slot + 1};
    return value->slot < esi_domain_slots(domain);
}

/* --- Relations -------------------------------------------------------------------- */

struct relation {
    bool before; /* some x precedes some y */
    bool after;
    bool equal;
    bool received;
};

static void relate_values(const struct plain *plain,
                          unsigned x,
                          unsigned y,
                          struct relation *relation)
{
    const struct esi_engine_task *task = plain->task;
    struct es_event_id scratch[2];
    const struct es_event_id *a;
    const struct es_event_id *b;
    size_t a_count =
        esi_domain_events(task->domains[x], plain->values[x], &scratch[0], &a);
    size_t b_count =
        esi_domain_events(task->domains[y], plain->values[y], &scratch[1], &b);

    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++) {
            relation->before |= es_order_precedes(task->order, a[i], b[j]) == 1;
            relation->after |= es_order_precedes(task->order, b[j], a[i]) == 1;
            relation->equal |= a[i].trace == b[j].trace && a[i].index == b[j].index;
        }
    relation->received |= esi_domain_is_received(task->domains[x], plain->values[x],
                                                 task->domains[y], plain->values[y]);
    task->statistics->comparisons += 2 * a_count * b_count;
}

static bool is_related(const struct relation *relation, enum esi_pattern_operator op)
{
    bool is_entangled = relation->equal || (relation->before && relation->after);

    switch (op) {
    case ES_OPERATOR_BEFORE:
        return relation->before && !is_entangled;
    case ES_OPERATOR_CONCURRENT:
        return !relation->before && !relation->after && !relation->equal;
    case ES_OPERATOR_ENTANGLED:
        return is_entangled;
    case ES_OPERATOR_RECEIVED:
        return relation->received;
    }
    return false;
}

static bool relation_holds(const struct plain *plain, const struct esi_atom *atom)
{
    struct relation relation = {.before = false};

    for (unsigned x = 0; x < ES_PROGRAM_VARIABLES; x++)
        for (unsigned y = 0; y < ES_PROGRAM_VARIABLES; y++)
            if (atom->left >> x & 1 && atom->right >> y & 1)
                relate_values(plain, x, y, &relation);
    return is_related(&relation, atom->op) != atom->is_negated;
}

/* --- Counting --------------------------------------------------------------------- */

/* Whether a counted value has the relation to the union of `left`. */
static bool is_counted(const struct plain *plain,
                       const struct esi_atom *atom,
                       const struct esi_domain *counted,
                       struct esi_domain_value value)
{
    const struct esi_engine_task *task = plain->task;
    struct relation relation = {.before = false};
    struct es_event_id scratch[2];
    const struct es_event_id *b;
    size_t b_count = esi_domain_events(counted, value, &scratch[1], &b);

    for (unsigned x = 0; x < ES_PROGRAM_VARIABLES; x++) {
        const struct es_event_id *a;
        size_t a_count;

        if (!(atom->left >> x & 1))
            continue;
        a_count = esi_domain_events(task->domains[x], plain->values[x], scratch, &a);
        for (size_t i = 0; i < a_count; i++)
            for (size_t j = 0; j < b_count; j++) {
                relation.before |= es_order_precedes(task->order, a[i], b[j]) == 1;
                relation.after |= es_order_precedes(task->order, b[j], a[i]) == 1;
                relation.equal |= a[i].trace == b[j].trace && a[i].index == b[j].index;
            }
        relation.received |=
            atom->is_reversed ? esi_domain_is_received(counted, value, task->domains[x],
                                                       plain->values[x])
                              : esi_domain_is_received(
                                    task->domains[x], plain->values[x], counted, value);
    }
    if (atom->is_reversed) {
        bool before = relation.before;

        relation.before = relation.after;
        relation.after = before;
    }
    return is_related(&relation, atom->op) != atom->is_negated;
}

static bool count_holds(const struct plain *plain, uint32_t number)
{
    const struct esi_atom *atom = &plain->task->program->atoms[number];
    const struct esi_domain *counted = plain->task->counted[number];
    struct esi_domain_value value;
    uint64_t count = 0;

    if (first_value(counted, &value))
        do
            count += is_counted(plain, atom, counted, value);
        while (next_value(counted, &value));
    return atom->node->at_most ? count <= atom->node->number
                               : count >= atom->node->number;
}

/* --- Other atoms ------------------------------------------------------------------ */

/* Events without times fail; so does a match that returns no events. */
static bool within_holds(const struct plain *plain, const struct esi_atom *atom)
{
    int64_t from = INT64_MAX;
    int64_t to = INT64_MIN;

    for (unsigned x = 0; x < ES_PROGRAM_VARIABLES; x++) {
        struct es_event_id scratch;
        const struct es_event_id *events;
        int64_t first;
        int64_t last;

        if (!((atom->left & ~plain->empty) >> x & 1))
            continue;
        if (esi_domain_events(plain->task->domains[x], plain->values[x], &scratch,
                              &events) == 0)
            continue;
        if (!esi_domain_time(plain->task->domains[x], plain->values[x], &first, &last))
            return false;
        from = first < from ? first : from;
        to = last > to ? last : to;
    }
    return from > to ||
           (uint64_t)to - (uint64_t)from <= (uint64_t)atom->node->within_ns;
}

static bool compare_holds(const struct plain *plain, const struct esi_atom *atom)
{
    const struct esi_domain *const *domains = plain->task->domains;
    int left = atom->left ? __builtin_ctzll(atom->left) : 0;
    int right = atom->right ? __builtin_ctzll(atom->right) : 0;

    return esi_domain_compare(atom->node, domains[left], plain->values[left],
                              domains[right], plain->values[right]);
}

static bool atom_holds(const struct plain *plain, uint32_t number)
{
    const struct esi_atom *atom = &plain->task->program->atoms[number];

    if (atom->kind == ES_ATOM_WITHIN)
        return within_holds(plain, atom);
    if ((atom->left | atom->right) & plain->empty)
        return true;
    switch (atom->kind) {
    case ES_ATOM_COUNT:
        return count_holds(plain, number);
    case ES_ATOM_COMPARE:
        return compare_holds(plain, atom);
    default:
        return relation_holds(plain, atom);
    }
}

/* --- Conditions ------------------------------------------------------------------- */

static bool holds(const struct plain *plain, const struct esi_formula *formula)
{
    bool is_or = formula->kind == ES_FORMULA_OR;

    if (formula->kind == ES_FORMULA_ATOM)
        return atom_holds(plain, formula->atom);
    if (formula->kind != ES_FORMULA_AND && !is_or)
        return formula->kind == ES_FORMULA_TRUE;
    for (size_t i = 0; i < formula->part_count; i++)
        if (holds(plain, formula->parts[i]) == is_or)
            return is_or;
    return !is_or;
}

/* Whether the condition holds for all values of the universal variables in `left`. */
static bool holds_for_all(struct plain *plain,
                          const struct esi_program_disjunct *disjunct,
                          uint64_t left)
{
    const struct esi_domain *domain;
    unsigned v;

    if (!left) {
        plain->tried++;
        return holds(plain, disjunct->condition);
    }
    v = (unsigned)__builtin_ctzll(left);
    domain = plain->task->domains[v];
    (void)first_value(domain, &plain->values[v]);
    do
        if (!holds_for_all(plain, disjunct, left & (left - 1)))
            return false;
    while (next_value(domain, &plain->values[v]));
    return true;
}

static bool is_satisfied(struct plain *plain,
                         const struct esi_program_disjunct *disjunct)
{
    return holds_for_all(plain, disjunct, disjunct->universal & ~plain->empty);
}

/* --- Assignments ------------------------------------------------------------------ */

static int try_assignment(struct plain *plain,
                          const struct esi_program_disjunct *disjunct)
{
    const struct esi_engine_task *task = plain->task;

    if (esi_search_is_over(task->config))
        return 1;
    if (plain->tried > most)
        return -E2BIG;
    if (!is_satisfied(plain, disjunct))
        return 0;
    for (size_t i = 0; i < disjunct->lesser_count; i++)
        if (is_satisfied(plain, &task->program->disjuncts[disjunct->lesser[i]]))
            return 0;
    return esi_matches_add(task->matches, disjunct->variables, plain->values);
}

static int assign(struct plain *plain,
                  const struct esi_program_disjunct *disjunct,
                  uint64_t left)
{
    const struct esi_domain *domain;
    int result = 0;
    unsigned v;

    if (!left)
        return try_assignment(plain, disjunct);
    v = (unsigned)__builtin_ctzll(left);
    domain = plain->task->domains[v];
    if (!first_value(domain, &plain->values[v]))
        return 0;
    do {
        result = assign(plain, disjunct, left & (left - 1));
        plain->task->statistics->backtracks++;
    } while (result == 0 && next_value(domain, &plain->values[v]));
    return result;
}

static int search(const struct esi_engine_task *task, struct es_error *error)
{
    const struct esi_program *program = task->program;
    struct plain plain = {.task = task};
    int result = 0;

    (void)error;
    for (uint32_t v = 0; v < program->variable_count; v++)
        if (program->variables[v].is_universal &&
            esi_domain_count(task->domains[v]) == 0)
            plain.empty |= UINT64_C(1) << v;
    for (uint32_t i = 0; result == 0 && i < program->disjunct_count; i++)
        result =
            assign(&plain, &program->disjuncts[i], program->disjuncts[i].variables);
    task->statistics->pattern_size += program->atom_count;
    task->statistics->bytes += sizeof plain;
    return result;
}

static int explain(const struct esi_engine_task *task,
                   FILE *out,
                   struct es_error *error)
{
    (void)error;
    fprintf(out, "%u disjuncts, one after the other\n",
            (unsigned)task->program->disjunct_count);
    return 0;
}

const struct esi_engine_ops plain_engine = {
    .name = "plain",
    .help = "tries everything",
    .search = search,
    .explain = explain,
};
