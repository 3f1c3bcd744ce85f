/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * retention.c - which events a live search drops.
 *
 * A match that contains an event can only be completed by a later event.  If no later
 * event can have the relations to it that all disjuncts require, the event can be
 * dropped:
 * - at once, if the other event must be before it, equal to it, or its send;
 * - once it is settled, if the other event must not be after it; an event is settled
 *   when it precedes the newest event of each trace, so that all later arrivals are
 *   after it;
 * - once time has passed, if a time limit applies to both;
 * - once it is refused: in `A -(C)-> B` no later B can follow an event before a
 *   settled C.  When all of these are dropped, nothing is before that C, and it is
 *   dropped, too;
 * - once it was reported, if it is all that a match returns.
 * Sends that wait for their receives are kept as long as there is room.  Events of
 * universal and counted variables, and those that are evaluated again while a match
 * waits, are kept, unless all about them is known on their arrival; so are the events
 * of matches that become values later.  Beyond the limit the oldest events are evicted.
 */
#include "config.h"

#include "monitors/search/live/retention.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/domains/event_value.h"
#include "monitors/search/live/live_private.h"

enum { COLUMN_MIN = 64 };

/* When an event of a class can be dropped. */
struct retention_rule {
    const struct esi_domain *domain; /* borrowed; NULL if no query uses the class */
    bool is_kept;                    /* never */
    bool is_awaited; /* kept until it is received, possibly by a later event */
    bool is_settled;
    bool is_timed;
    bool is_refused;  /* once a value of `refuser` is between it and all later events */
    uint32_t refuser; /* class */
    const struct esi_live_query *emitted_by; /* once reported, if it is all that a
                                                match of this query returns; NULL:
                                                irrelevant */
    uint64_t within_ns;
};

/* The state of the events of a class on a trace. */
struct retention_mark {
    uint32_t gone;    /* awaited events up to here may have been dropped */
    uint32_t refused; /* events up to here are refused */
};

static struct retention_mark *mark_of(const struct esi_live_retention *retention,
                                      uint32_t trace,
                                      uint32_t class_number)
{
    return &retention->marks[(size_t)trace * retention->class_count + class_number];
}

/* --- Limits ----------------------------------------------------------------------- */

/* "No value of `between` is between `first` and `last`", as in `A -(C)-> B`; all are
 * single events that join on arrival. */
struct limit {
    uint32_t first;
    uint32_t between; /* universal */
    uint32_t last;
};

static bool is_negated_before(const struct esi_literal *literal)
{
    return literal->kind == ES_LITERAL_BEFORE && literal->is_negated;
}

/* Whether a clause of a condition that is searched by states such a limit. */
static bool find_limit(const struct esi_live_query *query,
                       const struct esi_timed_clause *timed,
                       struct limit *ret_limit)
{
    const struct esi_literal *literals = timed->clause->literals;
    struct limit limit;
    unsigned into;

    if (!timed->is_searched || timed->clause->count != 2 ||
        !is_negated_before(&literals[0]) || !is_negated_before(&literals[1]))
        return false;
    into = literals[0].y == literals[1].x ? 0 : 1;
    limit = (struct limit){literals[into].x, literals[into].y, literals[1 - into].y};
    if (literals[1 - into].x != limit.between ||
        timed->clause->universal != esi_program_bit(limit.between) ||
        !esi_program_is_prompt(query->program, limit.first) ||
        !esi_program_is_prompt(query->program, limit.between) ||
        !esi_program_is_prompt(query->program, limit.last))
        return false;
    *ret_limit = limit;
    return true;
}

/* Whether a universal variable occurs only in such limits. */
static bool has_only_limits(const struct esi_live_query *query, uint32_t variable)
{
    for (uint32_t i = 0; i < query->program->disjunct_count; i++) {
        const struct esi_live_form *form = &query->disjuncts[i].condition.strong;
        struct limit limit;

        for (size_t k = 0; k < form->timed_count; k++)
            if (form->timed[k].clause->universal & esi_program_bit(variable) &&
                !find_limit(query, &form->timed[k], &limit))
                return false;
    }
    return true;
}

/* --- Rules ------------------------------------------------------------------------ */

enum { AT_ONCE = 1, SETTLED = 2, TIMED = 4, AWAITED = 8, REFUSED = 16 };

/* What is known of the relations of each two variables of a disjunct. */
struct relations {
    /* [v][w]: ways in which w allows v to be dropped */
    uint8_t of[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES];
    uint64_t before[ES_PROGRAM_VARIABLES]; /* bit w of v: v --> w */
    uint64_t within[ES_PROGRAM_VARIABLES];
    uint32_t refuser[ES_PROGRAM_VARIABLES]; /* class, for REFUSED */
};

static void relate_variables(struct relations *relations,
                             const struct esi_program *program,
                             const struct esi_literal *literal)
{
    uint32_t x = literal->x, y = literal->y;

    switch (literal->kind) {
    case ES_LITERAL_BEFORE:
        if (literal->is_negated)
            relations->of[x][y] |= SETTLED;
        else
            relations->before[x] |= esi_program_bit(y);
        break;
    case ES_LITERAL_EQUAL:
        if (!literal->is_negated)
            relations->of[x][y] |= AT_ONCE, relations->of[y][x] |= AT_ONCE;
        break;
    case ES_LITERAL_RECEIVED:
        if (!literal->is_negated)
            relations->of[y][x] |= AT_ONCE, relations->of[x][y] |= AWAITED;
        break;
    case ES_LITERAL_NEAR:
        if (!literal->is_negated && x != y) {
            uint64_t within = (uint64_t)program->atoms[literal->atom].node->within_ns;
            relations->of[x][y] |= TIMED, relations->of[y][x] |= TIMED;
            if (within > relations->within[x])
                relations->within[x] = within;
            if (within > relations->within[y])
                relations->within[y] = within;
        }
        break;
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
    case ES_LITERAL_FORMULA:
    case ES_LITERAL_RELATION:
        break;
    }
}

/* Adds the transitive relations between single events. */
static void close_before(const struct esi_live_query *query,
                         struct relations *relations)
{
    uint32_t count = query->program->variable_count;

    for (uint32_t k = 0; k < count; k++)
        for (uint32_t v = 0; esi_program_is_single(query->program, k) && v < count; v++)
            if (esi_program_is_single(query->program, v) &&
                relations->before[v] >> k & 1)
                for (uint32_t w = 0; w < count; w++)
                    if (esi_program_is_single(query->program, w) &&
                        relations->before[k] >> w & 1)
                        relations->before[v] |= esi_program_bit(w);
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t w = 0; w < count; w++)
            if (relations->before[v] >> w & 1)
                relations->of[w][v] |= AT_ONCE;
}

static void demand_refuser(struct retention_rule *rule, uint32_t refuser)
{
    /* An event refused by two classes would have to wait for both, which is not
     * supported. */
    if (rule->is_refused && rule->refuser != refuser)
        rule->is_kept = true;
    rule->is_refused = true;
    rule->refuser = refuser;
}

/* Restricts a rule by the needs of one variable of a disjunct. */
static void demand_event(const struct esi_live_query *query,
                         const struct relations *relations,
                         uint64_t variables,
                         uint32_t v,
                         struct retention_rule *rule)
{
    for (uint64_t left = variables & ~esi_program_bit(v); left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        uint8_t way = relations->of[v][w];

        if (!esi_program_is_prompt(query->program, w) || way == 0) {
            rule->is_kept = true;
            return;
        }
        if (way & AT_ONCE)
            continue;
        if (way & TIMED) {
            rule->is_timed = true;
            if (relations->within[v] > rule->within_ns)
                rule->within_ns = relations->within[v];
        } else if (way & SETTLED) {
            rule->is_settled = true;
        } else if (way & AWAITED) {
            rule->is_awaited = true;
        } else {
            demand_refuser(rule, relations->refuser[v]);
        }
    }
}

/* Whether v's event is all that each match with it returns. */
static bool is_returned_alone(const struct esi_live_query *query, uint32_t v)
{
    for (uint32_t w = 0; w < query->program->variable_count; w++)
        if (query->program->variables[w].is_returned != (w == v))
            return false;
    return true;
}

/* An event that would be reported repeatedly may be dropped after the first report. */
static void demand_once(const struct esi_live_query *query,
                        const struct relations *relations,
                        uint64_t variables,
                        uint32_t v,
                        struct retention_rule *rule)
{
    struct retention_rule own = {.is_kept = false};

    demand_event(query, relations, variables, v, &own);
    if (!own.is_kept || !is_returned_alone(query, v)) {
        demand_event(query, relations, variables, v, rule);
        return;
    }
    rule->is_kept |= rule->emitted_by && rule->emitted_by != query;
    rule->emitted_by = query;
}

static void rule_disjunct(const struct esi_live_query *query,
                          const struct esi_live_condition *condition,
                          struct retention_rule *rules)
{
    struct relations relations = {.before = {0}};
    uint64_t variables = condition->disjunct->variables;

    for (size_t i = 0; i < condition->weak.certain_count; i++)
        if (condition->weak.certain[i].count == 1)
            relate_variables(&relations, query->program,
                             &condition->weak.certain[i].literals[0]);
    close_before(query, &relations);
    for (size_t i = 0; i < condition->strong.timed_count; i++) {
        struct limit limit;
        if (!find_limit(query, &condition->strong.timed[i], &limit))
            continue;
        relations.of[limit.first][limit.last] |= REFUSED;
        relations.refuser[limit.first] =
            query->program->variables[limit.between].class_number;
    }
    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        if (esi_program_is_single(query->program, v))
            demand_once(query, &relations, variables, v,
                        &rules[query->program->variables[v].class_number]);
    }
}

/* Ways in which counted values may be dropped.  If the count concerns only one
 * variable, and the match has no other, the count of earlier events is known when its
 * event arrives: they are only needed once. */
static uint8_t way_of_counted(const struct esi_live_query *query,
                              const struct esi_atom *atom)
{
    const struct esi_program *program = query->program;
    uint32_t v = atom->left ? (uint32_t)__builtin_ctzll(atom->left) : 0;

    if (atom->is_negated || atom->left == 0 || atom->left & (atom->left - 1) ||
        atom->left & query->assignment.universal ||
        !esi_program_is_prompt(program, v) ||
        esi_pattern_class(program->file, atom->counted)->partner_count > 0)
        return 0;
    for (uint32_t i = 0; i < program->disjunct_count; i++)
        if (program->disjuncts[i].variables & atom->left &&
            program->disjuncts[i].variables != atom->left)
            return 0;
    if (atom->op == ES_OPERATOR_CONCURRENT)
        return SETTLED;
    return atom->op == ES_OPERATOR_BEFORE && !atom->is_reversed ? AT_ONCE : 0;
}

/* Whether its matches are part of other predicates' matches, which are values in
 * turn. */
static bool is_in_values(const struct esi_live_query *query)
{
    const struct esi_live *live = query->live;

    for (uint32_t q = 0; q < live->query_count; q++) {
        const struct esi_live_query *user = live->queries[q];

        for (uint32_t v = 0; user->sets && v < user->program->variable_count; v++)
            if (user->domains[v] == query->sets)
                return true;
    }
    return false;
}

/* A match that becomes a value needs the times and partners of its events, so they must
 * be kept if that may happen after their arrival. */
static void keep_for_values(const struct esi_live_query *query,
                            const struct esi_live_condition *condition,
                            struct retention_rule *rules)
{
    const struct esi_program *program = query->program;
    bool may_wait =
        condition->strong.timed_count > 0 || condition->disjunct->lesser_count > 0;

    if (!query->sets || (!may_wait && !is_in_values(query)))
        return;
    for (uint64_t left = condition->disjunct->variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);

        if (program->variables[v].is_returned && esi_program_is_single(program, v))
            rules[program->variables[v].class_number].is_kept = true;
    }
}

static void rule_query(const struct esi_live_query *query, struct retention_rule *rules)
{
    const struct esi_program *program = query->program;
    uint64_t needs_rows = query->assignment.needs_rows;

    for (uint32_t v = 0; v < program->variable_count; v++)
        if (esi_program_is_single(program, v) &&
            (query->assignment.universal | needs_rows) & esi_program_bit(v)) {
            struct retention_rule *rule = &rules[program->variables[v].class_number];

            rule->is_kept |=
                needs_rows & esi_program_bit(v) || !has_only_limits(query, v);
            rule->is_settled = true;
        }
    for (uint32_t a = 0; a < program->atom_count; a++)
        if (program->atoms[a].kind == ES_ATOM_COUNT &&
            program->atoms[a].counted != ES_PATTERN_NONE) {
            uint8_t way = way_of_counted(query, &program->atoms[a]);

            rules[program->atoms[a].counted].is_kept |= way == 0;
            rules[program->atoms[a].counted].is_settled |= way == SETTLED;
        }
    for (uint32_t i = 0; i < program->disjunct_count; i++) {
        rule_disjunct(query, &query->disjuncts[i].condition, rules);
        keep_for_values(query, &query->disjuncts[i].condition, rules);
    }
}

/* Whether all events that a settled value refuses are dropped with it, as far as one
 * limit is concerned. */
static bool goes_with(const struct esi_live *live,
                      const struct esi_live_query *query,
                      const struct limit *limit)
{
    const struct esi_program_variable *variables = query->program->variables;
    const struct retention_rule *rule =
        &live->retention.rules[variables[limit->first].class_number];

    return !rule->is_kept && !rule->is_awaited && !rule->is_timed &&
           !rule->emitted_by && rule->is_refused &&
           rule->refuser == variables[limit->between].class_number;
}

/* Keeps the values of limits in a predicate that may be needed again.  Returns true if
 * this changed a rule. */
static bool keep_between(struct esi_live *live, const struct esi_live_query *query)
{
    bool has_changed = false;

    for (uint32_t i = 0; i < query->program->disjunct_count; i++) {
        const struct esi_live_form *form = &query->disjuncts[i].condition.strong;

        for (size_t k = 0; k < form->timed_count; k++) {
            struct retention_rule *rule;
            struct limit limit;

            if (!find_limit(query, &form->timed[k], &limit))
                continue;
            rule = &live->retention
                        .rules[query->program->variables[limit.between].class_number];
            if (rule->is_kept || goes_with(live, query, &limit))
                continue;
            rule->is_kept = true;
            has_changed = true;
        }
    }
    return has_changed;
}

int esi_live_retention_init(struct esi_live *live)
{
    struct esi_live_retention *retention = &live->retention;
    bool has_changed = true;

    retention->class_count = esi_pattern_classes(live->file);
    retention->next = live->config.drop_every;
    retention->rules = calloc(retention->class_count + 1u, sizeof *retention->rules);
    if (!retention->rules)
        return -ENOMEM;
    for (uint32_t q = 0; q < live->query_count; q++)
        rule_query(live->queries[q], retention->rules);
    while (has_changed) {
        has_changed = false;
        for (uint32_t q = 0; q < live->query_count; q++)
            has_changed |= keep_between(live, live->queries[q]);
    }
    for (uint32_t c = 0; c < retention->class_count; c++) {
        struct retention_rule *rule = &retention->rules[c];

        rule->domain = esi_domains_class(live->domains, c);
        rule->is_kept |= !rule->domain;
        retention->asks_time |= !rule->is_kept && rule->is_timed;
        retention->asks_settled |=
            !rule->is_kept && (rule->is_settled || rule->is_refused);
    }
    return 0;
}

void esi_live_retention_fini(struct esi_live_retention *retention)
{
    free(retention->rules);
    free(retention->marks);
    free(retention->settled);
}

/* --- Traces ----------------------------------------------------------------------- */

int esi_live_retention_add_trace(struct esi_live *live)
{
    struct esi_live_retention *retention = &live->retention;
    size_t count = retention->traces + 1u;

    if (ESI_ARRAY_RESERVE(retention->settled, retention->settled_capacity, count) < 0 ||
        ESI_ARRAY_RESERVE(retention->marks, retention->mark_capacity,
                          count * retention->class_count) < 0)
        return -ENOMEM;
    retention->settled[retention->traces] = 0;
    for (uint32_t c = 0; c < retention->class_count; c++)
        *mark_of(retention, retention->traces, c) = (struct retention_mark){.gone = 0};
    retention->traces++;
    return 0;
}

void esi_live_retention_on_event(struct esi_live *live,
                                 const struct es_set_event *event)
{
    struct esi_live_retention *retention = &live->retention;
    int64_t time;

    if (!retention->asks_time || !esi_event_time(event, &time) ||
        (retention->knows_time && time <= retention->newest_ns))
        return;
    retention->newest_ns = time;
    retention->knows_time = true;
}

/* The greatest index on `trace` that precedes the newest event of each trace. */
static uint32_t settled_on(struct esi_live *live, uint32_t trace)
{
    uint32_t least = es_order_count(live->order, trace);

    for (uint32_t other = 0; other < live->retention.traces && least > 0; other++) {
        struct es_event_id newest = {other, es_order_count(live->order, other)};
        uint32_t index = 0;

        if (other == trace)
            continue;
        if (newest.index > 0)
            index = esi_precedence_greatest(&live->precedence, newest, trace);
        if (index < least)
            least = index;
    }
    return least;
}

/* Marks the events of a class that an event refuses, on all traces. */
static void refuse_before(struct esi_live *live,
                          uint32_t class_number,
                          struct es_event_id id)
{
    const struct esi_live_retention *retention = &live->retention;
    const struct esi_domain *refused = retention->rules[class_number].domain;

    for (uint32_t slot = 0; slot < esi_domain_slots(refused); slot++) {
        uint32_t trace = esi_domain_column(refused, slot).trace;
        struct retention_mark *mark = mark_of(retention, trace, class_number);
        /* A forgotten event refuses nothing. */
        int64_t index = es_order_greatest_predecessor(live->order, id, trace);

        if (index > 0 && (uint64_t)index > mark->refused)
            mark->refused = (uint32_t)index;
    }
}

/* Uses the last settled value on each trace; earlier ones refuse no more. */
static void refuse_class(struct esi_live *live, uint32_t class_number)
{
    const struct retention_rule *rules = live->retention.rules;
    const struct esi_domain *refuser = rules[rules[class_number].refuser].domain;

    for (uint32_t slot = 0; slot < esi_domain_slots(refuser); slot++) {
        struct esi_domain_column column = esi_domain_column(refuser, slot);
        uint32_t settled = live->retention.settled[column.trace];
        uint32_t row = column.count;

        while (row > 0 && column.indexes[row - 1] > settled)
            row--;
        if (row > 0)
            refuse_before(live, class_number,
                          (struct es_event_id){column.trace, column.indexes[row - 1]});
    }
}

/* --- Dropping --------------------------------------------------------------------- */

/* The first row of a column that is still within the time limit.  Events without a time
 * are near no other event. */
static uint32_t first_timely(const struct esi_live *live,
                             const struct retention_rule *rule,
                             uint32_t slot)
{
    const struct esi_live_retention *retention = &live->retention;
    uint32_t count = esi_domain_column(rule->domain, slot).count, row;

    for (row = 0; row < count && retention->knows_time; row++) {
        int64_t first, last;

        if (esi_domain_time(rule->domain, (struct esi_domain_value){slot, row}, &first,
                            &last) &&
            (last >= retention->newest_ns ||
             (uint64_t)retention->newest_ns - (uint64_t)last <=
                 rule->within_ns + live->config.skew_ns))
            break;
    }
    return row;
}

/* The first row of a column that was not reported. */
static uint32_t first_unseen(const struct esi_seen *seen,
                             const struct esi_domain_column *column)
{
    uint32_t row = 0;

    for (; row < column->count; row++) {
        struct es_event_id id = {column->trace, column->indexes[row]};

        if (!esi_seen_has(seen, &id, 1))
            break;
    }
    return row;
}

/* The minimum of `before` and the index in a row, if there is one. */
static uint32_t least_index(const struct esi_domain_column *column,
                            uint32_t row,
                            uint32_t before)
{
    return row < column->count && column->indexes[row] < before ? column->indexes[row]
                                                                : before;
}

static void drop_column(struct esi_live *live, uint32_t class_number, uint32_t slot)
{
    const struct esi_live_retention *retention = &live->retention;
    const struct retention_rule *rule = &retention->rules[class_number];
    struct esi_domain_column column = esi_domain_column(rule->domain, slot);
    uint32_t before = UINT32_MAX; /* events with lower indexes are dropped */

    if (column.count == 0)
        return;
    if (rule->is_settled)
        before = retention->settled[column.trace] + 1;
    if (rule->is_refused &&
        mark_of(retention, column.trace, class_number)->refused + 1 < before)
        before = mark_of(retention, column.trace, class_number)->refused + 1;
    if (rule->emitted_by)
        before = least_index(&column, first_unseen(&rule->emitted_by->seen, &column),
                             before);
    if (rule->is_timed)
        before = least_index(&column, first_timely(live, rule, slot), before);
    esi_domains_drop(live->domains, class_number, column.trace, before);
}

static void drop_class(struct esi_live *live, uint32_t class_number)
{
    const struct retention_rule *rule = &live->retention.rules[class_number];
    uint64_t count;

    if (rule->is_kept || rule->is_awaited)
        return;
    count = esi_domain_count(rule->domain);
    for (uint32_t slot = 0; slot < esi_domain_slots(rule->domain); slot++)
        drop_column(live, class_number, slot);
    live->retention.dropped += count - esi_domain_count(rule->domain);
}

/* --- The limit -------------------------------------------------------------------- */

uint64_t esi_live_retention_kept(const struct esi_live *live)
{
    uint64_t kept = 0;

    for (uint32_t c = 0; c < live->retention.class_count; c++)
        if (live->retention.rules[c].domain)
            kept += esi_domain_count(live->retention.rules[c].domain);
    for (uint32_t q = 0; q < live->query_count; q++)
        if (live->queries[q]->sets)
            kept += esi_domain_kept(live->queries[q]->sets);
    return kept;
}

void esi_live_retention_note_missing(struct esi_live *live,
                                     uint32_t class_number,
                                     struct es_event_id id)
{
    struct esi_live_retention *retention = &live->retention;

    retention->missed += id.trace < retention->traces &&
                         id.index <= mark_of(retention, id.trace, class_number)->gone;
}

/* Evicts the oldest quarter of each column of a class, except columns shorter than
 * `least`.  Returns the number of events. */
static uint64_t evict_class(struct esi_live *live,
                            uint32_t class_number,
                            uint32_t least)
{
    const struct retention_rule *rule = &live->retention.rules[class_number];
    uint64_t count = rule->domain ? esi_domain_count(rule->domain) : 0;

    for (uint32_t slot = 0; count > 0 && slot < esi_domain_slots(rule->domain);
         slot++) {
        struct esi_domain_column column = esi_domain_column(rule->domain, slot);
        uint32_t last;

        if (column.count < least)
            continue;
        last = column.indexes[column.count / 4];
        if (rule->is_awaited)
            mark_of(&live->retention, column.trace, class_number)->gone = last;
        esi_domains_drop(live->domains, class_number, column.trace, last + 1);
    }
    return count > 0 ? count - esi_domain_count(rule->domain) : 0;
}

/* Evicts all matches that are values, and the candidates that contain one of them.
 * Returns their number. */
static uint64_t evict_sets(struct esi_live *live, const struct esi_live_query *query)
{
    uint64_t kept = esi_domain_kept(query->sets);

    if (kept == 0)
        return 0;
    esi_domain_clear_sets(query->sets);
    for (uint32_t q = 0; q < live->query_count; q++) {
        struct esi_live_query *user = live->queries[q];

        for (uint32_t v = 0; v < user->program->variable_count; v++)
            if (user->domains[v] == query->sets) {
                user->candidates.lost += user->candidates.count;
                esi_live_candidates_fini(user);
            }
    }
    return kept;
}

/* Evicts sends that wait for their receives; nothing is lost unless these arrive
 * later. */
static void evict_awaited(struct esi_live *live, uint64_t limit)
{
    uint64_t evicted = 1;

    while (evicted > 0 && esi_live_retention_kept(live) > limit) {
        evicted = 0;
        for (uint32_t c = 0; c < live->retention.class_count; c++)
            if (live->retention.rules[c].is_awaited &&
                !live->retention.rules[c].is_kept)
                evicted += evict_class(live, c, COLUMN_MIN);
        live->retention.dropped += evicted;
    }
}

/* Evicts columns and matches; with `spares_none` also short ones.  Returns their
 * number. */
static uint64_t evict_oldest(struct esi_live *live, uint64_t limit, bool spares_none)
{
    uint64_t evicted = 0;

    for (uint32_t q = 0; q < live->query_count; q++)
        if (live->queries[q]->sets &&
            esi_domain_kept(live->queries[q]->sets) > limit / 2)
            evicted += evict_sets(live, live->queries[q]);
    for (uint32_t c = 0; evicted == 0 && c < live->retention.class_count; c++)
        evicted += evict_class(live, c, spares_none ? 1 : COLUMN_MIN);
    for (uint32_t q = 0; evicted == 0 && spares_none && q < live->query_count; q++)
        if (live->queries[q]->sets)
            evicted += evict_sets(live, live->queries[q]);
    return evicted;
}

static void evict_events(struct esi_live *live)
{
    uint64_t limit = live->config.kept_events - live->config.kept_events / 4;
    bool spares_none = false;

    evict_awaited(live, limit);
    if (esi_live_retention_kept(live) <= limit)
        return;
    /* The evicted values may have refused candidates. */
    for (uint32_t q = 0; q < live->query_count; q++)
        esi_live_candidates_sweep(live->queries[q]);
    while (esi_live_retention_kept(live) > limit) {
        uint64_t evicted = evict_oldest(live, limit, spares_none);

        live->retention.evicted += evicted;
        /* Short columns are only evicted if nothing else was. */
        if (evicted == 0 && spares_none)
            break;
        spares_none = evicted == 0;
    }
    for (uint32_t q = 0; q < live->query_count; q++)
        esi_live_candidates_prune(live->queries[q]);
}

/* Limits the state kept for later partners to the newest events of each trace. */
static void forget_partners(struct esi_live *live)
{
    uint32_t traces = live->retention.traces;
    uint64_t window = live->config.kept_events / (traces ? traces : 1);

    if (window < COLUMN_MIN)
        window = COLUMN_MIN;
    for (uint32_t trace = 0; trace < traces; trace++) {
        uint32_t count = es_order_count(live->order, trace);

        if (count > window)
            esi_domains_forget(live->domains, trace, count - (uint32_t)window);
    }
}

void esi_live_retention_apply(struct esi_live *live)
{
    struct esi_live_retention *retention = &live->retention;
    /* Traces^2 queries of the order; this limits them to a few per event. */
    uint64_t pause = (uint64_t)retention->traces * retention->traces / 4;

    if (live->events < retention->next)
        return;
    if (retention->asks_settled && live->config.traces_are_told)
        for (uint32_t trace = 0; trace < retention->traces; trace++)
            retention->settled[trace] = settled_on(live, trace);
    for (uint32_t c = 0; c < retention->class_count; c++)
        if (!retention->rules[c].is_kept && retention->rules[c].is_refused)
            refuse_class(live, c);
    for (uint32_t c = 0; c < retention->class_count; c++)
        drop_class(live, c);
    if (esi_domains_have_partners(live->domains))
        forget_partners(live);
    if (!retention->asks_settled || pause < live->config.drop_every)
        pause = live->config.drop_every;
    retention->next = live->events + pause;
    if (esi_live_retention_kept(live) > live->config.kept_events)
        evict_events(live);
}
