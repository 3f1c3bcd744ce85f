/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_restrict.c - the values that bound variables leave to another one, column by
 * column or as a list of all. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/indexed/indexed_searcher.h"

enum {
    LOOKUP_ORDINAL = 4, /* values of the first variable before lookups are made */
};

/* --- What there is to apply ------------------------------------------------------- */

static void push_work(struct esi_searcher *searcher, uint32_t number)
{
    if (searcher->work_count == searcher->work_capacity) {
        size_t capacity = 2 * searcher->work_capacity + 64;
        uint32_t *larger = realloc(searcher->work, capacity * sizeof *larger);

        if (!larger) {
            searcher->error = -ENOMEM;
            return;
        }
        searcher->work = larger;
        searcher->work_capacity = capacity;
    }
    searcher->work[searcher->work_count++] = number;
}

/* The member of v's group that was bound last: they are bound in their order. */
static int floor_of(const struct esi_searcher *searcher, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    uint64_t members;

    if (plan->group_of[v] < 0)
        return -1;
    members = plan->groups[plan->group_of[v]].members & searcher->check.bound;
    return members ? 63 - __builtin_clzll(members) : -1;
}

/* An event that arrived just now is named by none that came before, but by the other
 * half of a sync, which it names as well.  So its partners are all that can receive it;
 * whether they do is tested. */
static int sender_of(const struct esi_searcher *searcher, unsigned v, uint64_t applied)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    int pinned = searcher->pinned;

    return pinned >= 0 && plan->senders[v] & plan->prompt & ~applied &
                              esi_program_bit((unsigned)pinned)
               ? pinned
               : -1;
}

/* The partners of y are all that v can be: of one or none the column is known. */
static void note_lone(const struct esi_searcher *searcher,
                      unsigned y,
                      struct esi_restriction *restriction)
{
    const struct esi_domain *const *domains = searcher->plan->domains;
    const struct es_event_id *partners;
    size_t count = esi_domain_partners(domains[y], searcher->values[y], &partners);

    if (count > 1)
        return;
    restriction->is_lone = true;
    restriction->slot =
        count == 1 ? esi_domain_slot_of(domains[restriction->v], partners[0].trace)
                   : ES_PATTERN_NONE;
}

/* Whether an index by attributes is worth what it takes to make: with the first few
 * values of the first variable, not before all values of v might have been compared. */
static bool are_lookups_due(const struct esi_searcher *searcher, unsigned v)
{
    return searcher->plan->is_growing || searcher->plan->without & ES_INDEXED_THRIFT ||
           searcher->ordinal >= LOOKUP_ORDINAL ||
           searcher->compared >= esi_domain_count(searcher->plan->domains[v]);
}

/* Of all lists of values the shortest counts, if it is short enough. */
static void note_listed(const struct esi_searcher *searcher,
                        struct esi_listed listed,
                        struct esi_restriction *restriction)
{
    uint64_t most = restriction->is_listed ? restriction->listed.count
                                           : esi_known_total(searcher, restriction->v) /
                                                 esi_listed_share(searcher);

    if (listed.count >= most && listed.count > 0)
        return;
    restriction->is_listed = true;
    restriction->listed = listed;
}

static void note_equal(struct esi_searcher *searcher,
                       const struct esi_clause *clause,
                       uint64_t applied,
                       struct esi_restriction *restriction)
{
    unsigned v = restriction->v;
    struct esi_listed listed;

    /* Where domains grow there is room for one list; partners are known without. */
    if (searcher->plan->is_growing &&
        (restriction->is_listed || esi_has_partner(searcher, v)))
        return;
    if (!(clause->existential & ~esi_program_bit(v) & searcher->check.bound &
          ~applied) ||
        !are_lookups_due(searcher, v) ||
        !esi_lookup_equal(searcher, clause->literals, v, &listed))
        return;
    note_listed(searcher, listed, restriction);
}

/* The same of the receives that name the event of x, which tell it by their index. */
static void note_receives(struct esi_searcher *searcher,
                          unsigned x,
                          struct esi_restriction *restriction)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    const struct esi_domain *domain = plan->domains[restriction->v];
    struct esi_domain_value value, other;
    uint32_t at = 0;
    int result;

    if (!plan->is_growing) {
        note_listed(
            searcher,
            esi_received_index_find(plan->received[plan->distinct_of[restriction->v]],
                                    esi_event_of(searcher, x)),
            restriction);
        return;
    }
    result = esi_domain_next_receive(domain, esi_event_of(searcher, x), &at, &value);
    restriction->slot = result > 0 ? value.slot : ES_PATTERN_NONE;
    restriction->is_lone =
        result <= 0 ||
        esi_domain_next_receive(domain, esi_event_of(searcher, x), &at, &other) <= 0;
    if (result < 0)
        searcher->error = result;
}

/* Of a clause that one variable receives from the other, one of which is v. */
static void note_partner(struct esi_searcher *searcher,
                         const struct esi_clause *clause,
                         struct esi_restriction *restriction)
{
    const struct esi_literal *literal = clause->literals;

    if (clause->count != 1 || literal->kind != ES_LITERAL_RECEIVED ||
        literal->is_negated || restriction->is_lone)
        return;
    if (literal->x == restriction->v)
        note_lone(searcher, literal->y, restriction);
    else
        note_receives(searcher, literal->x, restriction);
}

/* A clause that v is near a bound variable: spans tell it not exactly. */
static bool is_near(const struct esi_clause *clause,
                    const struct esi_searcher *searcher,
                    unsigned v)
{
    const struct esi_literal *literal = clause->literals;

    return clause->count == 1 && literal->kind == ES_LITERAL_NEAR &&
           !literal->is_negated && literal->x != literal->y &&
           searcher->plan->single >> v & 1;
}

static void push_near(struct esi_searcher *searcher,
                      uint64_t applied,
                      struct esi_restriction *restriction)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned v = restriction->v;

    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];
        uint64_t others = clause->existential & ~esi_program_bit(v);

        if (is_near(clause, searcher, v) && others & searcher->check.bound & ~applied)
            push_work(searcher, esi_clause_number(plan, clause));
    }
    restriction->near_count = searcher->work_count - restriction->clauses;
}

static bool excludes_before(const struct esi_literal *literal,
                            unsigned first,
                            unsigned last)
{
    uint8_t mask = literal->x == first ? literal->mask : esi_mask_turned(literal->mask);

    return literal->kind == ES_LITERAL_RELATION &&
           literal->variables == (esi_program_bit(first) | esi_program_bit(last)) &&
           !(mask & ESI_IS_BEFORE);
}

/* Whether a clause says that no value of its universal variable is between v and the
 * pinned event, which v is before. */
static bool is_limit(const struct esi_searcher *searcher,
                     const struct esi_clause *clause,
                     unsigned v,
                     unsigned pinned)
{
    unsigned u;

    if (clause->count != 2 || !clause->universal ||
        clause->universal & (clause->universal - 1) ||
        searcher->plan->masks[v][pinned] != ESI_IS_BEFORE)
        return false;
    u = (unsigned)__builtin_ctzll(clause->universal);
    for (int i = 0; i < 2; i++)
        if (excludes_before(&clause->literals[i], v, u) &&
            excludes_before(&clause->literals[1 - i], u, pinned))
            return true;
    return false;
}

/* The last such value on the pinned event's own trace is the latest that this knows. */
static void note_limit(const struct esi_searcher *searcher,
                       const struct esi_clause *clause,
                       struct esi_restriction *restriction)
{
    struct es_event_id pinned = searcher->pinned_event;
    const struct esi_domain *domain;
    struct esi_domain_column column;
    uint32_t slot, end;

    if (searcher->pinned < 0 || restriction->is_limited ||
        !(searcher->plan->single >> searcher->pinned & 1) ||
        !is_limit(searcher, clause, restriction->v, (unsigned)searcher->pinned))
        return;
    domain = searcher->plan->domains[__builtin_ctzll(clause->universal)];
    slot = esi_domain_slot_of(domain, pinned.trace);
    if (slot == ES_PATTERN_NONE)
        return;
    column = esi_domain_column(domain, slot);
    end = esi_column_position(&column, pinned.index);
    if (end == 0)
        return;
    restriction->is_limited = true;
    restriction->limit = (struct es_event_id){pinned.trace, column.indexes[end - 1]};
}

/* Whether all that precedes the pinned event on a trace precedes the limit, too. */
static bool is_beyond_limit(struct esi_searcher *searcher,
                            const struct esi_restriction *restriction,
                            uint32_t trace)
{
    return trace != restriction->limit.trace &&
           esi_greatest_of(searcher, (unsigned)searcher->pinned, trace) <=
               esi_precedence_greatest(&searcher->precedence, restriction->limit,
                                       trace);
}

struct esi_restriction esi_restriction_begin(struct esi_searcher *searcher, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    const struct esi_candidates *source = searcher->source[v];
    uint64_t applied = source ? source->applied : 0;
    struct esi_restriction restriction = {
        .v = v,
        .masked = plan->masked[v] & searcher->check.bound & ~applied,
        .sender = sender_of(searcher, v, applied),
        .floor = floor_of(searcher, v),
        .clauses = searcher->work_count,
    };

    if (restriction.sender >= 0)
        note_lone(searcher, (unsigned)restriction.sender, &restriction);
    if (restriction.floor >= 0 && applied >> restriction.floor & 1)
        restriction.floor = -1;
    push_near(searcher, applied, &restriction);
    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];
        const struct esi_clause_facts *facts = esi_clause_facts_of(plan, clause);
        uint64_t others = clause->existential & ~esi_program_bit(v);

        if (facts->is_equality)
            note_equal(searcher, clause, applied, &restriction);
        if (!(facts->exact >> v & 1) || others & ~searcher->check.bound ||
            (source && !(others & ~applied)) ||
            esi_clause_is_satisfied(searcher, clause))
            continue;
        push_work(searcher, esi_clause_number(plan, clause));
        note_limit(searcher, clause, &restriction);
        note_partner(searcher, clause, &restriction);
    }
    restriction.clause_count = searcher->work_count - restriction.clauses;
    return restriction;
}

void esi_restriction_end(struct esi_searcher *searcher,
                         const struct esi_restriction *restriction)
{
    searcher->work_count = restriction->clauses;
}

/* --- Applying it to a column ------------------------------------------------------ */

static void exchange_spans(struct esi_spans *a, struct esi_spans *b)
{
    struct esi_spans spans = *a;

    *a = *b;
    *b = spans;
}

/* Leaves what is in searcher->allowed, too. */
static void keep_allowed(struct esi_searcher *searcher, struct esi_spans *spans)
{
    struct esi_spans *allowed = &searcher->allowed;

    esi_spans_sort(allowed);
    esi_searcher_check(searcher, allowed);
    if (allowed->count == 0) {
        spans->count = 0;
    } else if (allowed->count == 1) {
        esi_spans_keep(spans, allowed->items[0].begin, allowed->items[0].end);
    } else {
        esi_spans_intersect(&searcher->scratch, spans, allowed);
        esi_searcher_check(searcher, &searcher->scratch);
        exchange_spans(&searcher->scratch, spans);
    }
}

/* Values of a group rise. */
static void keep_above(struct esi_searcher *searcher,
                       const struct esi_restriction *restriction,
                       uint32_t slot,
                       struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct esi_domain_value value = searcher->values[restriction->floor];
    bool is_distinct = plan->groups[plan->group_of[restriction->v]].is_distinct;

    if (slot < value.slot)
        spans->count = 0;
    else if (slot == value.slot)
        esi_spans_keep(spans, value.position + is_distinct, UINT32_MAX);
}

static void keep_partners(struct esi_searcher *searcher,
                          const struct esi_restriction *restriction,
                          uint32_t slot,
                          struct esi_spans *spans)
{
    unsigned sender = (unsigned)restriction->sender;
    const struct esi_indexed_plan *plan = searcher->plan;
    struct esi_domain_column column =
        esi_domain_column(plan->domains[restriction->v], slot);
    const struct es_event_id *partners;
    size_t count =
        esi_domain_partners(plan->domains[sender], searcher->values[sender], &partners);

    searcher->allowed.count = 0;
    esi_column_spans(&column, partners, count, &searcher->allowed);
    keep_allowed(searcher, spans);
}

/* Times that are close enough to that of a bound variable. */
static void keep_near(struct esi_searcher *searcher,
                      const struct esi_literal *literal,
                      unsigned v,
                      uint32_t slot,
                      struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned other = literal->x == v ? literal->y : literal->x;
    int64_t within_ns = plan->program->atoms[literal->atom].node->within_ns;
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint32_t begin, end;

    if (!esi_domain_widen(plan->domains[other], searcher->values[other], &first,
                          &last)) {
        spans->count = 0;
        return;
    }
    if (first > last) /* a set without events happened at no time */
        return;
    esi_domain_rows_within(
        plan->domains[v], slot,
        last < INT64_MIN + within_ns ? INT64_MIN : last - within_ns,
        first > INT64_MAX - within_ns ? INT64_MAX : first + within_ns, &begin, &end);
    esi_spans_keep(spans, begin, end);
}

static void apply_clause(struct esi_searcher *searcher,
                         const struct esi_clause *clause,
                         unsigned v,
                         uint32_t slot,
                         struct esi_spans *spans)
{
    if (clause->universal) {
        esi_universal_restrict(searcher, clause, v, slot, spans);
        return;
    }
    searcher->allowed.count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & esi_program_bit(v))
            esi_literal_spans(searcher, &clause->literals[i], v, slot,
                              &searcher->allowed);
    keep_allowed(searcher, spans);
}

void esi_restriction_apply(struct esi_searcher *searcher,
                           const struct esi_restriction *restriction,
                           uint32_t slot,
                           struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned v = restriction->v;

    if (restriction->floor >= 0)
        keep_above(searcher, restriction, slot, spans);
    if (restriction->sender >= 0)
        keep_partners(searcher, restriction, slot, spans);
    /* These ask the order nothing. */
    for (size_t i = 0; i < restriction->near_count && spans->count > 0; i++)
        keep_near(searcher,
                  plan->clauses[searcher->work[restriction->clauses + i]].literals, v,
                  slot, spans);
    if (restriction->is_limited && spans->count > 0 &&
        is_beyond_limit(searcher, restriction,
                        esi_domain_column(plan->domains[v], slot).trace)) {
        spans->count = 0;
        return;
    }
    for (uint64_t left = restriction->masked; left && spans->count > 0;
         left &= left - 1) {
        unsigned x = (unsigned)__builtin_ctzll(left);

        searcher->allowed.count = 0;
        esi_mask_spans(searcher, x, plan->masks[v][x], plan->distinct_of[v], slot,
                       &searcher->allowed);
        keep_allowed(searcher, spans);
    }
    for (size_t i = restriction->near_count;
         i < restriction->clause_count && spans->count > 0; i++)
        apply_clause(searcher, &plan->clauses[searcher->work[restriction->clauses + i]],
                     v, slot, spans);
    esi_searcher_check(searcher, spans);
}

/* --- Walking columns -------------------------------------------------------------- */

struct esi_walk esi_walk_begin(const struct esi_searcher *searcher,
                               const struct esi_restriction *restriction)
{
    struct esi_walk walk = {.source = searcher->source[restriction->v],
                            .domain = searcher->plan->domains[restriction->v]};

    walk.end = walk.source ? walk.source->count : esi_domain_slots(walk.domain);
    if (restriction->is_listed && (walk.source || !restriction->is_lone)) {
        walk.listed = restriction->listed.values;
        walk.end = restriction->listed.count;
    } else if (!walk.source && restriction->is_lone) {
        walk.next = restriction->slot == ES_PATTERN_NONE ? walk.end : restriction->slot;
        if (walk.next < walk.end)
            walk.end = walk.next + 1;
    }
    return walk;
}

/* The first range of a slot, or behind it. */
static size_t range_of(const struct esi_candidates *source, uint32_t slot)
{
    size_t low = 0;
    size_t high = source->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (source->ranges[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the source has a position; `range` is where to look, and rises. */
static bool has_position(const struct esi_candidates *source,
                         uint32_t slot,
                         uint32_t position,
                         size_t *range)
{
    const struct esi_range *ranges = source->ranges;

    while (*range < source->count && ranges[*range].slot == slot &&
           ranges[*range].end <= position)
        ++*range;
    return *range < source->count && ranges[*range].slot == slot &&
           ranges[*range].begin <= position;
}

/* Of the values that are listed those of one column that the source has. */
static void take_listed(struct esi_walk *walk, uint32_t slot, struct esi_spans *spans)
{
    const struct esi_candidates *source = walk->source;
    size_t range = source ? range_of(source, slot) : 0;

    for (; walk->next < walk->end && walk->listed[walk->next].slot == slot;
         walk->next++) {
        uint32_t position = walk->listed[walk->next].position;

        if (!source || has_position(source, slot, position, &range))
            esi_spans_add(spans, position, position + 1);
    }
}

bool esi_walk_next(struct esi_walk *walk, uint32_t *ret_slot, struct esi_spans *spans)
{
    const struct esi_candidates *source = walk->source;
    size_t i = walk->next;

    spans->count = 0;
    if (walk->listed) {
        if (i == walk->end)
            return false;
        *ret_slot = walk->listed[i].slot;
        take_listed(walk, *ret_slot, spans);
        return true;
    }
    if (!source) {
        if (i == walk->end)
            return false;
        esi_spans_add(spans, 0, esi_domain_column(walk->domain, (uint32_t)i).count);
        *ret_slot = (uint32_t)i;
        walk->next++;
        return true;
    }
    if (i == walk->end)
        return false;
    *ret_slot = source->ranges[i].slot;
    for (; i < source->count && source->ranges[i].slot == *ret_slot; i++)
        esi_spans_add(spans, source->ranges[i].begin, source->ranges[i].end);
    walk->next = i;
    return true;
}

/* --- All columns ------------------------------------------------------------------ */

static void add_column(struct esi_searcher *searcher,
                       struct esi_candidates *candidates,
                       uint32_t slot,
                       const struct esi_spans *spans)
{
    if (candidates->count + spans->count > candidates->capacity) {
        size_t capacity = 2 * (candidates->count + spans->count) + 16;
        struct esi_range *larger =
            realloc(candidates->ranges, capacity * sizeof *larger);

        if (!larger) {
            searcher->error = -ENOMEM;
            return;
        }
        candidates->ranges = larger;
        candidates->capacity = capacity;
    }
    for (uint32_t i = 0; i < spans->count; i++)
        candidates->ranges[candidates->count++] =
            (struct esi_range){slot, spans->items[i].begin, spans->items[i].end};
    candidates->total += esi_spans_total(spans);
    candidates->slots += spans->count > 0;
}

static bool fill_columns(struct esi_searcher *searcher,
                         const struct esi_restriction *restriction,
                         unsigned depth,
                         uint64_t limit,
                         struct esi_candidates *candidates)
{
    struct esi_walk walk = esi_walk_begin(searcher, restriction);
    struct esi_spans *spans = &searcher->spans[depth];
    uint32_t slot;

    candidates->count = 0;
    candidates->total = 0;
    candidates->slots = 0;
    while (esi_walk_next(&walk, &slot, spans)) {
        esi_restriction_apply(searcher, restriction, slot, spans);
        add_column(searcher, candidates, slot, spans);
        if (candidates->total > limit)
            return false;
    }
    candidates->applied = searcher->check.bound;
    return true;
}

bool esi_candidates_make(struct esi_searcher *searcher,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit)
{
    struct esi_restriction restriction = esi_restriction_begin(searcher, v);
    struct esi_candidates *candidates =
        &searcher->candidates[(size_t)depth * searcher->plan->variable_count + v];
    const struct esi_candidates *source = searcher->source[v];
    bool result;

    if (!restriction.masked && restriction.floor < 0 && restriction.sender < 0 &&
        !restriction.is_listed && restriction.clause_count == 0) {
        esi_restriction_end(searcher, &restriction);
        return (source ? source->total
                       : esi_domain_count(searcher->plan->domains[v])) <= limit;
    }
    result = fill_columns(searcher, &restriction, depth, limit, candidates);
    esi_restriction_end(searcher, &restriction);
    if (result)
        searcher->source[v] = candidates;
    return result;
}
