/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * engine_closure_operand.c - the sides of relations: events that are bound, and the
 * convex closures of several.
 *
 * A closure is made when it is first asked for, and again after one of its variables
 * was bound anew.  Where closures are combined, that of the events that a relation
 * passes up is made of those of its two sides (Nichols, 4.5).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/thesis/closure_private.h"
#include "monitors/search/thesis/engine_closure_private.h"

/* Values that are bound between two looks at the clock. */
enum { BINDINGS_PER_LOOK = 64 };

/* --- Binding ---------------------------------------------------------------------- */

static void enter_slot(struct esi_closure_cursor *cursor)
{
    cursor->next.position = 0;
    if (cursor->next.slot >= cursor->slots)
        return;
    cursor->column = esi_domain_column(cursor->domain, cursor->next.slot);
    cursor->count = cursor->column.count;
}

void esi_closure_cursor_init(const struct esi_domain *domain,
                             struct esi_closure_cursor *cursor)
{
    *cursor = (struct esi_closure_cursor){.domain = domain,
                                          .is_single = esi_domain_is_single(domain)};
    if (cursor->is_single) {
        cursor->slots = esi_domain_slots(domain);
        enter_slot(cursor);
    } else {
        cursor->slots = 1;
        cursor->count = (uint32_t)esi_domain_count(domain);
    }
}

static bool find_next(struct esi_closure_cursor *cursor)
{
    while (cursor->next.slot < cursor->slots) {
        if (cursor->next.position < cursor->count)
            return true;
        cursor->next.slot++;
        if (cursor->is_single)
            enter_slot(cursor);
    }
    return false;
}

static void look_at_the_clock(struct esi_closure_search *search)
{
    if (search->stamp % BINDINGS_PER_LOOK == 0 && search->result == 0 &&
        esi_search_is_over(search->task->config))
        search->result = 1;
}

bool esi_closure_bind(struct esi_closure_search *search,
                      struct esi_closure_cursor *cursor,
                      unsigned variable)
{
    struct esi_formula_binding *binding = &search->check.bindings[variable];

    if (!find_next(cursor))
        return false;
    search->stamps[variable] = ++search->stamp;
    look_at_the_clock(search);
    if (search->result != 0)
        return false;
    binding->value = cursor->next;
    binding->has_value = true;
    if (cursor->is_single) {
        binding->one = (struct es_event_id){
            cursor->column.trace, cursor->column.indexes[cursor->next.position]};
        binding->events = &binding->one;
        binding->count = 1;
    } else {
        binding->count = esi_domain_events(cursor->domain, cursor->next, &binding->one,
                                           &binding->events);
    }
    cursor->next.position++;
    return true;
}

/* --- Which operands there are ----------------------------------------------------- */

/* NULL: there is none of these variables. */
static struct esi_closure_operand *find_operand(
    const struct esi_closure_operands *operands,
    uint64_t variables)
{
    for (size_t i = 0; i < operands->count; i++)
        if (operands->items[i].variables == variables)
            return &operands->items[i];
    return NULL;
}

static void add_operand(struct esi_closure_operands *operands, uint64_t variables)
{
    if (variables && !find_operand(operands, variables))
        operands->items[operands->count++].variables = variables;
}

static bool is_relation(const struct esi_atom *atom)
{
    return (atom->kind == ES_ATOM_RELATION || atom->kind == ES_ATOM_COUNT) &&
           atom->op != ES_OPERATOR_RECEIVED;
}

/* The relation below, whose two sides make up an operand. */
static void find_parts(const struct esi_program *program,
                       const struct esi_closure_operands *operands,
                       struct esi_closure_operand *operand)
{
    for (uint32_t i = 0; i < program->atom_count; i++) {
        const struct esi_atom *atom = &program->atoms[i];

        if (is_relation(atom) && (atom->left | atom->right) == operand->variables &&
            atom->left != operand->variables && atom->right != operand->variables) {
            operand->parts[0] = find_operand(operands, atom->left);
            operand->parts[1] = find_operand(operands, atom->right);
            return;
        }
    }
}

int esi_closure_operands_init(const struct esi_engine_task *task,
                              struct esi_closure_operands *ret_operands)
{
    const struct esi_program *program = task->program;
    struct esi_closure_operands operands = {.count = 0};

    operands.items =
        calloc(2 * (size_t)program->atom_count + 1, sizeof *operands.items);
    if (!operands.items)
        return -ENOMEM;
    for (uint32_t i = 0; i < program->atom_count; i++)
        if (is_relation(&program->atoms[i])) {
            add_operand(&operands, program->atoms[i].left);
            add_operand(&operands, program->atoms[i].right);
        }
    for (size_t i = 0; task->config->closure_combining && i < operands.count; i++)
        find_parts(program, &operands, &operands.items[i]);
    *ret_operands = operands;
    return 0;
}

void esi_closure_operands_fini(struct esi_closure_operands *operands)
{
    for (size_t i = 0; i < operands->count; i++)
        esi_closure_fini(&operands->items[i].closure);
    free(operands->items);
    *operands = (struct esi_closure_operands){.count = 0};
}

/* --- Their closures --------------------------------------------------------------- */

static uint64_t latest_stamp(const struct esi_closure_search *search,
                             uint64_t variables)
{
    uint64_t latest = 0;

    for (; variables; variables &= variables - 1) {
        uint64_t stamp = search->stamps[__builtin_ctzll(variables)];

        if (stamp > latest)
            latest = stamp;
    }
    return latest;
}

/* The union of the variables' values, sorted and distinct. */
static int gather_events(struct esi_closure_search *search, uint64_t variables)
{
    struct esi_event_list *events = &search->events;
    int result = 0;

    events->count = 0;
    for (; variables && result == 0; variables &= variables - 1) {
        const struct esi_formula_binding *binding =
            &search->check.bindings[__builtin_ctzll(variables)];

        result = esi_event_list_add(events, binding->events, binding->count);
    }
    esi_event_list_sort(events);
    return result;
}

/* As deep as relations stand in each other: at most as many as there are variables. */
static int make_closure(struct esi_closure_search *search,
                        struct esi_closure_operand *operand)
{
    uint64_t latest = latest_stamp(search, operand->variables);
    int result;

    if (operand->stamp == latest && latest)
        return 0;
    operand->stamp = 0;
    search->task->statistics->closures++;
    if (operand->parts[0]) {
        result = make_closure(search, operand->parts[0]);
        if (result == 0)
            result = make_closure(search, operand->parts[1]);
        if (result == 0)
            result = esi_closure_combine(
                search->maker, &search->precedence, &operand->parts[0]->closure,
                &operand->parts[1]->closure, &operand->closure);
    } else {
        result = gather_events(search, operand->variables);
        if (result == 0)
            result = esi_closure_make(search->maker, &search->precedence,
                                      search->events.events, search->events.count,
                                      &operand->closure);
    }
    if (result == 0)
        operand->stamp = latest;
    return result;
}

int esi_closure_side(void *data,
                     uint64_t variables,
                     const struct es_event_id **ret_events,
                     size_t *ret_count)
{
    struct esi_closure_search *search = data;
    const struct esi_formula_binding *first =
        &search->check.bindings[variables ? __builtin_ctzll(variables) : 0];
    struct esi_closure_operand *operand;
    int result;

    if (!variables) {
        *ret_count = 0;
        return 0;
    }
    if (!(variables & (variables - 1)) && first->count <= 1) {
        *ret_events = first->events;
        *ret_count = first->count;
        return 0;
    }
    operand = find_operand(&search->operands, variables);
    result = make_closure(search, operand);
    if (result < 0)
        return result;
    *ret_events = operand->closure.ends.events;
    *ret_count = operand->closure.ends.count;
    return 0;
}
