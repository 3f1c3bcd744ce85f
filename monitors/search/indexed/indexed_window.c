/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_window.c - comparisons for order that bound an attribute on both sides.
 *
 *   $b.start > $a.start & $b.start < $a.stop
 *
 * With $a bound, what is left of $b lies side by side in an index of its values by
 * `start`.  A bound on one side alone seldom leaves few, and is tested.  An index is
 * made when it is first asked for; it takes 16 bytes a value.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_window.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"

/* A value and its attribute. */
struct sorted_value {
    int64_t number;
    struct esi_domain_value value;
};

struct sorted_index {
    size_t count;
    struct sorted_value entries[];
};

/* An attribute of a variable that clauses bound on both sides. */
struct window {
    unsigned v;
    const struct esi_domain *domain;
    const struct esi_pattern_node *node; /* one that compares it */
    unsigned side;
    pthread_mutex_t lock;                 /* of whoever makes the index */
    bool has_failed;                      /* no memory */
    _Atomic(struct sorted_index *) index; /* owned */
};

struct esi_attribute_windows {
    uint64_t variables; /* that have one */
    uint32_t count;
    struct window items[];
};

/* --- Which comparisons ------------------------------------------------------------ */

enum bound_kind { BOUND_NONE, BOUND_ABOVE, BOUND_BELOW };

static unsigned side_of(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal,
                        unsigned v)
{
    return plan->program->atoms[literal->atom].left >> v & 1 ? 0 : 1;
}

/* What a clause says of v: that its attribute is above another one, or below. */
static enum bound_kind bound_of(const struct esi_indexed_plan *plan,
                                const struct esi_clause *clause,
                                unsigned v)
{
    const struct esi_literal *literal = clause->literals;
    const struct esi_pattern_node *node;
    bool is_less;

    if (clause->count != 1 || clause->universal ||
        literal->kind != ES_LITERAL_COMPARE || literal->is_negated ||
        literal->x == literal->y)
        return BOUND_NONE;
    node = plan->program->atoms[literal->atom].node;
    if (node->is_negated || node->test < ES_TEST_LESS ||
        node->test > ES_TEST_GREATER_EQUAL)
        return BOUND_NONE;
    is_less = node->test == ES_TEST_LESS || node->test == ES_TEST_LESS_EQUAL;
    return is_less == (side_of(plan, literal, v) == 0) ? BOUND_BELOW : BOUND_ABOVE;
}

static const struct esi_pattern_operand *operand_of(const struct esi_indexed_plan *plan,
                                                    const struct esi_literal *literal,
                                                    unsigned v)
{
    return &plan->program->atoms[literal->atom]
                .node->operands[side_of(plan, literal, v)];
}

/* Whether a clause bounds the attribute of a window. */
static enum bound_kind bound_in(const struct esi_indexed_plan *plan,
                                const struct esi_clause *clause,
                                const struct window *window)
{
    enum bound_kind kind = bound_of(plan, clause, window->v);

    return kind != BOUND_NONE &&
                   esi_operands_are_same(operand_of(plan, clause->literals, window->v),
                                         &window->node->operands[window->side])
               ? kind
               : BOUND_NONE;
}

static bool has_window(const struct esi_attribute_windows *windows,
                       const struct esi_indexed_plan *plan,
                       const struct esi_clause *clause,
                       unsigned v)
{
    for (uint32_t i = 0; i < windows->count; i++)
        if (windows->items[i].v == v &&
            bound_in(plan, clause, &windows->items[i]) != BOUND_NONE)
            return true;
    return false;
}

/* Whether the attribute is bounded on the other side, too. */
static bool is_two_sided(const struct esi_indexed_plan *plan,
                         const struct window *window,
                         enum bound_kind kind)
{
    for (uint32_t i = 0; i < plan->clause_counts[window->v]; i++) {
        enum bound_kind other =
            bound_in(plan, &plan->clauses[plan->clauses_of[window->v][i]], window);

        if (other != BOUND_NONE && other != kind)
            return true;
    }
    return false;
}

static int note_window(struct esi_attribute_windows *windows,
                       const struct esi_indexed_plan *plan,
                       const struct esi_clause *clause,
                       unsigned v)
{
    const struct esi_literal *literal = clause->literals;
    struct window *window = &windows->items[windows->count];
    int result;

    window->v = v;
    window->domain = plan->domains[v];
    window->node = plan->program->atoms[literal->atom].node;
    window->side = side_of(plan, literal, v);
    if (!is_two_sided(plan, window, bound_of(plan, clause, v)))
        return 0;
    result = -pthread_mutex_init(&window->lock, NULL);
    windows->count += result == 0;
    windows->variables |= esi_program_bit(v);
    return result;
}

static void note_clauses(struct esi_indexed_plan *plan)
{
    const struct esi_attribute_windows *windows = plan->windows;

    for (uint32_t i = 0; i < windows->count; i++)
        for (uint32_t k = 0; k < plan->clause_count; k++)
            if (plan->clauses[k].existential >> windows->items[i].v & 1 &&
                bound_in(plan, &plan->clauses[k], &windows->items[i]) != BOUND_NONE)
                plan->facts[k].windowed |= esi_program_bit(windows->items[i].v);
}

static size_t count_bounds(const struct esi_indexed_plan *plan)
{
    size_t count = 0;

    for (unsigned v = 0; v < plan->variable_count; v++)
        for (uint32_t i = 0; i < plan->clause_counts[v]; i++)
            count +=
                bound_of(plan, &plan->clauses[plan->clauses_of[v][i]], v) != BOUND_NONE;
    return count;
}

int esi_attribute_windows_create(struct esi_indexed_plan *plan)
{
    size_t most =
        plan->is_growing || plan->without & ES_INDEXED_LOOKUPS ? 0 : count_bounds(plan);
    struct esi_attribute_windows *windows;
    int result = 0;

    if (most < 2)
        return 0;
    windows = calloc(1, sizeof *windows + most * sizeof windows->items[0]);
    if (!windows)
        return -ENOMEM;
    plan->windows = windows;
    for (unsigned v = 0; result == 0 && v < plan->variable_count; v++)
        for (uint32_t i = 0; result == 0 && i < plan->clause_counts[v]; i++) {
            const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];

            if (bound_of(plan, clause, v) != BOUND_NONE &&
                !has_window(windows, plan, clause, v))
                result = note_window(windows, plan, clause, v);
        }
    note_clauses(plan);
    return result;
}

void esi_attribute_windows_destroy(struct esi_attribute_windows *windows)
{
    for (uint32_t i = 0; windows && i < windows->count; i++) {
        free(atomic_load(&windows->items[i].index));
        pthread_mutex_destroy(&windows->items[i].lock);
    }
    free(windows);
}

static size_t index_bytes(size_t count)
{
    return sizeof(struct sorted_index) + count * sizeof(struct sorted_value);
}

uint64_t esi_attribute_windows_bytes(const struct esi_attribute_windows *windows)
{
    uint64_t bytes = windows ? sizeof *windows : 0;

    for (uint32_t i = 0; windows && i < windows->count; i++) {
        const struct sorted_index *index = atomic_load(&windows->items[i].index);

        bytes += sizeof windows->items[0] + (index ? index_bytes(index->count) : 0);
    }
    return bytes;
}

/* --- The index -------------------------------------------------------------------- */

static int compare_entries(const void *left, const void *right)
{
    const struct sorted_value *a = left;
    const struct sorted_value *b = right;

    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return 0; /* lists are sorted by their values later */
}

/* Of all values that have a number; NULL: no memory. */
static struct sorted_index *make_index(const struct window *window)
{
    const struct esi_domain *domain = window->domain;
    struct sorted_index *index = malloc(index_bytes(esi_domain_count(domain)));
    uint32_t slots = esi_domain_slots(domain);

    if (!index)
        return NULL;
    index->count = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++) {
            struct esi_domain_value value = {slot, p};
            struct esi_domain_key key;

            if (esi_domain_key(window->node, window->side, domain, value, &key) &&
                !key.is_text)
                index->entries[index->count++] =
                    (struct sorted_value){key.number, value};
        }
    }
    qsort(index->entries, index->count, sizeof index->entries[0], compare_entries);
    return index;
}

static const struct sorted_index *index_of(struct window *window)
{
    struct sorted_index *index =
        atomic_load_explicit(&window->index, memory_order_acquire);

    if (index)
        return index;
    pthread_mutex_lock(&window->lock);
    index = atomic_load(&window->index);
    if (!index && !window->has_failed) {
        index = make_index(window);
        window->has_failed = !index;
    }
    /* Pairs with the acquire above: who sees it sees what is in it. */
    atomic_store_explicit(&window->index, index, memory_order_release);
    pthread_mutex_unlock(&window->lock);
    return index;
}

/* The first entry whose number is not less. */
static size_t lower_bound(const struct sorted_index *index, int64_t number)
{
    size_t low = 0;
    size_t high = index->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (index->entries[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- Values ----------------------------------------------------------------------- */

/* Numbers from `low` to `high`. */
struct extent {
    int64_t low;
    int64_t high;
    bool is_below; /* something says what it is below of */
    bool is_above;
    bool is_empty;
};

static void narrow_below(struct extent *extent, int64_t number, bool is_strict)
{
    extent->is_empty |= is_strict && number == INT64_MIN;
    if (!extent->is_empty && number - is_strict < extent->high)
        extent->high = number - is_strict;
    extent->is_below = true;
}

static void narrow_above(struct extent *extent, int64_t number, bool is_strict)
{
    extent->is_empty |= is_strict && number == INT64_MAX;
    if (!extent->is_empty && number + is_strict > extent->low)
        extent->low = number + is_strict;
    extent->is_above = true;
}

/* By a clause whose other variable is bound. */
static void narrow_extent(const struct esi_bound *bound,
                          const struct esi_literal *literal,
                          unsigned v,
                          enum bound_kind kind,
                          struct extent *extent)
{
    const struct esi_indexed_plan *plan = bound->plan;
    const struct esi_pattern_node *node = plan->program->atoms[literal->atom].node;
    unsigned other = literal->x == v ? literal->y : literal->x;
    bool is_strict = node->test == ES_TEST_LESS || node->test == ES_TEST_GREATER;
    struct esi_domain_key key;

    if (!esi_domain_key(node, side_of(plan, literal, other), plan->domains[other],
                        bound->values[other], &key) ||
        key.is_text)
        extent->is_empty = true;
    else if (kind == BOUND_BELOW)
        narrow_below(extent, key.number, is_strict);
    else
        narrow_above(extent, key.number, is_strict);
}

static struct extent extent_of(const struct esi_bound *bound,
                               const struct window *window)
{
    const struct esi_indexed_plan *plan = bound->plan;
    struct extent extent = {.low = INT64_MIN, .high = INT64_MAX};

    for (uint32_t i = 0; i < plan->clause_counts[window->v]; i++) {
        const struct esi_clause *clause =
            &plan->clauses[plan->clauses_of[window->v][i]];
        enum bound_kind kind = bound_in(plan, clause, window);

        if (kind != BOUND_NONE &&
            !(clause->existential & ~esi_program_bit(window->v) & ~bound->check.bound))
            narrow_extent(bound, clause->literals, window->v, kind, &extent);
    }
    return extent;
}

/* Copies what is side by side, in the order of the domain. */
static bool list_entries(const struct sorted_value *entries,
                         size_t count,
                         struct esi_sorted_list *list,
                         struct esi_listed *ret_listed)
{
    if (ESI_ARRAY_RESERVE(list->values, list->capacity, count) < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        list->values[i] = entries[i].value;
    *ret_listed =
        (struct esi_listed){list->values, esi_domain_values_sort(list->values, count)};
    return true;
}

static bool find_in(const struct esi_bound *bound,
                    struct window *window,
                    uint64_t most,
                    struct esi_sorted_list *list,
                    struct esi_listed *ret_listed)
{
    struct extent extent = extent_of(bound, window);
    const struct sorted_index *index;
    size_t begin;
    size_t end;

    if (extent.is_empty || extent.low > extent.high) {
        *ret_listed = (struct esi_listed){NULL, 0};
        return true;
    }
    index = extent.is_below && extent.is_above ? index_of(window) : NULL;
    if (!index)
        return false;
    begin = lower_bound(index, extent.low);
    end = extent.high == INT64_MAX ? index->count : lower_bound(index, extent.high + 1);
    return end - begin <= most &&
           list_entries(index->entries + begin, end - begin, list, ret_listed);
}

bool esi_window_find(struct esi_bound *bound,
                     unsigned v,
                     uint64_t most,
                     struct esi_sorted_list *list,
                     struct esi_listed *ret_listed)
{
    struct esi_attribute_windows *windows = bound->plan->windows;

    if (!windows || !(windows->variables >> v & 1))
        return false;
    for (uint32_t i = 0; i < windows->count; i++)
        if (windows->items[i].v == v &&
            find_in(bound, &windows->items[i], most, list, ret_listed))
            return true;
    return false;
}
