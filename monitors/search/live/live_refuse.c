/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * live_refuse.c - what `A -(C)-> B` lets go.
 *
 * A value c that is settled precedes all that comes.  So an event a before c can not be
 * followed by any B yet to come without c in between: a goes.  When all of these have
 * gone nothing that is kept, and nothing that comes, is before c: it goes, too.
 */
#include "config.h"

#include "monitors/search/live/live_private.h"

/* --- Clauses ---------------------------------------------------------------------- */

static bool is_negated_before(const struct esi_literal *literal)
{
    return literal->kind == ES_LITERAL_BEFORE && literal->is_negated;
}

bool esi_live_limit(const struct esi_live_part *part,
                    const struct esi_timed_clause *timed,
                    struct esi_limit *ret_limit)
{
    const struct esi_literal *literals = timed->clause->literals;
    struct esi_limit limit;
    unsigned into;

    if (!timed->is_searched || timed->clause->count != 2 ||
        !is_negated_before(&literals[0]) || !is_negated_before(&literals[1]))
        return false;
    into = literals[0].y == literals[1].x ? 0 : 1;
    limit =
        (struct esi_limit){literals[into].x, literals[into].y, literals[1 - into].y};
    if (literals[1 - into].x != limit.between ||
        timed->clause->universal != esi_program_bit(limit.between) ||
        !esi_program_is_prompt(part->program, limit.first) ||
        !esi_program_is_prompt(part->program, limit.between) ||
        !esi_program_is_prompt(part->program, limit.last))
        return false;
    *ret_limit = limit;
    return true;
}

bool esi_live_only_limits(const struct esi_live_part *part, uint32_t variable)
{
    for (uint32_t i = 0; i < part->program->support_count; i++) {
        const struct esi_live_form *form = &part->supports[i].strong;

        for (size_t k = 0; k < form->timed_count; k++) {
            struct esi_limit limit;

            if (form->timed[k].clause->universal & esi_program_bit(variable) &&
                !esi_live_limit(part, &form->timed[k], &limit))
                return false;
        }
    }
    return true;
}

/* --- Rules ------------------------------------------------------------------------ */

void esi_live_refuse_by(struct esi_drop_rule *rule, uint32_t refuser)
{
    /* One that is refused by two waits for both: not worth the trouble. */
    if (rule->is_refused && rule->refuser != refuser)
        rule->is_kept = true;
    rule->is_refused = true;
    rule->refuser = refuser;
}

/* Whether all that a settled value refuses goes with it, as far as one limit says. */
static bool goes_with(const struct esi_live *live,
                      const struct esi_live_part *part,
                      const struct esi_limit *limit)
{
    const struct esi_program_variable *variables = part->program->variables;
    const struct esi_drop_rule *rule =
        &live->rules[variables[limit->first].class_number];

    return !rule->is_kept && !rule->is_awaited && !rule->is_timed && !rule->is_told &&
           rule->is_refused && rule->refuser == variables[limit->between].class_number;
}

/* Keeps values of limits in a predicate that may be asked for again.  True: of some it
 * was not known. */
static bool keep_between(struct esi_live *live, const struct esi_live_part *part)
{
    bool has_changed = false;

    for (uint32_t i = 0; i < part->program->support_count; i++) {
        const struct esi_live_form *form = &part->supports[i].strong;

        for (size_t k = 0; k < form->timed_count; k++) {
            struct esi_drop_rule *rule;
            struct esi_limit limit;

            if (!esi_live_limit(part, &form->timed[k], &limit))
                continue;
            rule = &live->rules[part->program->variables[limit.between].class_number];
            if (rule->is_kept || goes_with(live, part, &limit))
                continue;
            rule->is_kept = true;
            has_changed = true;
        }
    }
    return has_changed;
}

void esi_live_refuse_init(struct esi_live *live)
{
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        for (uint32_t p = 0; p < live->part_count; p++)
            if (live->parts[p])
                has_changed |= keep_between(live, live->parts[p]);
    }
    for (uint32_t c = 0; c < esi_pattern_classes(live->file); c++)
        if (!live->rules[c].is_kept && live->rules[c].is_refused)
            live->asks_settled = true;
}

/* --- Events ----------------------------------------------------------------------- */

/* What an event refuses, on all traces. */
static void refuse_before(struct esi_live *live,
                          struct esi_drop_rule *rule,
                          const struct esi_domain *refused,
                          struct es_event_id id)
{
    for (uint32_t slot = 0; slot < esi_domain_slots(refused); slot++) {
        uint32_t trace = esi_domain_column(refused, slot).trace;
        /* What is forgotten refuses nothing. */
        int64_t index = es_order_greatest_predecessor(live->order, id, trace);

        if (index > 0 && (uint64_t)index > rule->refused[trace])
            rule->refused[trace] = (uint32_t)index;
    }
}

/* By the last settled value on each trace: those before it refuse no more. */
static void refuse_class(struct esi_live *live, uint32_t class_number)
{
    struct esi_drop_rule *rule = &live->rules[class_number];
    const struct esi_domain *refused = esi_domains_class(live->domains, class_number);
    const struct esi_domain *refuser = esi_domains_class(live->domains, rule->refuser);

    for (uint32_t slot = 0; slot < esi_domain_slots(refuser); slot++) {
        struct esi_domain_column column = esi_domain_column(refuser, slot);
        uint32_t settled = live->settled[column.trace];
        uint32_t row = column.count;

        while (row > 0 && column.indexes[row - 1] > settled)
            row--;
        if (row > 0)
            refuse_before(live, rule, refused,
                          (struct es_event_id){column.trace, column.indexes[row - 1]});
    }
}

void esi_live_refuse(struct esi_live *live)
{
    for (uint32_t c = 0; c < esi_pattern_classes(live->file); c++)
        if (!live->rules[c].is_kept && live->rules[c].is_refused &&
            esi_domains_class(live->domains, c))
            refuse_class(live, c);
}
