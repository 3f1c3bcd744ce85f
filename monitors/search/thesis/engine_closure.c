/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * engine_closure.c - the basic search: evaluates the tree in post-order, with convex
 * closures for the sides of relations (Nichols, chapter 4).
 *
 * Variables are bound one after the other to each of their values.  Each test is made
 * as soon as possible; if it fails, the next value is tried.  A test iterates over the
 * values of universal variables.  This is the simplest of the engines, and the slowest.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/thesis/engine_closure_private.h"
#include "monitors/search/truth/formula_check.h"

/* Number of values bound between two checks of the clock. */
enum { BINDINGS_PER_LOOK = 64 };

struct closure_search {
    const struct esi_engine_task *task;
    struct esi_precedence precedence;
    struct esi_closure_maker *maker;
    struct esi_formula_check check;        /* bindings, and evaluation for them */
    uint64_t stamps[ES_PROGRAM_VARIABLES]; /* by variable, of its binding; all are
                                              distinct */
    /* to be passed to the matches */
    struct esi_domain_value values[ES_PROGRAM_VARIABLES];
    struct esi_closure_operands operands;
    struct esi_event_list events; /* of an operand, before its closure is computed */
    uint64_t variables;           /* all except universal variables without values */
    uint64_t stamp;               /* the latest one */
    int result; /* 0; 1: enough; -errno.  Other results are invalid once it is set */
};

/* --- Plans: parts of a condition -------------------------------------------------- */

/* Variables are bound in the post-order of the tree: those of an atom when it is
 * reached, its left operand first.  A conjunct is tested as soon as its last
 * existential variable is bound, and so is a lesser disjunct.  It is also tested after
 * each earlier variable if the bound ones may show that it fails. */

static size_t count_parts(const struct esi_formula *formula)
{
    size_t count = 0;

    if (formula->kind != ES_FORMULA_AND)
        return 1;
    for (size_t i = 0; i < formula->part_count; i++)
        count += count_parts(formula->parts[i]);
    return count;
}

static void add_parts(const struct esi_engine_task *task,
                      const struct esi_formula *formula,
                      struct esi_closure_plan *plan)
{
    uint64_t named = esi_formula_variables(task->program, formula);
    uint64_t universals = esi_program_universal(task->program);

    if (formula->kind == ES_FORMULA_AND) {
        for (size_t i = 0; i < formula->part_count; i++)
            add_parts(task, formula->parts[i], plan);
        return;
    }
    if (formula->kind == ES_FORMULA_TRUE)
        return;
    plan->is_false |= formula->kind == ES_FORMULA_FALSE;
    plan->parts[plan->part_count++] = (struct esi_closure_part){
        .formula = formula,
        .existential = named & ~universals,
        .universal =
            named & universals & ~esi_universal_empty(task->program, task->domains),
    };
}

/* --- The order of binding --------------------------------------------------------- */

static void bind_all(struct esi_closure_plan *plan, uint64_t variables, uint64_t *bound)
{
    variables &= ~*bound;
    *bound |= variables;
    for (; variables; variables &= variables - 1)
        plan->order[plan->level_count++] = (uint8_t)__builtin_ctzll(variables);
}

static void bind_formula(const struct esi_program *program,
                         const struct esi_formula *formula,
                         uint64_t existential,
                         struct esi_closure_plan *plan,
                         uint64_t *bound)
{
    if (formula->kind == ES_FORMULA_ATOM) {
        bind_all(plan, program->atoms[formula->atom].left & existential, bound);
        bind_all(plan, program->atoms[formula->atom].right & existential, bound);
        return;
    }
    for (size_t i = 0; i < formula->part_count; i++)
        bind_formula(program, formula->parts[i], existential, plan, bound);
}

static void order_variables(const struct esi_program *program,
                            uint64_t variables,
                            struct esi_closure_plan *plan)
{
    uint64_t bound = 0;

    for (size_t i = 0; i < plan->part_count; i++)
        bind_formula(program, plan->parts[i].formula, plan->parts[i].existential, plan,
                     &bound);
    /* Variables that occur in no atom. */
    bind_all(plan, variables, &bound);
    plan->hidden_from = plan->level_count;
    while (plan->hidden_from &&
           !program->variables[plan->order[plan->hidden_from - 1]].is_returned)
        plan->hidden_from--;
}

/* --- When tests are made ---------------------------------------------------------- */

/* The variables bound when `level` are. */
static uint64_t bound_at(const struct esi_closure_plan *plan, uint32_t level)
{
    uint64_t bound = 0;

    for (uint32_t i = 0; i < level; i++)
        bound |= UINT64_C(1) << plan->order[i];
    return bound;
}

/* Whether all of these are bound at a level, but not before. */
static bool is_due(const struct esi_closure_plan *plan,
                   uint64_t variables,
                   uint32_t level)
{
    return !(variables & ~bound_at(plan, level)) &&
           (level == 0 || (variables & ~bound_at(plan, level - 1)));
}

static void add_own_checks(struct esi_closure_plan *plan, uint32_t level)
{
    for (size_t i = 0; i < plan->part_count; i++)
        if (is_due(plan, plan->parts[i].existential, level))
            plan->checks[plan->check_count++] = (struct esi_closure_check){
                .parts = &plan->parts[i], .part_count = 1, .lesser = ES_PATTERN_NONE};
}

/* Whether a formula can be shown to fail when these variables are bound: a `within`
 * that fails still fails when more are bound. */
static bool may_fail(const struct esi_program *program,
                     const struct esi_formula *formula,
                     uint64_t bound)
{
    bool is_and = formula->kind == ES_FORMULA_AND;

    if (formula->kind == ES_FORMULA_ATOM) {
        const struct esi_atom *atom = &program->atoms[formula->atom];
        uint64_t named = (atom->left | atom->right) & bound;

        return atom->kind == ES_ATOM_WITHIN ? (named & (named - 1)) != 0
                                            : named == (atom->left | atom->right);
    }
    if (formula->kind != ES_FORMULA_AND && formula->kind != ES_FORMULA_OR)
        return formula->kind == ES_FORMULA_FALSE;
    for (size_t i = 0; i < formula->part_count; i++)
        if (may_fail(program, formula->parts[i], bound) == is_and)
            return is_and;
    return !is_and;
}

/* Adds a test for each earlier variable of a part. */
static void add_early_checks(const struct esi_program *program,
                             struct esi_closure_plan *plan,
                             uint32_t level)
{
    uint64_t bound = bound_at(plan, level);

    for (size_t i = 0; level > 0 && i < plan->part_count; i++) {
        const struct esi_closure_part *part = &plan->parts[i];
        uint64_t early = part->existential & bound;

        if (early != part->existential && early >> plan->order[level - 1] & 1 &&
            may_fail(program, part->formula, early))
            plan->checks[plan->check_count++] =
                (struct esi_closure_check){.parts = part,
                                           .part_count = 1,
                                           .lesser = ES_PATTERN_NONE,
                                           .early = early};
    }
}

static void add_lesser_checks(const struct esi_program *program,
                              const struct esi_closure_plan *plans,
                              uint32_t disjunct,
                              struct esi_closure_plan *plan,
                              uint32_t level)
{
    for (size_t i = 0; i < program->disjuncts[disjunct].lesser_count; i++) {
        uint32_t lesser = program->disjuncts[disjunct].lesser[i];

        if (!plans[lesser].is_false &&
            is_due(plan, program->disjuncts[lesser].variables, level))
            plan->checks[plan->check_count++] = (struct esi_closure_check){
                plans[lesser].parts, plans[lesser].part_count, lesser, 0};
    }
}

static int place_checks(const struct esi_program *program,
                        const struct esi_closure_plan *plans,
                        uint32_t disjunct,
                        struct esi_closure_plan *plan)
{
    size_t count = plan->part_count * ((size_t)plan->level_count + 1) +
                   program->disjuncts[disjunct].lesser_count;

    plan->checks = calloc(count ? count : 1, sizeof *plan->checks);
    if (!plan->checks)
        return -ENOMEM;
    for (uint32_t level = 0; level <= plan->level_count; level++) {
        plan->begins[level] = plan->check_count;
        add_early_checks(program, plan, level);
        add_own_checks(plan, level);
        add_lesser_checks(program, plans, disjunct, plan, level);
    }
    plan->begins[plan->level_count + 1] = plan->check_count;
    return 0;
}

/* --- Plans of all disjuncts ------------------------------------------------------- */

/* Lesser disjuncts come first, so their parts exist. */
static int make_plan(const struct esi_engine_task *task,
                     struct esi_closure_plan *plans,
                     uint32_t disjunct)
{
    const struct esi_program_disjunct *of = &task->program->disjuncts[disjunct];
    struct esi_closure_plan *plan = &plans[disjunct];

    plan->parts = calloc(count_parts(of->condition), sizeof *plan->parts);
    if (!plan->parts)
        return -ENOMEM;
    add_parts(task, of->condition, plan);
    order_variables(task->program, of->variables, plan);
    return place_checks(task->program, plans, disjunct, plan);
}

static void destroy_plans(const struct esi_engine_task *task,
                          struct esi_closure_plan *plans)
{
    for (uint32_t i = 0; plans && i < task->program->disjunct_count; i++) {
        free(plans[i].parts);
        free(plans[i].checks);
    }
    free(plans);
}

/* Creates plans of all disjuncts of the task's program.  Returns 0 or -ENOMEM. */
static int create_plans(const struct esi_engine_task *task,
                        struct esi_closure_plan **ret_plans)
{
    uint32_t count = task->program->disjunct_count;
    struct esi_closure_plan *plans = calloc(count ? count : 1, sizeof *plans);
    int result = 0;

    if (!plans)
        return -ENOMEM;
    for (uint32_t disjunct = 0; disjunct < count && result == 0; disjunct++)
        result = make_plan(task, plans, disjunct);
    if (result < 0)
        destroy_plans(task, plans);
    else
        *ret_plans = plans;
    return result;
}

/* --- Binding ---------------------------------------------------------------------- */

/* Iterates over all values of a domain. */
struct value_cursor {
    const struct esi_domain *domain;
    bool is_single;
    uint32_t slots;
    uint32_t count; /* of the values in the slot */
    struct esi_domain_column column;
    struct esi_domain_value next;
};

static void enter_slot(struct value_cursor *cursor)
{
    cursor->next.position = 0;
    if (cursor->next.slot >= cursor->slots)
        return;
    cursor->column = esi_domain_column(cursor->domain, cursor->next.slot);
    cursor->count = cursor->column.count;
}

static void init_cursor(const struct esi_domain *domain, struct value_cursor *cursor)
{
    *cursor = (struct value_cursor){.domain = domain,
                                    .is_single = esi_domain_is_single(domain)};
    if (cursor->is_single) {
        cursor->slots = esi_domain_slots(domain);
        enter_slot(cursor);
    } else {
        cursor->slots = 1;
        cursor->count = (uint32_t)esi_domain_count(domain);
    }
}

static bool find_next(struct value_cursor *cursor)
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

static void look_at_the_clock(struct closure_search *search)
{
    if (search->stamp % BINDINGS_PER_LOOK == 0 && search->result == 0 &&
        esi_search_is_over(search->task->config))
        search->result = 1;
}

/* Binds a variable to the next value; false if there is none, or the search is over. */
static bool bind_next(struct closure_search *search,
                      struct value_cursor *cursor,
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

/* --- Operands --------------------------------------------------------------------- */

/* NULL if there is no operand with these variables. */
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

/* Finds the relation whose two sides together form an operand. */
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

/* Creates the operands of all relations.  Returns 0 or -ENOMEM. */
static int init_operands(const struct esi_engine_task *task,
                         struct esi_closure_operands *ret_operands)
{
    const struct esi_program *program = task->program;
    const struct esi_closure_tuning *tuning = task->tuning;
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
    for (size_t i = 0; tuning->combining && i < operands.count; i++)
        find_parts(program, &operands, &operands.items[i]);
    *ret_operands = operands;
    return 0;
}

static void fini_operands(struct esi_closure_operands *operands)
{
    for (size_t i = 0; i < operands->count; i++)
        esi_closure_fini(&operands->items[i].closure);
    free(operands->items);
    *operands = (struct esi_closure_operands){.count = 0};
}

/* --- Closures of operands --------------------------------------------------------- */

/* A closure is computed when first used, and again after one of its variables was
 * rebound.  With combining, the closure of the events that a relation passes up is
 * combined from those of its two sides (Nichols, 4.5). */

static uint64_t latest_stamp(const struct closure_search *search, uint64_t variables)
{
    uint64_t latest = 0;

    for (; variables; variables &= variables - 1) {
        uint64_t stamp = search->stamps[__builtin_ctzll(variables)];

        if (stamp > latest)
            latest = stamp;
    }
    return latest;
}

/* Collects the union of the variables' values, sorted and distinct. */
static int gather_events(struct closure_search *search, uint64_t variables)
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

/* Recursion is limited by the nesting of relations, at most the number of variables. */
static int make_closure(struct closure_search *search,
                        struct esi_closure_operand *operand)
{
    uint64_t latest = latest_stamp(search, operand->variables);
    int result;

    if (operand->stamp == latest && latest)
        return 0;
    operand->stamp = 0;
    search->task->statistics->special++;
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

/* The function `side` of an esi_formula_check; `data` is a closure_search.  Returns a
 * single event or the ends of a convex closure, borrowed until a variable is bound. */
static int side_of_relation(void *data,
                            uint64_t variables,
                            const struct es_event_id **ret_events,
                            size_t *ret_count)
{
    struct closure_search *search = data;
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

/* --- Conditions ------------------------------------------------------------------- */

/* Evaluates a formula for the variables that are `bound`. */
static enum esi_formula_truth truth_of(struct closure_search *search,
                                       const struct esi_formula *formula,
                                       uint64_t bound)
{
    enum esi_formula_truth truth;

    search->check.bound = bound;
    truth = esi_formula_check(&search->check, formula, search->variables);
    if (search->check.failure && search->result == 0)
        search->result = search->check.failure;
    return truth;
}

/* Evaluates it for all values of the universal variables. */
static bool holds_for_all(struct closure_search *search,
                          const struct esi_formula *formula,
                          uint64_t universal)
{
    struct value_cursor cursor;
    unsigned v;

    if (!universal)
        return truth_of(search, formula, UINT64_MAX) == ES_FORMULA_HOLDS;
    v = (unsigned)__builtin_ctzll(universal);
    init_cursor(search->task->domains[v], &cursor);
    while (bind_next(search, &cursor, v))
        if (!holds_for_all(search, formula, universal & (universal - 1)))
            return false;
    return search->result == 0;
}

static bool check_holds(struct closure_search *search,
                        const struct esi_closure_check *check)
{
    bool holds = true;

    if (check->early)
        return truth_of(search, check->parts->formula, check->early) !=
               ES_FORMULA_FAILS;
    for (size_t i = 0; i < check->part_count && holds; i++)
        holds =
            holds_for_all(search, check->parts[i].formula, check->parts[i].universal);
    return check->lesser == ES_PATTERN_NONE ? holds : !holds;
}

/* --- Searching -------------------------------------------------------------------- */

static bool all_hold(struct closure_search *search,
                     const struct esi_closure_plan *plan,
                     uint32_t level)
{
    for (size_t i = plan->begins[level]; i < plan->begins[level + 1]; i++)
        if (!check_holds(search, &plan->checks[i]) || search->result != 0)
            return false;
    return true;
}

static bool add_match(struct closure_search *search, uint64_t variables)
{
    for (uint64_t left = variables; left; left &= left - 1) {
        int v = __builtin_ctzll(left);

        search->values[v] = search->check.bindings[v].value;
    }
    search->result = esi_matches_add(search->task->matches, variables, search->values);
    return true;
}

/* Binds the variables from `level` on in all ways that match.  Returns whether there is
 * one. */
static bool search_from(struct closure_search *search,
                        uint32_t disjunct,
                        const struct esi_closure_plan *plan,
                        uint32_t level)
{
    struct value_cursor cursor;
    bool has_found = false;
    uint8_t v;

    if (level == plan->level_count)
        return add_match(search, search->task->program->disjuncts[disjunct].variables);
    v = plan->order[level];
    init_cursor(search->task->domains[v], &cursor);
    while (search->result == 0 && bind_next(search, &cursor, v)) {
        if (all_hold(search, plan, level + 1))
            has_found |= search_from(search, disjunct, plan, level + 1);
        search->task->statistics->backtracks++;
        if (has_found && level >= plan->hidden_from)
            break;
    }
    return has_found;
}

static bool have_values(const struct esi_engine_task *task, uint64_t variables)
{
    for (; variables; variables &= variables - 1)
        if (esi_domain_count(task->domains[__builtin_ctzll(variables)]) == 0)
            return false;
    return true;
}

static void search_disjunct(struct closure_search *search,
                            const struct esi_closure_plan *plans,
                            uint32_t disjunct)
{
    const struct esi_closure_plan *plan = &plans[disjunct];

    if (!plan->is_false && esi_disjunct_may_match(search->task, disjunct) &&
        have_values(search->task,
                    search->task->program->disjuncts[disjunct].variables) &&
        all_hold(search, plan, 0))
        search_from(search, disjunct, plan, 0);
}

/* --- Start and end ---------------------------------------------------------------- */

static int begin_search(const struct esi_engine_task *task,
                        struct closure_search *search)
{
    const struct esi_closure_tuning *tuning = task->tuning;
    int result;

    search->task = task;
    search->precedence.order = task->order;
    search->variables = ~esi_universal_empty(task->program, task->domains);
    search->check = (struct esi_formula_check){.program = task->program,
                                               .domains = task->domains,
                                               .counted = task->counted,
                                               .precedence = &search->precedence,
                                               .side = side_of_relation,
                                               .side_data = search,
                                               .config = task->config};
    result = esi_formula_check_init(&search->check);
    if (result == 0)
        result = esi_closure_maker_create(task->order, tuning->method,
                                          tuning->successors, &search->maker);
    if (result < 0)
        return result;
    return init_operands(task, &search->operands);
}

static void end_search(struct closure_search *search)
{
    struct esi_search_statistics *statistics = search->task->statistics;

    statistics->comparisons += search->precedence.comparisons;
    statistics->unknown += search->precedence.unknown;
    for (size_t i = 0; i < search->operands.count; i++)
        statistics->bytes += esi_closure_bytes(&search->operands.items[i].closure);
    fini_operands(&search->operands);
    esi_closure_maker_destroy(search->maker);
    esi_formula_check_fini(&search->check);
    esi_event_list_fini(&search->events);
}

static int run_search(const struct esi_engine_task *task, struct es_error *error)
{
    struct closure_search search = {.task = NULL};
    struct esi_closure_plan *plans = NULL;
    int result = begin_search(task, &search);

    (void)error;
    if (result == 0)
        result = create_plans(task, &plans);
    search.result = result;
    for (uint32_t i = 0; i < task->program->disjunct_count && search.result == 0; i++)
        search_disjunct(&search, plans, i);
    destroy_plans(task, plans);
    end_search(&search);
    return search.result;
}

static int explain_search(const struct esi_engine_task *task,
                          FILE *out,
                          struct es_error *error)
{
    struct esi_closure_operands operands = {.count = 0};
    struct esi_closure_plan *plans = NULL;
    int result = init_operands(task, &operands);

    (void)error;
    if (result == 0)
        result = create_plans(task, &plans);
    if (result == 0)
        esi_closure_explain(task, plans, &operands, out);
    destroy_plans(task, plans);
    fini_operands(&operands);
    return result;
}

const struct esi_closure_tuning esi_closure_defaults = {.method = ES_CLOSURE_BINARY,
                                                        .combining = true};

static const char *const methods[] = {
    [ES_CLOSURE_EXISTING] = "existing",
    [ES_CLOSURE_STEP] = "step",
    [ES_CLOSURE_BINARY] = "binary",
    [ES_CLOSURE_JUMP] = "jump",
    NULL,
};

static const struct esi_field rows[] = {
    {.name = "closure-method",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct esi_closure_tuning, method),
     .choices = methods},
    {.name = "combining",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct esi_closure_tuning, combining)},
};

static const struct esi_fields fields = {.size = sizeof(struct esi_closure_tuning),
                                         .rows = rows,
                                         .row_count = sizeof rows / sizeof rows[0]};

const struct esi_engine_ops esi_engine_closure = {
    .name = "closure",
    .help = "through the tree, with convex closures (the classic one; slow)",
    .counted = "closures",
    .defaults = &esi_closure_defaults,
    .fields = &fields,
    .search = run_search,
    .explain = explain_search,
};
