/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_part.c - the live search of one predicate. */
#include "config.h"

#include "monitors/search/live/live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- Making it -------------------------------------------------------------------- */

/* Of a class or of a predicate. */
static const struct esi_domain *domain_of(const struct esi_live *live,
                                          uint32_t class_number,
                                          uint32_t predicate)
{
    return class_number != ES_PATTERN_NONE
               ? esi_domains_class(live->domains, class_number)
               : live->parts[predicate]->sets;
}

static int find_domains(struct esi_live_part *part)
{
    const struct esi_program *program = part->program;

    part->domains = calloc(program->variable_count + 1u, sizeof *part->domains);
    part->counted = calloc(program->atom_count + 1u, sizeof *part->counted);
    if (!part->domains || !part->counted)
        return -ENOMEM;
    part->check = (struct esi_formula_check){.program = program,
                                             .domains = part->domains,
                                             .counted = part->counted,
                                             .precedence = &part->live->precedence};
    for (uint32_t v = 0; v < program->variable_count; v++) {
        const struct esi_program_variable *variable = &program->variables[v];
        part->domains[v] =
            domain_of(part->live, variable->class_number, variable->predicate);
    }
    part->universal = part->empty = esi_program_universal(program);
    for (uint32_t a = 0; a < program->atom_count; a++)
        if (program->atoms[a].kind == ES_ATOM_COUNT) {
            part->has_counts = true;
            part->counted[a] = domain_of(part->live, program->atoms[a].counted,
                                         program->atoms[a].counted_predicate);
        }
    return 0;
}

/* A clause with the only universal variable that fails now fails for ever, as it has
 * values then; those that hold for all values yet to come may as well be searched by.
 * What is about one existential variable is decided as fast afterwards. */
static bool is_searched(const struct esi_live_support *support,
                        const struct esi_timed_clause *timed)
{
    const struct esi_clause *clause = timed->clause;
    uint64_t universal = support->support->universal;

    if (!timed->is_safe || timed->counts || universal & (universal - 1) ||
        !(clause->existential & (clause->existential - 1)))
        return false;
    for (size_t i = 0; i < clause->count; i++)
        if (clause->literals[i].kind != ES_LITERAL_BEFORE &&
            clause->literals[i].kind != ES_LITERAL_EQUAL)
            return false;
    return true;
}

/* What is searched by; `clauses` has room for all. */
static void list_searched(struct esi_live_support *support,
                          struct esi_clause *clauses,
                          struct esi_cnf *ret_cnf)
{
    struct esi_cnf cnf = {.clauses = clauses};

    for (size_t i = 0; i < support->weak.certain_count; i++)
        clauses[cnf.count++] = support->weak.certain[i];
    for (size_t i = 0; i < support->strong.timed_count; i++) {
        struct esi_timed_clause *timed = &support->strong.timed[i];

        timed->is_searched = is_searched(support, timed);
        if (timed->is_searched)
            clauses[cnf.count++] = *timed->clause;
    }
    for (size_t i = 0; i < cnf.count; i++)
        cnf.literals += clauses[i].count;
    *ret_cnf = cnf;
}

static int create_search(struct esi_live_part *part,
                         struct esi_live_support *support,
                         struct es_error *error)
{
    struct esi_clause *clauses = calloc(
        support->weak.certain_count + support->strong.timed_count + 1, sizeof *clauses);
    struct esi_cnf searched;
    struct esi_indexed_config config = {
        .program = part->program,
        .support = (uint32_t)(support - part->supports),
        .cnf = &searched,
        .domains = part->domains,
        .counted = part->counted,
        .order = part->live->order,
        /* What is decided by the values of hidden variables may come out otherwise for
         * others of them. */
        .all_witnesses = support->strong.timed_count > 0 ||
                         support->support->lesser_count > 0 ||
                         support->support->universal != 0,
    };

    int result;

    if (!clauses)
        return -ENOMEM;
    list_searched(support, clauses, &searched);
    result = esi_indexed_create(&config, &support->search, error);
    free(clauses);
    return result;
}

/* Without counts and lesser supports only the end makes a match of a candidate: what is
 * not safe stays so. */
static bool is_lazy(const struct esi_live_support *support)
{
    for (size_t i = 0; i < support->strong.timed_count; i++)
        if (support->strong.timed[i].counts)
            return false;
    return support->support->lesser_count == 0;
}

/* Variables before which another one has to be: what just came is before nothing. */
static uint64_t never_last(const struct esi_live_part *part,
                           const struct esi_live_form *form)
{
    uint64_t variables = 0;

    for (size_t i = 0; i < form->certain_count; i++) {
        const struct esi_literal *literal = form->certain[i].literals;

        if (form->certain[i].count == 1 && literal->kind == ES_LITERAL_BEFORE &&
            !literal->is_negated && esi_program_is_prompt(part->program, literal->x))
            variables |= esi_program_bit(literal->x);
    }
    return variables;
}

static int create_support(struct esi_live_part *part,
                          uint32_t number,
                          struct es_error *error)
{
    struct esi_live_support *support = &part->supports[number];
    int result;

    support->support = &part->program->supports[number];
    result = esi_live_form_create(part, support, support->support->universal,
                                  &support->weak, error);
    if (result == 0)
        result = esi_live_form_create(part, support, 0, &support->strong, error);
    if (result < 0)
        return result;
    support->is_lazy = is_lazy(support);
    support->never_last = never_last(part, &support->weak);
    if (result == 0 && support->support->variables != 0)
        result = create_search(part, support, error);
    return result;
}

int esi_live_part_create(struct esi_live *live,
                         uint32_t predicate,
                         struct esi_program *program,
                         struct esi_live_part **ret_part,
                         struct es_error *error)
{
    struct esi_live_part *part = calloc(1, sizeof *part);
    int result;

    if (!part) {
        esi_program_destroy(program);
        return -ENOMEM;
    }
    part->live = live;
    part->predicate = predicate;
    part->program = program;
    part->seen.limit = live->config.kept_matches;
    part->supports = calloc(program->support_count + 1u, sizeof *part->supports);
    result = part->supports ? find_domains(part) : -ENOMEM;
    for (uint32_t i = 0; result == 0 && i < program->support_count; i++)
        result = create_support(part, i, error);
    if (result < 0) {
        esi_live_part_destroy(part);
        return result;
    }
    *ret_part = part;
    return 0;
}

void esi_live_part_destroy(struct esi_live_part *part)
{
    if (!part)
        return;
    for (uint32_t i = 0; part->supports && i < part->program->support_count; i++) {
        esi_indexed_destroy(part->supports[i].search);
        esi_live_form_fini(&part->supports[i].weak);
        esi_live_form_fini(&part->supports[i].strong);
        esi_live_form_fini(&part->supports[i].now);
    }
    esi_live_candidates_fini(part);
    esi_seen_fini(&part->seen);
    esi_domain_destroy(part->sets);
    esi_program_destroy(part->program);
    esi_event_list_fini(&part->events);
    esi_formula_check_fini(&part->check);
    free(part->supports);
    free(part->domains);
    free(part->counted);
    free(part);
}

/* --- Telling ---------------------------------------------------------------------- */

/* The events that are returned, into part->events.  0 or -ENOMEM. */
static int collect_events(struct esi_live_part *part, uint64_t variables)
{
    part->events.count = 0;
    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        const struct esi_formula_binding *binding = &part->check.bindings[v];
        if (part->program->variables[v].is_returned &&
            esi_event_list_add(&part->events, binding->events, binding->count) < 0)
            return -ENOMEM;
    }
    esi_event_list_sort(&part->events);
    return 0;
}

/* A match becomes a value of other predicates. */
static int add_value(struct esi_live_part *part)
{
    struct esi_joined joined = {.class_number = ES_PATTERN_NONE,
                                .predicate = part->predicate,
                                .set = (uint32_t)esi_domain_count(part->sets)};
    int result =
        esi_domain_add_set(part->sets, part->events.events, part->events.count);

    return result < 0 ? result : esi_live_push(part->live, &joined);
}

static int emit_match(struct esi_live_part *part)
{
    int result =
        part->sink->match(part->sink->data, part->events.events, part->events.count);

    part->matches++;
    part->has_enough = result > 0;
    return result < 0 ? result : 0;
}

int esi_live_part_tell(struct esi_live_part *part, uint64_t variables)
{
    int result = collect_events(part, variables);

    if (result < 0)
        return result;
    result = esi_seen_add(&part->seen, part->events.events, part->events.count);
    if (result <= 0)
        return result;
    result = part->is_value ? add_value(part) : 0;
    if (result == 0 && part->sink && !part->has_enough)
        result = emit_match(part);
    return result;
}

/* --- Searching -------------------------------------------------------------------- */

struct live_search {
    struct esi_live_part *part;
    uint32_t support;
};

/* Assignments with a value that waits behind the one searched for are found again when
 * its turn has come. */
static bool is_for_later(const struct esi_live_part *part, uint64_t variables)
{
    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        const struct esi_program_variable *variable = &part->program->variables[v];
        const struct esi_formula_binding *binding = &part->check.bindings[v];

        if (variable->class_number == ES_PATTERN_NONE
                ? binding->value.position >=
                      part->live->parts[variable->predicate]->processed
                : esi_live_is_pending(part->live, variable->class_number, binding->one))
            return true;
    }
    return false;
}

static int take_value(void *data, const struct esi_domain_value *values)
{
    const struct live_search *search = data;
    struct esi_live_part *part = search->part;
    uint64_t variables = part->supports[search->support].support->variables;

    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        esi_live_bind(part, v, values[v]);
    }
    return is_for_later(part, variables) ? 0 : esi_live_found(part, search->support);
}

/* Whether one of the events that `value` names is a value of `sender`. */
static bool names_one_of(struct esi_live_part *part,
                         uint32_t variable,
                         struct esi_domain_value value,
                         uint32_t sender)
{
    const struct es_event_id *partners;
    size_t count = esi_domain_partners(part->domains[variable], value, &partners);
    struct esi_domain_value found;

    for (size_t i = 0; i < count; i++) {
        if (esi_domain_find(part->domains[sender], partners[i], &found))
            return true;
        part->live->missed_sends += esi_live_is_gone(
            part->live, part->program->variables[sender].class_number, partners[i]);
    }
    return false;
}

/* Whether an event that just came is received by a value of `receiver`: only the other
 * half of a sync can name it. */
static bool is_named_by(const struct esi_live_part *part,
                        uint32_t variable,
                        struct esi_domain_value value,
                        uint32_t receiver)
{
    const struct es_event_id *partners;
    size_t count = esi_domain_partners(part->domains[variable], value, &partners);
    struct esi_domain_value found;

    for (size_t i = 0; i < count; i++)
        if (esi_domain_find(part->domains[receiver], partners[i], &found) &&
            esi_domain_is_received(part->domains[variable], value,
                                   part->domains[receiver], found))
            return true;
    return false;
}

/* Most receives name no send that is asked for, and sends are not received yet: that
 * is told without a search. */
static bool can_match(struct esi_live_part *part,
                      const struct esi_live_support *support,
                      uint32_t variable,
                      struct esi_domain_value value)
{
    for (size_t i = 0; i < support->weak.certain_count; i++) {
        const struct esi_clause *clause = &support->weak.certain[i];
        const struct esi_literal *literal = clause->literals;

        if (clause->count != 1 || literal->kind != ES_LITERAL_RECEIVED ||
            literal->is_negated)
            continue;
        if (literal->y == variable && esi_domain_is_single(part->domains[literal->x]) &&
            !names_one_of(part, variable, value, literal->x))
            return false;
        if (literal->x == variable && esi_program_is_prompt(part->program, variable) &&
            esi_domain_is_single(part->domains[literal->y]) &&
            !is_named_by(part, variable, value, literal->y))
            return false;
    }
    return true;
}

/* With the value in place of each of the variables that take it, and not before it in
 * those of less number: so each assignment is found once. */
static int search_support(struct esi_live_part *part,
                          uint32_t number,
                          const struct esi_joined *joined)
{
    const struct esi_live_support *support = &part->supports[number];
    struct live_search search = {part, number};
    uint64_t excluded = 0;
    int result = 0;

    for (uint64_t left = support->support->variables; left && result == 0;
         left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        const struct esi_program_variable *variable = &part->program->variables[v];
        struct esi_domain_value value = {0, joined->set};

        if (!esi_joined_is_of(joined, variable->class_number, variable->predicate) ||
            (joined->class_number != ES_PATTERN_NONE &&
             !esi_domain_find(part->domains[v], joined->id, &value)))
            continue;
        if (!(support->never_last >> v & 1) && can_match(part, support, v, value))
            result = esi_indexed_pinned(support->search, v, value, excluded, take_value,
                                        &search);
        excluded |= UINT64_C(1) << v;
    }
    return result;
}

/* Universal variables that have no value before this one. */
static void note_values(struct esi_live_part *part, const struct esi_joined *joined)
{
    part->has_changed = false;
    for (uint64_t left = part->empty; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        const struct esi_program_variable *variable = &part->program->variables[v];
        if (!esi_joined_is_of(joined, variable->class_number, variable->predicate))
            continue;
        part->empty &= ~(UINT64_C(1) << v);
        part->has_changed = true;
    }
}

/* The event that came last, if that is what joined, and nothing waits behind it. */
static struct es_event_id newest_event(const struct esi_live_part *part,
                                       const struct esi_joined *joined)
{
    const struct esi_live *live = part->live;

    return joined->class_number != ES_PATTERN_NONE &&
                   live->queue_from == live->queue_count &&
                   esi_pattern_class(live->file, joined->class_number)->partner_count ==
                       0
               ? joined->id
               : (struct es_event_id){0, 0};
}

int esi_live_part_joined(struct esi_live_part *part, const struct esi_joined *joined)
{
    int result = 0;

    if (part->has_enough && !part->is_value)
        return 0;
    note_values(part, joined);
    part->check.newest = newest_event(part, joined);
    result = esi_live_candidates_update(part, joined);
    for (uint32_t i = 0; result == 0 && i < part->program->support_count; i++)
        if (part->supports[i].support->variables != 0)
            result = search_support(part, i, joined);
    part->check.newest = (struct es_event_id){0, 0};
    return result < 0 ? result : part->failure;
}

int esi_live_part_begin(struct esi_live_part *part)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < part->program->support_count; i++) {
        struct esi_live_support *support = &part->supports[i];
        if (support->support->variables == 0 &&
            esi_live_support_status(part, support, false, false) != ESI_LIVE_FAILS)
            result = esi_live_found(part, i);
    }
    return result < 0 ? result : part->failure;
}
