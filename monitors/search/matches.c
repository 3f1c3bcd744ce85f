/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * matches.c - collects the events that assignments return, as distinct sets, and counts
 * them.
 *
 * A set of events is stored as a tuple of numbers: trace and index of each event,
 * sorted.  The tuple of an assignment (D10) contains, for each returned and bound
 * occurrence, its number, the number of events of its value, and these events.  Tuples
 * are remembered only if matches_proof.c cannot prove that they are distinct.
 */
#include "config.h"

#include "monitors/search/matches.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/truth/event_list.h"
#include "monitors/search/matches_proof.h"
#include "monitors/search/tuple_set.h"

struct esi_matches {
    const struct esi_program *program;
    const struct esi_domain *const *domains;
    struct esi_match_sink sink;
    uint64_t limit;
    struct esi_matches_proof proof; /* valid from the second assignment on */
    bool is_proved;
    uint64_t occurrences;                           /* bit set of the returned ones */
    uint64_t of_occurrence[ES_PATTERN_OCCURRENCES]; /* bit sets of existential
                                                       variables */
    uint64_t returned;                              /* bit set of variables */
    struct esi_tuple_set sets;
    struct esi_tuple_set tuples;
    struct esi_event_list events; /* of a match */
    struct esi_event_list value;  /* of an occurrence */
    uint32_t *key;                /* owned: tuple of an assignment */
    size_t key_capacity;
    uint64_t count;
    uint64_t assignments;
    bool is_enough;
};

static void sort_variables(struct esi_matches *matches)
{
    const struct esi_program *program = matches->program;
    const struct esi_pattern_predicate *predicate =
        esi_pattern_predicate(program->file, program->predicate);

    for (uint32_t i = 0; i < predicate->occurrence_count; i++)
        if (esi_pattern_is_returned(&predicate->occurrences[i]))
            matches->occurrences |= UINT64_C(1) << i;
    for (uint32_t v = 0; v < program->variable_count; v++) {
        const struct esi_program_variable *variable = &program->variables[v];

        if (variable->is_universal)
            continue;
        matches->of_occurrence[variable->occurrence] |= UINT64_C(1) << v;
        if (variable->is_returned)
            matches->returned |= UINT64_C(1) << v;
    }
}

int esi_matches_create(const struct esi_program *program,
                       const struct esi_domain *const *domains,
                       const struct esi_match_sink *sink,
                       uint64_t limit,
                       struct esi_matches **ret_matches)
{
    struct esi_matches *matches = calloc(1, sizeof *matches);

    if (!matches)
        return -ENOMEM;
    matches->program = program;
    matches->domains = domains;
    matches->sink = *sink;
    matches->limit = limit;
    sort_variables(matches);
    *ret_matches = matches;
    return 0;
}

void esi_matches_destroy(struct esi_matches *matches)
{
    if (!matches)
        return;
    esi_tuple_set_fini(&matches->sets);
    esi_tuple_set_fini(&matches->tuples);
    esi_event_list_fini(&matches->events);
    esi_event_list_fini(&matches->value);
    free(matches->key);
    free(matches);
}

/* --- The events of variables ------------------------------------------------------ */

/* Collects the union of the values of variables. */
static int unite_events(const struct esi_matches *matches,
                        uint64_t variables,
                        const struct esi_domain_value *values,
                        struct esi_event_list *ret_events)
{
    ret_events->count = 0;
    for (uint64_t left = variables; left; left &= left - 1) {
        int v = __builtin_ctzll(left);
        struct es_event_id scratch;
        const struct es_event_id *items;
        size_t count =
            esi_domain_events(matches->domains[v], values[v], &scratch, &items);

        if (esi_event_list_add(ret_events, items, count) < 0)
            return -ENOMEM;
    }
    esi_event_list_sort(ret_events);
    return 0;
}

/* --- Assignments ------------------------------------------------------------------ */

static uint32_t *put_events(uint32_t *at, const struct esi_event_list *events)
{
    for (size_t i = 0; i < events->count; i++) {
        *at++ = events->events[i].trace;
        *at++ = events->events[i].index;
    }
    return at;
}

/* Returns 1 if the tuple is new, 0 if it is known, or -ENOMEM. */
static int remember_tuple(struct esi_matches *matches,
                          uint64_t variables,
                          const struct esi_domain_value *values)
{
    size_t length = 0;

    for (uint64_t left = matches->occurrences; left; left &= left - 1) {
        int occurrence = __builtin_ctzll(left);
        uint64_t bound = matches->of_occurrence[occurrence] & variables;

        if (!bound)
            continue;
        if (unite_events(matches, bound & matches->returned, values, &matches->value) <
                0 ||
            ESI_ARRAY_RESERVE(matches->key, matches->key_capacity,
                              length + 2 + 2 * matches->value.count) < 0)
            return -ENOMEM;
        matches->key[length] = (uint32_t)occurrence;
        matches->key[length + 1] = (uint32_t)matches->value.count;
        put_events(matches->key + length + 2, &matches->value);
        length += 2 + 2 * matches->value.count;
    }
    return esi_tuple_set_add(&matches->tuples, matches->key, length);
}

static int count_assignment(struct esi_matches *matches,
                            uint64_t variables,
                            const struct esi_domain_value *values,
                            uint64_t times)
{
    int result = 1;

    if (matches->proof.do_sets_tell_tuples)
        return 0; /* counted by the number of matches */
    if (!matches->proof.are_tuples_distinct)
        result = remember_tuple(matches, variables, values);
    if (result > 0)
        matches->assignments += times;
    return result < 0 ? result : 0;
}

/* --- Matches ---------------------------------------------------------------------- */

/* The proof reads all events of the domains.  A search that ends with its first match
 * does not need it; it only remembers this match. */
static void prove_once(struct esi_matches *matches)
{
    if (matches->is_proved || matches->count == 0)
        return;
    matches->proof = esi_matches_prove(matches->program, matches->domains, NULL);
    matches->is_proved = true;
}

/* Returns 1 if the set is new, 0 if it is known, or -ENOMEM. */
static int remember_set(struct esi_matches *matches)
{
    if (matches->proof.are_sets_distinct)
        return 1;
    if (ESI_ARRAY_RESERVE(matches->key, matches->key_capacity,
                          2 * matches->events.count) < 0)
        return -ENOMEM;
    put_events(matches->key, &matches->events);
    return esi_tuple_set_add(&matches->sets, matches->key, 2 * matches->events.count);
}

int esi_matches_add(struct esi_matches *matches,
                    uint64_t variables,
                    const struct esi_domain_value *values)
{
    return esi_matches_add_times(matches, variables, values, 1);
}

int esi_matches_add_times(struct esi_matches *matches,
                          uint64_t variables,
                          const struct esi_domain_value *values,
                          uint64_t times)
{
    int result;

    if (matches->is_enough)
        return 1;
    prove_once(matches);
    result =
        unite_events(matches, variables & matches->returned, values, &matches->events);
    if (result == 0)
        result = count_assignment(matches, variables, values, times);
    if (result == 0)
        result = remember_set(matches);
    if (result <= 0)
        return result;
    matches->count++;
    result = matches->sink.match(matches->sink.data, matches->events.events,
                                 matches->events.count);
    if (result < 0)
        return result;
    matches->is_enough =
        result > 0 || (matches->limit > 0 && matches->count >= matches->limit);
    return matches->is_enough;
}

uint64_t esi_matches_count(const struct esi_matches *matches)
{
    return matches->count;
}

uint64_t esi_matches_assignments(const struct esi_matches *matches)
{
    return matches->proof.do_sets_tell_tuples ? matches->count : matches->assignments;
}

uint64_t esi_matches_bytes(const struct esi_matches *matches)
{
    return sizeof *matches + esi_tuple_set_bytes(&matches->sets) +
           esi_tuple_set_bytes(&matches->tuples) +
           (matches->events.capacity + matches->value.capacity) *
               sizeof *matches->events.events +
           matches->key_capacity * sizeof *matches->key;
}

/* --- Kept to be sorted ------------------------------------------------------------ */

int esi_match_list_add(struct esi_match_list *list,
                       const struct es_event_id *events,
                       size_t count)
{
    if (ESI_ARRAY_RESERVE(list->events, list->event_capacity,
                          list->event_count + count) < 0 ||
        ESI_ARRAY_RESERVE(list->ends, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        list->events[list->event_count++] = events[i];
    list->ends[list->count++] = list->event_count;
    return 0;
}

struct listed_match {
    const struct es_event_id *events;
    size_t count;
};

static int compare_matches(const void *left, const void *right)
{
    const struct listed_match *a = left;
    const struct listed_match *b = right;

    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const struct es_event_id *x = &a->events[i];
        const struct es_event_id *y = &b->events[i];

        if (x->trace != y->trace)
            return x->trace < y->trace ? -1 : 1;
        if (x->index != y->index)
            return x->index < y->index ? -1 : 1;
    }
    return (a->count > b->count) - (a->count < b->count);
}

int esi_match_list_sorted(const struct esi_match_list *list,
                          const struct esi_match_sink *sink)
{
    struct listed_match *matches = calloc(list->count + 1, sizeof *matches);
    size_t begin = 0;
    int result = 0;

    if (!matches)
        return -ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        matches[i].events = list->events + begin;
        matches[i].count = list->ends[i] - begin;
        begin = list->ends[i];
    }
    qsort(matches, list->count, sizeof *matches, compare_matches);
    for (size_t i = 0; result == 0 && i < list->count; i++)
        result = sink->match(sink->data, matches[i].events, matches[i].count);
    free(matches);
    return result;
}

void esi_match_list_fini(struct esi_match_list *list)
{
    free(list->events);
    free(list->ends);
    *list = (struct esi_match_list){.count = 0};
}
