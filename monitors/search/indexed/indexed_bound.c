/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_bound.c - the bound variables, and where in a column an event's predecessors
 * end and its successors begin.
 *
 * Predecessors take one comparison: the entry of the event's timestamp; its position in
 * the column is found by index.  The first successor is found by a galloping search
 * with one comparison per step, from the end of the predecessors, or from the first
 * successor of an earlier event of the same trace, because along a trace it only moves
 * forward.
 *
 * Results are valid while the variable is bound to the same value.  For small domains
 * that do not grow they are cached for each value.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/indexed/indexed_sorted.h"

enum {
    MEMORY_ENTRIES = 1 << 18, /* maximum of cached entries for a pair of domains */
    LEAST_TRACES = 64,        /* initial capacity of a timestamp */
    ADJACENT_PARTNERS = 8,    /* maximum of partners tested for whether an event
                                 precedes them */
};

/* An entry of a bound variable's timestamp. */
struct stamp_entry {
    uint64_t binding; /* number of the binding */
    uint32_t greatest;
};

struct esi_bound_variable {
    uint64_t binding;          /* number of the current binding */
    struct stamp_entry *stamp; /* owned: [trace] */
    size_t stamp_capacity;
};

/* The known bounds for a bound variable and a column. */
struct column_ends {
    uint64_t before_binding; /* the binding of before_end */
    uint64_t after_binding;
    uint32_t before_end;         /* positions before this are its predecessors */
    uint32_t after_begin;        /* positions from here on are its successors */
    struct es_event_id after_of; /* event of after_begin: a hint for later events */
};

/* The bounds for all columns of a domain. */
struct esi_bound_ends {
    struct column_ends *columns; /* owned: [slot] */
    size_t capacity;
};

/* The bounds for all values of a small domain, cached permanently. */
struct esi_bound_memo {
    bool is_decided; /* whether `ends` was considered already */
    uint32_t *ends;  /* owned: pairs of before_end and after_begin, each plus one; 0:
                        unknown */
};

/* --- Start and end ---------------------------------------------------------------- */

int esi_bound_init(struct esi_bound *bound, const struct esi_indexed_plan *plan)
{
    size_t variables = plan->variable_count + 1u;
    size_t domains = plan->distinct_count + 1u;

    *bound = (struct esi_bound){
        .plan = plan,
        .precedence = {.order = plan->order, .stamps = plan->stamps},
        .check = {.program = plan->program,
                  .domains = plan->domains,
                  .counted = plan->counted,
                  .precedence = &bound->precedence},
        .pinned = -1,
        .values = calloc(variables, sizeof *bound->values),
        .times = calloc(variables, sizeof *bound->times),
        .variables = calloc(variables, sizeof *bound->variables),
        .ends = calloc(variables * domains, sizeof *bound->ends),
        .memos = calloc(domains * domains, sizeof *bound->memos),
    };
    if (esi_formula_check_init(&bound->check) < 0 || !bound->values || !bound->times ||
        !bound->variables || !bound->ends || !bound->memos)
        return -ENOMEM;
    return 0;
}

void esi_bound_fini(struct esi_bound *bound)
{
    size_t variables = bound->plan->variable_count;
    size_t domains = bound->plan->distinct_count;

    for (size_t i = 0; bound->variables && i < variables; i++)
        free(bound->variables[i].stamp);
    for (size_t i = 0; bound->ends && i < variables * domains; i++)
        free(bound->ends[i].columns);
    for (size_t i = 0; bound->memos && i < domains * domains; i++)
        free(bound->memos[i].ends);
    free(bound->values);
    free(bound->times);
    free(bound->variables);
    free(bound->ends);
    free(bound->memos);
    esi_formula_check_fini(&bound->check);
    esi_intervals_fini(&bound->plain);
}

uint64_t esi_bound_bytes(const struct esi_bound *bound)
{
    const struct esi_indexed_plan *plan = bound->plan;
    size_t domains = plan->distinct_count;
    uint64_t bytes =
        plan->variable_count *
        (sizeof *bound->values + sizeof *bound->times + sizeof *bound->variables +
         sizeof *bound->check.bindings + domains * sizeof *bound->ends);

    for (size_t i = 0; i < plan->variable_count; i++)
        bytes += bound->variables[i].stamp_capacity * sizeof *bound->variables->stamp;
    for (size_t i = 0; i < plan->variable_count * domains; i++)
        bytes += bound->ends[i].capacity * sizeof *bound->ends->columns;
    for (size_t i = 0; i < domains * domains; i++)
        if (bound->memos[i].ends)
            bytes += 2 * sizeof *bound->memos->ends *
                     esi_domain_count(plan->distinct[i / domains]) *
                     esi_domain_slots(plan->distinct[i % domains]);
    return bytes + (bound->check.sides[0].capacity + bound->check.sides[1].capacity) *
                       sizeof *bound->check.sides->events;
}

void esi_bound_reset(struct esi_bound *bound)
{
    bound->error = 0;
    bound->check.bound = 0;
    bound->pinned = -1;
}

static bool is_single(const struct esi_bound *bound, unsigned x)
{
    return bound->plan->single >> x & 1;
}

static void note_times(struct esi_bound *bound,
                       unsigned variable,
                       struct esi_domain_value value)
{
    const struct esi_domain *domain = bound->plan->domains[variable];
    struct esi_bound_times *times = &bound->times[variable];

    if (is_single(bound, variable)) {
        times->first = times->last = esi_domain_time_at(domain, value);
        times->are_known = times->first != ESI_NO_TIME;
        return;
    }
    times->first = INT64_MAX;
    times->last = INT64_MIN;
    times->are_known = esi_domain_widen(domain, value, &times->first, &times->last);
}

void esi_bound_bind(struct esi_bound *bound,
                    unsigned variable,
                    struct esi_domain_value value)
{
    if (bound->plan->timed >> variable & 1)
        note_times(bound, variable, value);
    if (is_single(bound, variable)) {
        struct esi_domain_column column =
            esi_domain_column_at(bound->plan->domains[variable], value.slot);

        esi_formula_check_bind_event(
            &bound->check, variable, value,
            (struct es_event_id){column.trace, column.indexes[value.position]});
    } else {
        esi_formula_check_bind(&bound->check, variable, value);
    }
    bound->values[variable] = value;
    bound->variables[variable].binding++;
}

/* --- Single events ---------------------------------------------------------------- */

static struct esi_domain_column part_of(const struct esi_domain_column *column,
                                        struct esi_interval within)
{
    return (struct esi_domain_column){column->trace, within.end - within.begin,
                                      column->indexes + within.begin};
}

/* Number of positions whose index is `index` or less. */
static uint32_t position_after(const struct esi_domain_column *column, uint32_t index)
{
    return index == UINT32_MAX ? column->count : esi_column_position(column, index + 1);
}

uint32_t esi_bound_before_end(struct esi_bound *bound,
                              struct es_event_id event,
                              const struct esi_domain_column *column)
{
    if (column->count == 0)
        return 0;
    if (event.trace == column->trace)
        return esi_column_position(column, event.index);
    return position_after(
        column, esi_precedence_greatest(&bound->precedence, event, column->trace));
}

static bool precedes_position(struct esi_bound *bound,
                              struct es_event_id event,
                              const struct esi_domain_column *column,
                              uint32_t position)
{
    struct es_event_id other = {column->trace, column->indexes[position]};

    return esi_precedence_before(&bound->precedence, event, other);
}

/* The first successor in `within`, by steps that double and then by binary search. */
static uint32_t gallop_forward(struct esi_bound *bound,
                               struct es_event_id event,
                               const struct esi_domain_column *column,
                               struct esi_interval within)
{
    uint32_t low = within.begin;
    uint32_t high = within.end;

    for (uint32_t step = 1; low < high; step *= 2) {
        uint32_t probe = high - low <= step ? high - 1 : low + step - 1;

        if (precedes_position(bound, event, column, probe)) {
            high = probe;
            break;
        }
        low = probe + 1;
        if (step > UINT32_MAX / 4)
            break;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (precedes_position(bound, event, column, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The same from the end. */
static uint32_t gallop_back(struct esi_bound *bound,
                            struct es_event_id event,
                            const struct esi_domain_column *column,
                            struct esi_interval within)
{
    for (uint64_t step = 1; within.begin < within.end; step *= 2) {
        uint32_t probe = within.end - within.begin > step ? within.end - (uint32_t)step
                                                          : within.begin;

        if (!precedes_position(bound, event, column, probe)) {
            within.begin = probe + 1;
            return gallop_forward(bound, event, column, within);
        }
        within.end = probe;
    }
    return within.end;
}

uint32_t esi_bound_after_begin(struct esi_bound *bound,
                               struct es_event_id event,
                               const struct esi_domain_column *column,
                               struct esi_interval within)
{
    uint32_t position;

    if (event.trace != column->trace)
        return gallop_forward(bound, event, column, within);
    position = position_after(column, event.index);
    if (position < within.begin)
        return within.begin;
    return position > within.end ? within.end : position;
}

/* The entry for a trace; NULL if there was no memory. */
static struct stamp_entry *stamp_entry_of(struct esi_bound *bound,
                                          struct esi_bound_variable *variable,
                                          uint32_t trace)
{
    size_t old = variable->stamp_capacity;

    if (trace < old)
        return &variable->stamp[trace];
    if (ESI_ARRAY_RESERVE(variable->stamp, variable->stamp_capacity,
                          trace < LEAST_TRACES ? LEAST_TRACES : trace + 1u) < 0) {
        bound->error = -ENOMEM;
        return NULL;
    }
    memset(variable->stamp + old, 0,
           (variable->stamp_capacity - old) * sizeof *variable->stamp);
    return &variable->stamp[trace];
}

uint32_t esi_bound_ask_greatest(struct esi_bound *bound, unsigned x, uint32_t trace)
{
    struct esi_bound_variable *variable = &bound->variables[x];
    struct stamp_entry *entry = stamp_entry_of(bound, variable, trace);

    if (!entry)
        return 0;
    if (entry->binding != variable->binding)
        *entry = (struct stamp_entry){
            .binding = variable->binding,
            .greatest = esi_precedence_greatest(&bound->precedence,
                                                esi_bound_event(bound, x), trace)};
    return entry->greatest;
}

/* An event before y is one of y's immediate predecessors, or before one of them. */
bool esi_bound_are_adjacent(struct esi_bound *bound,
                            struct es_event_id event,
                            unsigned y,
                            struct esi_domain_value value)
{
    const struct esi_domain *domain = bound->plan->domains[y];
    struct esi_domain_column column = esi_domain_column(domain, value.slot);
    struct es_event_id last = {column.trace, column.indexes[value.position] - 1};
    const struct es_event_id *partners;
    size_t count;

    if (!esi_domain_keeps_partners(domain))
        return false;
    count = esi_domain_partners(domain, value, &partners);
    if (count > ADJACENT_PARTNERS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (esi_precedence_of(&bound->precedence, event, partners[i]))
            return false;
    return last.index == 0 || !esi_precedence_of(&bound->precedence, event, last);
}

/* --- Bound variables -------------------------------------------------------------- */

static uint32_t find_before_end(struct esi_bound *bound,
                                unsigned x,
                                const struct esi_domain_column *column)
{
    struct es_event_id event = esi_bound_event(bound, x);
    const struct esi_formula_binding *set = &bound->check.bindings[x];
    uint32_t end = 0;

    if (is_single(bound, x))
        return event.trace == column->trace
                   ? esi_column_position(column, event.index)
                   : position_after(column,
                                    esi_bound_greatest(bound, x, column->trace));
    for (size_t i = 0; i < set->count; i++) {
        uint32_t one = esi_bound_before_end(bound, set->events[i], column);

        if (one > end)
            end = one;
    }
    return end;
}

/* While events arrive, the bound events are recent, and most columns contain no
 * successor of them.  `within` is not empty. */
static uint32_t find_recent_begin(struct esi_bound *bound,
                                  unsigned x,
                                  const struct esi_domain_column *column,
                                  struct esi_interval within)
{
    struct es_event_id event = esi_bound_event(bound, x);

    if (esi_bound_is_last(bound, x))
        return within.end;
    if (event.trace == column->trace)
        return esi_bound_after_begin(bound, event, column, within);
    if (!precedes_position(bound, event, column, within.end - 1))
        return within.end;
    within.end--;
    return gallop_back(bound, event, column, within);
}

static uint32_t find_after_begin(struct esi_bound *bound,
                                 unsigned x,
                                 const struct esi_domain_column *column,
                                 uint32_t low)
{
    struct esi_interval within = {low, column->count};
    const struct esi_formula_binding *set = &bound->check.bindings[x];

    if (is_single(bound, x))
        return esi_bound_after_begin(bound, esi_bound_event(bound, x), column, within);
    within.begin = 0;
    for (size_t i = 0; i < set->count; i++)
        within.end = esi_bound_after_begin(bound, set->events[i], column, within);
    return within.end;
}

/* NULL if there was no memory. */
static struct column_ends *ends_of(struct esi_bound *bound,
                                   unsigned x,
                                   const struct esi_bound_target *target)
{
    struct esi_bound_ends *ends =
        &bound->ends[(size_t)x * bound->plan->distinct_count + target->distinct];
    uint32_t slot = target->slot;
    size_t old = ends->capacity;

    if (slot < old)
        return &ends->columns[slot];
    if (ESI_ARRAY_RESERVE(ends->columns, ends->capacity,
                          esi_domain_slots(bound->plan->distinct[target->distinct])) <
        0) {
        bound->error = -ENOMEM;
        return NULL;
    }
    memset(ends->columns + old, 0, (ends->capacity - old) * sizeof *ends->columns);
    return &ends->columns[slot];
}

/* Allocates the cache for all values of one domain in all columns of another.  The
 * search also works without it. */
static void create_memo(const struct esi_indexed_plan *plan,
                        unsigned of,
                        unsigned on,
                        struct esi_bound_memo *memo)
{
    uint64_t entries =
        esi_domain_count(plan->distinct[of]) * esi_domain_slots(plan->distinct[on]);

    memo->is_decided = true;
    if (!plan->offsets[of] || !esi_domain_is_single(plan->distinct[on]) ||
        entries > MEMORY_ENTRIES)
        return;
    memo->ends = calloc(2 * entries, sizeof *memo->ends);
}

/* The cached bounds for a value of a small domain; NULL if there are none. */
static uint32_t *remembered_ends(struct esi_bound *bound,
                                 unsigned x,
                                 const struct esi_bound_target *target)
{
    const struct esi_indexed_plan *plan = bound->plan;
    unsigned of = plan->distinct_of[x];
    struct esi_bound_memo *memo =
        &bound->memos[(size_t)of * plan->distinct_count + target->distinct];
    struct esi_domain_value value = bound->values[x];
    uint64_t number;

    if (plan->is_growing)
        return NULL;
    if (!memo->is_decided)
        create_memo(plan, of, target->distinct, memo);
    if (!memo->ends)
        return NULL;
    number = plan->offsets[of][value.slot] + value.position;
    number = number * esi_domain_slots(plan->distinct[target->distinct]) + target->slot;
    return &memo->ends[2 * number];
}

/* While events arrive, finding the bounds is as fast as caching them. */
static bool is_found_anew(const struct esi_bound *bound, unsigned x)
{
    return bound->plan->is_growing && is_single(bound, x);
}

/* The end of the predecessors of the bound variable x in the column, and the beginning
 * of its successors; for sets: of those that precede or succeed some event.  Events
 * outside `within` may be treated as those next to it. */
static uint32_t before_end(struct esi_bound *bound,
                           unsigned x,
                           const struct esi_bound_target *target,
                           struct esi_interval within)
{
    uint32_t *memory;
    struct column_ends *entry;

    if (is_found_anew(bound, x)) {
        struct esi_domain_column part = part_of(&target->column, within);

        return within.begin + find_before_end(bound, x, &part);
    }
    memory = remembered_ends(bound, x, target);
    if (memory) {
        if (memory[0] == 0)
            memory[0] = find_before_end(bound, x, &target->column) + 1;
        return memory[0] - 1;
    }
    entry = ends_of(bound, x, target);
    if (!entry)
        return 0;
    if (entry->before_binding != bound->variables[x].binding) {
        entry->before_end = find_before_end(bound, x, &target->column);
        entry->before_binding = bound->variables[x].binding;
    }
    return entry->before_end;
}

/* A position before which there are no successors of single x. */
static uint32_t lowest_successor(struct esi_bound *bound,
                                 unsigned x,
                                 const struct column_ends *entry,
                                 uint32_t before)
{
    struct es_event_id event = esi_bound_event(bound, x);

    if (entry->after_binding > 0 && entry->after_of.trace == event.trace &&
        entry->after_of.index <= event.index && entry->after_begin > before)
        return entry->after_begin;
    return before;
}

static uint32_t after_begin(struct esi_bound *bound,
                            unsigned x,
                            const struct esi_bound_target *target,
                            struct esi_interval within)
{
    struct column_ends *entry;
    uint32_t low = 0, *memory;

    if (esi_bound_is_last(bound, x) || within.begin == within.end)
        return within.end;
    if (is_found_anew(bound, x))
        return find_recent_begin(bound, x, &target->column, within);
    memory = remembered_ends(bound, x, target);
    entry = ends_of(bound, x, target);
    if (memory && memory[1] != 0)
        return memory[1] - 1;
    if (!entry)
        return 0;
    if (!memory && entry->after_binding == bound->variables[x].binding)
        return entry->after_begin;
    if (is_single(bound, x))
        low = lowest_successor(bound, x, entry, before_end(bound, x, target, within));
    entry->after_begin = find_after_begin(bound, x, &target->column, low);
    entry->after_binding = bound->variables[x].binding;
    entry->after_of = esi_bound_event(bound, x);
    if (memory)
        memory[1] = entry->after_begin + 1;
    return entry->after_begin;
}

/* --- Literals --------------------------------------------------------------------- */

enum esi_formula_truth esi_bound_truth(struct esi_bound *bound,
                                       const struct esi_literal *literal)
{
    enum esi_formula_truth truth = esi_literal_truth(&bound->check, literal);

    if (bound->check.failure)
        bound->error = bound->check.failure;
    return truth;
}

/* --- Clauses ---------------------------------------------------------------------- */

bool esi_bound_satisfies(struct esi_bound *bound, const struct esi_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if ((clause->literals[i].variables & ~bound->check.bound) == 0 &&
            esi_bound_truth(bound, &clause->literals[i]) == ES_FORMULA_HOLDS)
            return true;
    return false;
}

bool esi_bound_refutes(struct esi_bound *bound, const struct esi_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (literal->kind != ES_LITERAL_FORMULA &&
            literal->variables & ~bound->check.bound)
            return false;
    }
    for (uint32_t i = 0; i < clause->count; i++)
        if (esi_bound_truth(bound, &clause->literals[i]) != ES_FORMULA_FAILS)
            return false;
    return true;
}

/* --- Intervals -------------------------------------------------------------------- */

/* The interval of a mask that leaves only one. */
static struct esi_interval mask_interval(struct esi_bound *bound,
                                         unsigned x,
                                         uint8_t mask,
                                         const struct esi_bound_target *target,
                                         struct esi_interval within)
{
    bool is_own = target->column.trace == esi_bound_event(bound, x).trace;
    bool between = mask & (is_own ? ESI_IS_SAME : ESI_IS_CONCURRENT);
    struct esi_interval interval = {0, 0};

    if (mask & ESI_IS_AFTER)
        interval.end = within.end;
    else if (between)
        interval.end = after_begin(bound, x, target, within);
    else if (mask & ESI_IS_BEFORE)
        interval.end = before_end(bound, x, target, within);
    if (mask & ESI_IS_BEFORE)
        return interval;
    if (between)
        interval.begin = before_end(bound, x, target, within);
    else if (mask & ESI_IS_AFTER)
        interval.begin = after_begin(bound, x, target, within);
    return interval;
}

void esi_bound_add_mask(struct esi_bound *bound,
                        unsigned x,
                        uint8_t mask,
                        const struct esi_bound_target *target,
                        struct esi_intervals *intervals)
{
    struct esi_interval one = {0, target->column.count};
    uint8_t between = target->column.trace == esi_bound_event(bound, x).trace
                          ? ESI_IS_SAME
                          : ESI_IS_CONCURRENT;

    /* The values before and after x, without those between. */
    if (mask & ESI_IS_BEFORE && mask & ESI_IS_AFTER && !(mask & between)) {
        esi_intervals_add(intervals, 0, before_end(bound, x, target, one));
        esi_intervals_add(intervals, after_begin(bound, x, target, one), one.end);
        return;
    }
    one = mask_interval(bound, x, mask, target, one);
    esi_intervals_add(intervals, one.begin, one.end);
}

void esi_bound_keep_mask(struct esi_bound *bound,
                         unsigned x,
                         uint8_t mask,
                         const struct esi_bound_target *target,
                         struct esi_interval *kept)
{
    struct esi_interval one = mask_interval(bound, x, mask, target, *kept);

    kept->begin = one.begin > kept->begin ? one.begin : kept->begin;
    kept->end = one.end < kept->end ? one.end : kept->end;
}

/* Whether the relation of an event to bound x is in a mask. */
static bool is_allowed(struct esi_bound *bound,
                       struct es_event_id event,
                       unsigned x,
                       uint8_t mask)
{
    struct es_event_id other = esi_bound_event(bound, x);
    bool is_after;

    if (esi_event_is(event, other))
        return mask & ESI_IS_SAME;
    if (event.trace == other.trace)
        return mask & (event.index < other.index ? ESI_IS_BEFORE : ESI_IS_AFTER);
    if (esi_bound_greatest(bound, x, event.trace) >= event.index)
        return mask & ESI_IS_BEFORE;
    /* This mask treats events after x like those concurrent with it. */
    if (!esi_mask_needs_successors(mask))
        return mask & ESI_IS_AFTER;
    is_after = !esi_bound_is_last(bound, x) &&
               esi_precedence_before(&bound->precedence, other, event);
    return mask & (is_after ? ESI_IS_AFTER : ESI_IS_CONCURRENT);
}

bool esi_bound_allows(struct esi_bound *bound,
                      struct es_event_id event,
                      unsigned v,
                      uint64_t masked)
{
    for (; masked; masked &= masked - 1) {
        unsigned x = (unsigned)__builtin_ctzll(masked);

        if (!is_allowed(bound, event, x, bound->plan->masks[v][x]))
            return false;
    }
    return true;
}

void esi_column_add_events(const struct esi_domain_column *column,
                           const struct es_event_id *events,
                           size_t count,
                           struct esi_intervals *intervals)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t position;

        if (events[i].trace != column->trace)
            continue;
        position = esi_column_position(column, events[i].index);
        if (position < column->count && column->indexes[position] == events[i].index)
            esi_intervals_add(intervals, position, position + 1);
    }
}

/* Adds the receives of v that name bound x. */
static void add_receives(struct esi_bound *bound,
                         unsigned x,
                         const struct esi_bound_target *target,
                         struct esi_intervals *intervals)
{
    const struct esi_indexed_plan *plan = bound->plan;
    struct es_event_id send = esi_bound_event(bound, x);
    struct esi_domain_value value;
    struct esi_listed listed;
    uint32_t at = 0;
    int result;

    if (!plan->is_growing) {
        listed =
            esi_sorted_index_find(plan->received[target->distinct], esi_send_key(send));
        for (size_t i = 0; i < listed.count; i++)
            if (listed.values[i].slot == target->slot)
                esi_intervals_add(intervals, listed.values[i].position,
                                  listed.values[i].position + 1);
        return;
    }
    while ((result = esi_domain_next_receive(plan->domains[target->v], send, &at,
                                             &value)) > 0)
        if (value.slot == target->slot)
            esi_intervals_add(intervals, value.position, value.position + 1);
    if (result < 0)
        bound->error = result;
}

/* Adds the values for the literal without its negation. */
static void add_plain(struct esi_bound *bound,
                      const struct esi_literal *literal,
                      const struct esi_bound_target *target,
                      struct esi_intervals *intervals)
{
    bool is_left = target->v == literal->x;
    unsigned other = is_left ? literal->y : literal->x;
    const struct esi_formula_binding *binding = &bound->check.bindings[other];
    struct esi_interval all = {0, target->column.count};
    const struct es_event_id *sends;
    size_t count;

    switch (literal->kind) {
    case ES_LITERAL_RELATION:
        esi_bound_add_mask(bound, other,
                           is_left ? literal->mask : esi_mask_turned(literal->mask),
                           target, intervals);
        break;
    case ES_LITERAL_BEFORE: /* some event of one precedes some event of the other */
        if (is_left)
            esi_intervals_add(intervals, 0, before_end(bound, other, target, all));
        else
            esi_intervals_add(intervals, after_begin(bound, other, target, all),
                              all.end);
        break;
    case ES_LITERAL_EQUAL:
        esi_column_add_events(&target->column, binding->events, binding->count,
                              intervals);
        break;
    case ES_LITERAL_RECEIVED:
        if (!is_left) {
            add_receives(bound, other, target, intervals);
            break;
        }
        count = esi_domain_partners(bound->plan->domains[other], bound->values[other],
                                    &sends);
        esi_column_add_events(&target->column, sends, count, intervals);
        break;
    case ES_LITERAL_NEAR:
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
    case ES_LITERAL_FORMULA:
        break; /* never exact */
    }
}

void esi_bound_add_literal(struct esi_bound *bound,
                           const struct esi_literal *literal,
                           unsigned v,
                           uint32_t slot,
                           struct esi_intervals *intervals)
{
    struct esi_bound_target target = esi_bound_target_of(bound, v, slot);

    if (literal->kind == ES_LITERAL_RELATION || !literal->is_negated) {
        add_plain(bound, literal, &target, intervals);
        return;
    }
    bound->plain.count = 0;
    add_plain(bound, literal, &target, &bound->plain);
    esi_intervals_sort(&bound->plain);
    esi_bound_check(bound, &bound->plain);
    esi_intervals_add_others(intervals, &bound->plain, target.column.count);
}
