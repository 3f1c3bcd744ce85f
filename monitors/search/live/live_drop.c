/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * live_drop.c - what a live search does not keep.
 *
 * A match that an event is in can only be completed by an event yet to come.  If none
 * that comes can stand in the relations to it that all supports demand, the event can
 * go:
 *   at once, where the other must be before it, or the same, or its send;
 *   once it is settled - it precedes the newest event of each trace that is not over,
 * so that all that comes is after it - where the other must not be after it; once time
 * has passed, where a limit of time is on both;
 *   once it is refused by what is settled (live_refuse.c);
 *   once it was told, where it is all that is told of a match.
 * Sends that wait for their receives are kept as long as there is room.  Events of
 * universal variables, of those that are counted, and those whose values are looked at
 * again while a match waits are kept, but where all that is known when they come.
 * Beyond the limit the oldest go.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/domains/event_value.h"
#include "monitors/search/live/live_private.h"

enum { COLUMN_MIN = 64 };

/* --- Rules ------------------------------------------------------------------------ */

enum { AT_ONCE = 1, SETTLED = 2, TIMED = 4, AWAITED = 8, REFUSED = 16 };

/* What the relations of each two variables of a support are known to be. */
struct relations {
    uint8_t of[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES]; /* [v][w]: v may go as for
                                                               w */
    uint64_t before[ES_PROGRAM_VARIABLES];                  /* bit w of v: v --> w */
    uint64_t within[ES_PROGRAM_VARIABLES];
    uint32_t refuser[ES_PROGRAM_VARIABLES]; /* class, of REFUSED */
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
            relations->before[x] |= UINT64_C(1) << y;
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

/* What is before is so over others, too: of single events. */
static void close_before(const struct esi_live_part *part, struct relations *relations)
{
    uint32_t count = part->program->variable_count;

    for (uint32_t k = 0; k < count; k++)
        for (uint32_t v = 0; esi_program_is_single(part->program, k) && v < count; v++)
            if (esi_program_is_single(part->program, v) &&
                relations->before[v] >> k & 1)
                for (uint32_t w = 0; w < count; w++)
                    if (esi_program_is_single(part->program, w) &&
                        relations->before[k] >> w & 1)
                        relations->before[v] |= UINT64_C(1) << w;
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t w = 0; w < count; w++)
            if (relations->before[v] >> w & 1)
                relations->of[w][v] |= AT_ONCE;
}

/* Limits a rule by what one variable of a support needs. */
static void demand_event(const struct esi_live_part *part,
                         const struct relations *relations,
                         uint64_t variables,
                         uint32_t v,
                         struct esi_drop_rule *rule)
{
    for (uint64_t left = variables & ~(UINT64_C(1) << v); left; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        uint8_t way = relations->of[v][w];

        if (!esi_program_is_prompt(part->program, w) || way == 0) {
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
            esi_live_refuse_by(rule, relations->refuser[v]);
        }
    }
}

/* Whether v's event is all of each match that has it. */
static bool is_returned_alone(const struct esi_live_part *part, uint32_t v)
{
    for (uint32_t w = 0; w < part->program->variable_count; w++)
        if (part->program->variables[w].is_returned != (w == v))
            return false;
    return true;
}

/* An event that is told again and again may go once it was told. */
static void demand_once(const struct esi_live_part *part,
                        const struct relations *relations,
                        uint64_t variables,
                        uint32_t v,
                        struct esi_drop_rule *rule)
{
    struct esi_drop_rule own = {.is_kept = false};

    demand_event(part, relations, variables, v, &own);
    if (!own.is_kept || !is_returned_alone(part, v)) {
        demand_event(part, relations, variables, v, rule);
        return;
    }
    rule->is_kept |= rule->is_told && rule->told_by != part;
    rule->is_told = true;
    rule->told_by = part;
}

static void rule_support(const struct esi_live_part *part,
                         const struct esi_live_support *support,
                         struct esi_drop_rule *rules)
{
    struct relations relations = {.before = {0}};
    uint64_t variables = support->support->variables;

    for (size_t i = 0; i < support->weak.certain_count; i++)
        if (support->weak.certain[i].count == 1)
            relate_variables(&relations, part->program,
                             &support->weak.certain[i].literals[0]);
    close_before(part, &relations);
    for (size_t i = 0; i < support->strong.timed_count; i++) {
        struct esi_limit limit;
        if (!esi_live_limit(part, &support->strong.timed[i], &limit))
            continue;
        relations.of[limit.first][limit.last] |= REFUSED;
        relations.refuser[limit.first] =
            part->program->variables[limit.between].class_number;
    }
    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        if (esi_program_is_single(part->program, v))
            demand_once(part, &relations, variables, v,
                        &rules[part->program->variables[v].class_number]);
    }
}

/* How values that are counted may go.  Where all that the count is about is one
 * variable, and nothing else is in the match, it is known from then on when that came:
 * what came before is only asked for once. */
static uint8_t way_of_counted(const struct esi_live_part *part,
                              const struct esi_atom *atom)
{
    const struct esi_program *program = part->program;
    uint32_t v = atom->left ? (uint32_t)__builtin_ctzll(atom->left) : 0;

    if (atom->is_negated || atom->left == 0 || atom->left & (atom->left - 1) ||
        atom->left & part->universal || !esi_program_is_prompt(program, v) ||
        esi_pattern_class(program->file, atom->counted)->partner_count > 0)
        return 0;
    for (uint32_t i = 0; i < program->support_count; i++)
        if (program->supports[i].variables & atom->left &&
            program->supports[i].variables != atom->left)
            return 0;
    if (atom->op == ES_OPERATOR_CONCURRENT)
        return SETTLED;
    return atom->op == ES_OPERATOR_BEFORE && !atom->is_reversed ? AT_ONCE : 0;
}

static void rule_counted(const struct esi_live_part *part,
                         const struct esi_atom *atom,
                         struct esi_drop_rule *rule)
{
    uint8_t way = way_of_counted(part, atom);

    rule->is_kept |= way == 0;
    rule->is_settled |= way == SETTLED;
}

static void rule_part(const struct esi_live_part *part, struct esi_drop_rule *rules)
{
    const struct esi_program *program = part->program;

    for (uint32_t v = 0; v < program->variable_count; v++)
        if (esi_program_is_single(part->program, v) &&
            ((part->universal | part->needs_rows) >> v & 1)) {
            struct esi_drop_rule *rule = &rules[program->variables[v].class_number];
            rule->is_kept |=
                part->needs_rows >> v & 1 || !esi_live_only_limits(part, v);
            rule->is_settled = true;
        }
    for (uint32_t a = 0; a < program->atom_count; a++)
        if (program->atoms[a].kind == ES_ATOM_COUNT &&
            program->atoms[a].counted != ES_PATTERN_NONE)
            rule_counted(part, &program->atoms[a], &rules[program->atoms[a].counted]);
    for (uint32_t i = 0; i < program->support_count; i++)
        rule_support(part, &part->supports[i], rules);
}

int esi_live_drop_init(struct esi_live *live)
{
    uint32_t classes = esi_pattern_classes(live->file);

    live->rules = calloc(classes + 1u, sizeof *live->rules);
    if (!live->rules)
        return -ENOMEM;
    for (uint32_t p = 0; p < live->part_count; p++)
        if (live->parts[p])
            rule_part(live->parts[p], live->rules);
    esi_live_refuse_init(live);
    for (uint32_t c = 0; c < classes; c++) {
        live->asks_time |= !live->rules[c].is_kept && live->rules[c].is_timed;
        live->asks_settled |= !live->rules[c].is_kept && live->rules[c].is_settled;
    }
    live->has_partners = esi_domains_have_partners(live->domains);
    live->next_drop = live->config.drop_every;
    return 0;
}

void esi_live_drop_fini(struct esi_live *live)
{
    for (uint32_t c = 0; live->rules && c < esi_pattern_classes(live->file); c++) {
        free(live->rules[c].gone);
        free(live->rules[c].refused);
    }
    free(live->rules);
    free(live->settled);
}

/* --- Traces ----------------------------------------------------------------------- */

static bool grow_marks(uint32_t **array, uint32_t count, uint32_t capacity)
{
    uint32_t *grown = realloc(*array, capacity * sizeof *grown);

    if (!grown)
        return false;
    memset(grown + count, 0, (capacity - count) * sizeof *grown);
    *array = grown;
    return true;
}

int esi_live_drop_trace(struct esi_live *live)
{
    if (live->traces == live->trace_capacity) {
        uint32_t capacity = 2 * live->trace_capacity + 16;

        if (!grow_marks(&live->settled, live->traces, capacity))
            return -ENOMEM;
        for (uint32_t c = 0; c < esi_pattern_classes(live->file); c++)
            if (!grow_marks(&live->rules[c].gone, live->traces, capacity) ||
                !grow_marks(&live->rules[c].refused, live->traces, capacity))
                return -ENOMEM;
        live->trace_capacity = capacity;
    }
    live->traces++;
    return 0;
}

void esi_live_drop_event(struct esi_live *live, const struct es_set_event *event)
{
    int64_t time;

    if (!live->asks_time || !esi_event_time(event, &time) ||
        (live->knows_time && time <= live->newest_ns))
        return;
    live->newest_ns = time;
    live->knows_time = true;
}

/* The newest event of each trace: the greatest index on `trace` that precedes them
 * all. */
static uint32_t settled_on(struct esi_live *live, uint32_t trace)
{
    uint32_t least = es_order_count(live->order, trace);

    for (uint32_t other = 0; other < live->traces && least > 0; other++) {
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

/* --- What no match can take ------------------------------------------------------- */

/* The first row of a column that a limit of time still lets be: events that do not say
 * when they happened are near nothing. */
static uint32_t first_timely(const struct esi_live *live,
                             const struct esi_domain *domain,
                             uint32_t slot,
                             uint64_t within_ns)
{
    uint32_t count = esi_domain_column(domain, slot).count, row;

    for (row = 0; row < count && live->knows_time; row++) {
        int64_t first, last;
        if (esi_domain_time(domain, (struct esi_domain_value){slot, row}, &first,
                            &last) &&
            (last >= live->newest_ns || (uint64_t)live->newest_ns - (uint64_t)last <=
                                            within_ns + live->config.skew_ns))
            break;
    }
    return row;
}

/* The first row of a column that was not told. */
static uint32_t first_untold(const struct esi_live_part *part,
                             const struct esi_domain_column *column)
{
    uint32_t row = 0;

    for (; row < column->count; row++) {
        struct es_event_id id = {column->trace, column->indexes[row]};
        if (!esi_seen_has(&part->seen, &id, 1))
            break;
    }
    return row;
}

static void drop_column(struct esi_live *live,
                        uint32_t class_number,
                        const struct esi_domain *domain,
                        uint32_t slot)
{
    const struct esi_drop_rule *rule = &live->rules[class_number];
    struct esi_domain_column column = esi_domain_column(domain, slot);
    uint32_t before = UINT32_MAX; /* indexes below go */

    if (column.count == 0)
        return;
    if (rule->is_awaited)
        return;
    if (rule->is_settled)
        before = live->settled[column.trace] + 1;
    if (rule->is_refused && rule->refused[column.trace] + 1 < before)
        before = rule->refused[column.trace] + 1;
    if (rule->is_told) {
        uint32_t row = first_untold(rule->told_by, &column);
        if (row < column.count && column.indexes[row] < before)
            before = column.indexes[row];
    }
    if (rule->is_timed) {
        uint32_t row = first_timely(live, domain, slot, rule->within_ns);
        if (row < column.count && column.indexes[row] < before)
            before = column.indexes[row];
    }
    esi_domains_drop(live->domains, class_number, column.trace, before);
}

static void drop_class(struct esi_live *live, uint32_t class_number)
{
    const struct esi_domain *domain = esi_domains_class(live->domains, class_number);
    uint64_t count;

    if (!domain || live->rules[class_number].is_kept)
        return;
    count = esi_domain_count(domain);
    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++)
        drop_column(live, class_number, domain, slot);
    live->dropped_events += count - esi_domain_count(domain);
}

/* --- The limit -------------------------------------------------------------------- */

uint64_t esi_live_kept(const struct esi_live *live)
{
    uint64_t kept = 0;

    for (uint32_t c = 0; c < esi_pattern_classes(live->file); c++) {
        const struct esi_domain *domain = esi_domains_class(live->domains, c);
        kept += domain ? esi_domain_count(domain) : 0;
    }
    for (uint32_t p = 0; p < live->part_count; p++)
        if (live->parts[p] && live->parts[p]->sets)
            kept += esi_domain_kept(live->parts[p]->sets);
    return kept;
}

bool esi_live_is_gone(const struct esi_live *live,
                      uint32_t class_number,
                      struct es_event_id id)
{
    const struct esi_drop_rule *rule = &live->rules[class_number];

    return id.trace < live->traces && id.index <= rule->gone[id.trace];
}

/* The oldest quarter of the columns of a class that is awaited: nothing is lost unless
 * somebody receives it later. */
static uint64_t lose_awaited(struct esi_live *live, uint32_t class_number)
{
    const struct esi_domain *domain = esi_domains_class(live->domains, class_number);
    struct esi_drop_rule *rule = &live->rules[class_number];
    uint64_t count = domain ? esi_domain_count(domain) : 0;

    if (!domain || !rule->is_awaited || rule->is_kept)
        return 0;
    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        struct esi_domain_column column = esi_domain_column(domain, slot);
        uint32_t last;

        if (column.count < COLUMN_MIN)
            continue;
        last = column.indexes[column.count / 4];
        rule->gone[column.trace] = last;
        esi_domains_drop(live->domains, class_number, column.trace, last + 1);
    }
    count -= esi_domain_count(domain);
    live->dropped_events += count;
    return count;
}

/* The oldest quarter of each column that is not short. */
static uint64_t lose_class(struct esi_live *live, uint32_t class_number)
{
    const struct esi_domain *domain = esi_domains_class(live->domains, class_number);
    uint64_t count = domain ? esi_domain_count(domain) : 0;

    for (uint32_t slot = 0; domain && slot < esi_domain_slots(domain); slot++) {
        struct esi_domain_column column = esi_domain_column(domain, slot);
        if (column.count > 0 && (column.count >= COLUMN_MIN || live->is_pressed))
            esi_domains_drop(live->domains, class_number, column.trace,
                             column.indexes[column.count / 4] + 1);
    }
    return domain ? count - esi_domain_count(domain) : 0;
}

/* Matches that are values are lost all at once, and what waits with one of them. */
static uint64_t lose_sets(struct esi_live *live, uint32_t predicate)
{
    struct esi_live_part *part = live->parts[predicate];
    uint64_t kept = esi_domain_kept(part->sets);

    if (kept == 0)
        return 0;
    esi_domain_clear_sets(part->sets);
    part->processed = 0;
    for (uint32_t p = predicate + 1; p < live->part_count; p++) {
        struct esi_live_part *user = live->parts[p];
        for (uint32_t v = 0; user && v < user->program->variable_count; v++)
            if (user->program->variables[v].predicate == predicate &&
                user->candidate_count > 0) {
                user->lost_candidates += user->candidate_count;
                esi_live_candidates_fini(user);
            }
    }
    return kept;
}

static void evict_event(struct esi_live *live)
{
    uint64_t limit = live->config.kept_events - live->config.kept_events / 4;
    uint64_t gone = 1;

    while (gone > 0 && esi_live_kept(live) > limit) {
        gone = 0;
        for (uint32_t c = 0; c < esi_pattern_classes(live->file); c++)
            gone += lose_awaited(live, c);
    }
    if (esi_live_kept(live) <= limit)
        return;
    /* Values that go may have refused candidates. */
    for (uint32_t p = 0; p < live->part_count; p++)
        if (live->parts[p])
            esi_live_candidates_sweep(live->parts[p]);
    while (esi_live_kept(live) > limit) {
        uint64_t lost = 0;
        for (uint32_t p = 0; p < live->part_count; p++)
            if (live->parts[p] && live->parts[p]->sets &&
                esi_domain_kept(live->parts[p]->sets) > limit / 2)
                lost += lose_sets(live, p);
        for (uint32_t c = 0; lost == 0 && c < esi_pattern_classes(live->file); c++)
            lost += lose_class(live, c);
        for (uint32_t p = 0; lost == 0 && live->is_pressed && p < live->part_count; p++)
            if (live->parts[p] && live->parts[p]->sets)
                lost += lose_sets(live, p);
        live->lost_events += lost;
        /* Short columns are spared at first. */
        if (lost == 0 && live->is_pressed)
            break;
        live->is_pressed = lost == 0;
    }
    live->is_pressed = false;
    for (uint32_t p = 0; p < live->part_count; p++)
        if (live->parts[p])
            esi_live_candidates_prune(live->parts[p]);
}

/* What is kept for the case that a partner comes: of the newest events of each trace.
 */
static void forget_partners(struct esi_live *live)
{
    uint64_t window = live->config.kept_events / (live->traces ? live->traces : 1);

    if (window < COLUMN_MIN)
        window = COLUMN_MIN;
    for (uint32_t trace = 0; trace < live->traces; trace++) {
        uint32_t count = es_order_count(live->order, trace);
        if (count > window)
            esi_domains_forget(live->domains, trace, count - (uint32_t)window);
    }
}

void esi_live_drop(struct esi_live *live)
{
    /* Traces^2 questions of the order: not more than a few for each event. */
    uint64_t pause = (uint64_t)live->traces * live->traces / 4;

    if (live->events < live->next_drop)
        return;
    if (live->asks_settled && live->config.traces_are_told)
        for (uint32_t trace = 0; trace < live->traces; trace++)
            live->settled[trace] = settled_on(live, trace);
    esi_live_refuse(live);
    for (uint32_t c = 0; c < esi_pattern_classes(live->file); c++)
        drop_class(live, c);
    if (live->has_partners)
        forget_partners(live);
    if (!live->asks_settled || pause < live->config.drop_every)
        pause = live->config.drop_every;
    live->next_drop = live->events + pause;
    if (esi_live_kept(live) > live->config.kept_events)
        evict_event(live);
}
