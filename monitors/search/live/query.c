/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* query.c - the live search of one predicate. */
#include "config.h"

#include "monitors/search/live/live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/matches_proof.h"

/* --- Creation --------------------------------------------------------------------- */

/* The domain of a class, or of a predicate, which has a query. */
static const struct esi_domain *domain_of(const struct esi_live *live,
                                          uint32_t class_number,
                                          uint32_t predicate)
{
    if (class_number != ES_PATTERN_NONE)
        return esi_domains_class(live->domains, class_number);
    for (uint32_t q = 0; q < live->query_count; q++)
        if (live->queries[q]->program->predicate == predicate)
            return live->queries[q]->sets;
    return NULL;
}

static void note_use(struct esi_live_query *query,
                     const struct esi_domain *domain,
                     uint64_t variable)
{
    uint32_t i = 0;

    while (i < query->use_count && query->uses[i].domain != domain)
        i++;
    query->uses[i].domain = domain;
    query->uses[i].variables |= variable;
    query->use_count += i == query->use_count;
}

static int find_domains(struct esi_live_query *query)
{
    const struct esi_program *program = query->program;

    query->domains = calloc(program->variable_count + 1u, sizeof *query->domains);
    query->counted = calloc(program->atom_count + 1u, sizeof *query->counted);
    query->uses =
        calloc(program->variable_count + program->atom_count + 1u, sizeof *query->uses);
    if (!query->domains || !query->counted || !query->uses)
        return -ENOMEM;
    query->assignment.check =
        (struct esi_formula_check){.program = program,
                                   .domains = query->domains,
                                   .counted = query->counted,
                                   .precedence = &query->live->precedence};
    query->assignment.universal = query->assignment.empty =
        esi_program_universal(program);
    for (uint32_t v = 0; v < program->variable_count; v++) {
        query->domains[v] = domain_of(query->live, program->variables[v].class_number,
                                      program->variables[v].predicate);
        note_use(query, query->domains[v], esi_program_bit(v));
        if (program->variables[v].is_returned)
            query->returned |= esi_program_bit(v);
    }
    for (uint32_t a = 0; a < program->atom_count; a++)
        if (program->atoms[a].kind == ES_ATOM_COUNT) {
            query->candidates.has_counts = true;
            query->counted[a] = domain_of(query->live, program->atoms[a].counted,
                                          program->atoms[a].counted_predicate);
            note_use(query, query->counted[a], 0);
        }
    return esi_formula_check_init(&query->assignment.check);
}

/* Whether to search by a timed clause.  If its universal variable is the only one, a
 * clause that fails now fails forever, because the variable then has values; and if
 * later values cannot make it fail, the search may use it.  Clauses about a single
 * existential variable are decided as fast afterwards. */
static bool is_searched(const struct esi_live_condition *condition,
                        const struct esi_timed_clause *timed)
{
    const struct esi_clause *clause = timed->clause;
    uint64_t universal = condition->disjunct->universal;

    if (!timed->is_safe || timed->counts || universal & (universal - 1) ||
        !(clause->existential & (clause->existential - 1)))
        return false;
    for (size_t i = 0; i < clause->count; i++)
        if (clause->literals[i].kind != ES_LITERAL_BEFORE &&
            clause->literals[i].kind != ES_LITERAL_EQUAL)
            return false;
    return true;
}

/* Whether a clause requires only that one event received another one. */
static bool is_received(const struct esi_clause *clause)
{
    return clause->count == 1 && clause->literals->kind == ES_LITERAL_RECEIVED &&
           !clause->literals->is_negated;
}

/* Lists the clauses to search by; `clauses` has room for all. */
static void list_searched(struct esi_live_condition *condition,
                          struct esi_clause *clauses,
                          struct esi_cnf *ret_cnf)
{
    struct esi_cnf cnf = {.clauses = clauses};

    for (size_t i = 0; i < condition->weak.certain_count; i++)
        clauses[cnf.count++] = condition->weak.certain[i];
    for (size_t i = 0; i < condition->strong.timed_count; i++) {
        struct esi_timed_clause *timed = &condition->strong.timed[i];

        timed->is_searched = is_searched(condition, timed);
        if (timed->is_searched)
            clauses[cnf.count++] = *timed->clause;
    }
    for (size_t i = 0; i < cnf.count; i++)
        cnf.literals += clauses[i].count;
    *ret_cnf = cnf;
}

static int create_search(struct esi_live_query *query,
                         struct esi_live_disjunct *disjunct,
                         struct es_error *error)
{
    struct esi_live_condition *condition = &disjunct->condition;
    struct esi_clause *clauses =
        calloc(condition->weak.certain_count + condition->strong.timed_count + 1,
               sizeof *clauses);
    struct esi_cnf searched;
    struct esi_indexed_config config = {
        .program = query->program,
        .disjunct = condition->number,
        .cnf = &searched,
        .domains = query->domains,
        .counted = query->counted,
        .order = query->live->order,
        .stamps = &query->live->stamps,
        /* The result may depend on the values of hidden variables, so all of them are
         * needed. */
        .all_witnesses = condition->strong.timed_count > 0 ||
                         condition->disjunct->lesser_count > 0 ||
                         condition->disjunct->universal != 0,
    };
    int result;

    if (!clauses)
        return -ENOMEM;
    list_searched(condition, clauses, &searched);
    result = esi_indexed_create(&config, &disjunct->search, error);
    free(clauses);
    return result;
}

/* Without counts and lesser disjuncts only the end can confirm a candidate, because
 * clauses that are not safe stay so. */
static bool is_lazy(const struct esi_live_condition *condition)
{
    for (size_t i = 0; i < condition->strong.timed_count; i++)
        if (condition->strong.timed[i].counts)
            return false;
    return condition->disjunct->lesser_count == 0;
}

/* The variables of clauses `x => y`. */
static uint64_t partnered_of(const struct esi_live_condition *condition)
{
    uint64_t partnered = 0;

    for (size_t i = 0; i < condition->weak.certain_count; i++)
        if (is_received(&condition->weak.certain[i]))
            partnered |= condition->weak.certain[i].literals->variables;
    return partnered;
}

static int init_disjunct(struct esi_live_query *query,
                         uint32_t number,
                         struct es_error *error)
{
    struct esi_live_disjunct *disjunct = &query->disjuncts[number];
    int result = esi_live_condition_init(&query->assignment, number,
                                         &disjunct->condition, error);

    if (result < 0)
        return result;
    disjunct->is_lazy = is_lazy(&disjunct->condition);
    disjunct->is_decided = disjunct->condition.strong.more_count == 0 &&
                           disjunct->condition.strong.timed_count == 0 &&
                           disjunct->condition.weak.empty == 0 &&
                           disjunct->condition.disjunct->lesser_count == 0;
    if (!disjunct->condition.disjunct->variables)
        return 0;
    disjunct->partnered = partnered_of(&disjunct->condition);
    result = create_search(query, disjunct, error);
    if (result == 0)
        disjunct->never_last = esi_indexed_never_last(disjunct->search);
    return result;
}

int esi_live_query_create(struct esi_live *live,
                          struct esi_program *program,
                          bool is_value,
                          struct esi_live_query **ret_query,
                          struct es_error *error)
{
    struct esi_live_query *query = calloc(1, sizeof *query);
    int result;

    if (!query) {
        esi_program_destroy(program);
        return -ENOMEM;
    }
    query->live = live;
    query->program = program;
    query->seen.limit = live->config.kept_matches;
    query->disjuncts = calloc(program->disjunct_count + 1u, sizeof *query->disjuncts);
    result = query->disjuncts ? find_domains(query) : -ENOMEM;
    for (uint32_t i = 0; result == 0 && i < program->disjunct_count; i++)
        result = init_disjunct(query, i, error);
    if (result == 0 && is_value)
        result = esi_domain_create_sets(live->domains, &query->sets);
    if (result < 0) {
        esi_live_query_destroy(query);
        return result;
    }
    *ret_query = query;
    return 0;
}

void esi_live_query_destroy(struct esi_live_query *query)
{
    if (!query)
        return;
    for (uint32_t i = 0; query->disjuncts && i < query->program->disjunct_count; i++) {
        esi_indexed_destroy(query->disjuncts[i].search);
        esi_live_condition_fini(&query->disjuncts[i].condition);
    }
    esi_live_candidates_fini(query);
    esi_seen_fini(&query->seen);
    esi_domain_destroy(query->sets);
    esi_program_destroy(query->program);
    esi_event_list_fini(&query->events);
    esi_formula_check_fini(&query->assignment.check);
    free(query->disjuncts);
    free(query->domains);
    free(query->counted);
    free(query->uses);
    free(query);
}

/* --- Reporting -------------------------------------------------------------------- */

/* Inserts an event at its place in a set that has room for it. */
static void insert_event(struct esi_event_list *set, struct es_event_id event)
{
    size_t at = set->count;

    while (at > 0 && esi_event_compare(set->events[at - 1], event) > 0)
        at--;
    if (at > 0 && esi_event_is(set->events[at - 1], event))
        return;
    for (size_t i = set->count++; i > at; i--)
        set->events[i] = set->events[i - 1];
    set->events[at] = event;
}

/* Collects the returned events in query->events.  Returns 0 or -ENOMEM. */
static int collect_events(struct esi_live_query *query, uint64_t variables)
{
    struct esi_event_list *events = &query->events;
    uint64_t returned = variables & query->returned;
    bool is_sorted = true;

    events->count = 0;
    if (ESI_ARRAY_RESERVE(events->events, events->capacity,
                          query->program->variable_count) < 0)
        return -ENOMEM;
    for (uint64_t left = returned; left; left &= left - 1) {
        const struct esi_formula_binding *binding =
            &query->assignment.check.bindings[__builtin_ctzll(left)];

        is_sorted &= binding->count == 1;
        if (is_sorted)
            insert_event(events, binding->events[0]);
        else if (esi_event_list_add(events, binding->events, binding->count) < 0)
            return -ENOMEM;
    }
    if (!is_sorted)
        esi_event_list_sort(events);
    return 0;
}

/* Adds a match to the values for other predicates. */
static int add_value(struct esi_live_query *query)
{
    const struct esi_joined joined = {
        .domain = query->sets,
        .id = {ES_PATTERN_NONE, (uint32_t)esi_domain_count(query->sets)},
    };
    int result =
        esi_domain_add_set(query->sets, query->events.events, query->events.count);

    return result < 0 ? result : esi_live_push(query->live, &joined);
}

static int emit_match(struct esi_live_query *query)
{
    int result =
        query->sink.match(query->sink.data, query->events.events, query->events.count);

    query->matches++;
    query->has_enough = result > 0;
    return result < 0 ? result : 0;
}

/* The events of a match never change, so a match reported once cannot recur, whatever
 * is proved about later ones.  Matches of a single event are always remembered, because
 * retention.c queries them. */
static bool is_emitted_once(struct esi_live_query *query)
{
    const struct esi_domains *domains = query->live->domains;
    uint64_t now = esi_domains_meetings(domains) + 1;

    if (query->proved_at != now) {
        query->proved_at = now;
        query->is_emitted_once =
            esi_matches_prove(query->program, query->domains, domains)
                .are_sets_distinct;
    }
    return query->is_emitted_once && query->events.count > 1;
}

int esi_live_query_emit(struct esi_live_query *query, uint64_t variables)
{
    int result = collect_events(query, variables);

    if (result < 0)
        return result;
    result = is_emitted_once(query) ? 1
                                    : esi_seen_add(&query->seen, query->events.events,
                                                   query->events.count);
    if (result <= 0)
        return result;
    result = query->sets ? add_value(query) : 0;
    if (result == 0 && query->sink.match && !query->has_enough)
        result = emit_match(query);
    return result;
}

/* --- Searching -------------------------------------------------------------------- */

struct disjunct_search {
    struct esi_live_query *query;
    uint32_t disjunct;
};

struct es_event_id esi_live_query_id(const struct esi_live_query *query,
                                     uint32_t variable)
{
    const struct esi_formula_binding *binding =
        &query->assignment.check.bindings[variable];

    return esi_domain_is_single(query->domains[variable])
               ? binding->one
               : (struct es_event_id){ES_PATTERN_NONE, binding->value.position};
}

/* Whether a value of the assignment is still in the queue; then the assignment is found
 * again when its turn comes. */
static bool is_for_later(const struct esi_live_query *query, uint64_t variables)
{
    const struct esi_joined_queue *queue = &query->live->queue;

    for (uint64_t left = queue->from < queue->count ? variables : 0; left;
         left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);

        if (esi_live_is_pending(query->live, query->domains[v],
                                esi_live_query_id(query, v)))
            return true;
    }
    return false;
}

static void bind_value(struct esi_live_query *query,
                       uint32_t v,
                       struct esi_domain_value value)
{
    struct esi_formula_check *check = &query->assignment.check;
    const struct esi_domain *domain = query->domains[v];
    struct esi_domain_column column;

    if (!domain->is_single) {
        esi_formula_check_bind(check, v, value);
        return;
    }
    column = esi_domain_column_at(domain, value.slot);
    esi_formula_check_bind_event(
        check, v, value,
        (struct es_event_id){column.trace, column.indexes[value.position]});
}

static int on_assignment(void *data, const struct esi_domain_value *values)
{
    const struct disjunct_search *search = data;
    struct esi_live_query *query = search->query;
    uint64_t variables =
        query->disjuncts[search->disjunct].condition.disjunct->variables;

    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        bind_value(query, v, values[v]);
    }
    return is_for_later(query, variables)
               ? 0
               : esi_live_candidates_add(query, search->disjunct);
}

/* Whether one of the partners of `value` is a value of `other`: a send that it
 * received, or the half of a sync that received it. */
static bool has_partner(struct esi_live_query *query,
                        uint32_t variable,
                        struct esi_domain_value value,
                        uint32_t other,
                        bool is_send)
{
    const struct es_event_id *partners;
    size_t count = esi_domain_partners(query->domains[variable], value, &partners);
    struct esi_domain_value found;

    for (size_t i = 0; i < count; i++) {
        bool is_there = esi_domain_find(query->domains[other], partners[i], &found);

        if (is_there &&
            (is_send || esi_domain_is_received(query->domains[variable], value,
                                               query->domains[other], found)))
            return true;
        if (is_send)
            esi_live_retention_note_missing(
                query->live, query->program->variables[other].class_number,
                partners[i]);
    }
    return false;
}

/* Most receives name no send of interest, and most sends have not been received yet;
 * both are known without a search. */
static bool can_match(struct esi_live_query *query,
                      const struct esi_live_disjunct *disjunct,
                      uint32_t variable,
                      struct esi_domain_value value)
{
    for (size_t i = 0; i < disjunct->condition.weak.certain_count; i++) {
        const struct esi_clause *clause = &disjunct->condition.weak.certain[i];
        const struct esi_literal *literal = clause->literals;

        if (!is_received(clause))
            continue;
        if (literal->y == variable &&
            esi_domain_is_single(query->domains[literal->x]) &&
            !has_partner(query, variable, value, literal->x, true))
            return false;
        if (literal->x == variable && esi_program_is_prompt(query->program, variable) &&
            esi_domain_is_single(query->domains[literal->y]) &&
            !has_partner(query, variable, value, literal->y, false))
            return false;
    }
    return true;
}

/* Searches with the value in each variable that can take it, excluding it from those
 * with lower numbers, so that each assignment is found once. */
static int search_disjunct(struct esi_live_query *query,
                           uint32_t number,
                           const struct esi_live_use *use,
                           const struct esi_joined *joined)
{
    const struct esi_live_disjunct *disjunct = &query->disjuncts[number];
    struct disjunct_search search = {query, number};
    uint64_t excluded = 0;
    int result = 0;

    for (uint64_t left = disjunct->condition.disjunct->variables & use->variables;
         left && result == 0; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);

        if (!(disjunct->never_last & esi_program_bit(v)) &&
            (!(disjunct->partnered & esi_program_bit(v)) ||
             can_match(query, disjunct, v, joined->value)))
            result = esi_indexed_pinned(disjunct->search, v, joined->value, excluded,
                                        on_assignment, &search);
        excluded |= esi_program_bit(v);
    }
    return result;
}

int esi_live_query_joined(struct esi_live_query *query,
                          const struct esi_live_use *use,
                          const struct esi_joined *joined)
{
    const struct esi_joined_queue *queue = &query->live->queue;
    struct esi_formula_check *check = &query->assignment.check;
    int result = 0;

    if (query->has_enough && !query->sets)
        return 0;
    esi_live_assignment_note(&query->assignment, joined);
    /* The value is the newest event if the queue is empty. */
    if (joined->is_prompt && queue->from == queue->count)
        check->newest = joined->id;
    if (query->candidates.count > 0)
        result = esi_live_candidates_update(query, joined);
    for (uint32_t i = 0; use && result == 0 && i < query->program->disjunct_count; i++)
        if (query->disjuncts[i].search)
            result = search_disjunct(query, i, use, joined);
    check->newest = (struct es_event_id){0, 0};
    return result < 0 ? result : check->failure;
}

int esi_live_query_begin(struct esi_live_query *query)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < query->program->disjunct_count; i++)
        if (!query->disjuncts[i].search &&
            esi_live_condition_truth(&query->assignment, &query->disjuncts[i].condition,
                                     false, false) != ES_FORMULA_FAILS)
            result = esi_live_candidates_add(query, i);
    return result < 0 ? result : query->assignment.check.failure;
}
