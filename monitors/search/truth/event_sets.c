/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * event_sets.c - decides which of the four relations holds between two sets of events.
 *
 * A set is represented by its floor and ceiling on each trace: its first and last event
 * there.  Because sets are sorted by trace and index, the events of one trace are
 * adjacent, and no memory is needed to find these ends.  Ends on the same trace are
 * compared first, by their indexes; then the floors of one set with the ceilings of the
 * other, until the answer is known.
 */
#include "config.h"

#include "monitors/search/truth/event_sets.h"

struct set {
    const struct es_event_id *events;
    size_t count;
};

/* The events of a set on one trace. */
struct set_span {
    uint32_t trace;
    uint32_t first;
    uint32_t last;
};

/* The facts about two sets known so far. */
struct known {
    bool is_shared; /* some event is an end of both */
    bool is_before; /* a floor of the first precedes a ceiling of the second */
    bool is_after;  /* the reverse */
};

/* The span that begins at `at`, which is advanced past it. */
static struct set_span next_span(struct set set, size_t *at)
{
    struct set_span span = {set.events[*at].trace, set.events[*at].index, 0};

    while (*at < set.count && set.events[*at].trace == span.trace)
        span.last = set.events[(*at)++].index;
    return span;
}

static void compare_on_trace(struct esi_precedence *precedence,
                             struct set_span a,
                             struct set_span b,
                             struct known *known)
{
    known->is_shared |= a.first == b.first || a.first == b.last || a.last == b.first ||
                        a.last == b.last;
    if (known->is_shared)
        return;
    known->is_before |= a.first < b.last;
    known->is_after |= b.first < a.last;
    /* If each is one event, one comparison decides both. */
    precedence->comparisons += a.first == a.last && b.first == b.last ? 1 : 2;
}

/* Compares the ends on traces that both sets have. */
static struct known compare_on_traces(struct esi_precedence *precedence,
                                      struct set a,
                                      struct set b)
{
    struct known known = {false, false, false};
    size_t i = 0, j = 0;

    while (i < a.count && j < b.count && !known.is_shared) {
        if (a.events[i].trace < b.events[j].trace)
            next_span(a, &i);
        else if (a.events[i].trace > b.events[j].trace)
            next_span(b, &j);
        else
            compare_on_trace(precedence, next_span(a, &i), next_span(b, &j), &known);
    }
    return known;
}

/* Whether a floor of `a` precedes a ceiling of `b` on another trace. */
static bool is_any_before(struct esi_precedence *precedence, struct set a, struct set b)
{
    for (size_t i = 0; i < a.count;) {
        struct set_span from = next_span(a, &i);
        struct es_event_id floor = {from.trace, from.first};

        for (size_t j = 0; j < b.count;) {
            struct set_span to = next_span(b, &j);
            struct es_event_id ceiling = {to.trace, to.last};

            if (from.trace != to.trace &&
                esi_precedence_before(precedence, floor, ceiling))
                return true;
        }
    }
    return false;
}

/* Two events cannot precede each other: one answer is enough. */
static bool are_single(struct set a, struct set b)
{
    return a.count == 1 && b.count == 1;
}

bool esi_sets_share(const struct es_event_id *a,
                    size_t a_count,
                    const struct es_event_id *b,
                    size_t b_count)
{
    size_t i = 0, j = 0;

    while (i < a_count && j < b_count) {
        int order = esi_event_compare(a[i], b[j]);

        if (order == 0)
            return true;
        i += order < 0;
        j += order > 0;
    }
    return false;
}

bool esi_sets_any_before(struct esi_precedence *precedence,
                         const struct es_event_id *a,
                         size_t a_count,
                         const struct es_event_id *b,
                         size_t b_count)
{
    for (size_t i = 0; i < a_count; i++) {
        if (i > 0 && a[i - 1].trace == a[i].trace)
            continue;
        for (size_t j = 0; j < b_count; j++)
            if ((j + 1 == b_count || b[j + 1].trace != b[j].trace) &&
                esi_precedence_before(precedence, a[i], b[j]))
                return true;
    }
    return false;
}

static bool is_concurrent(struct esi_precedence *precedence,
                          struct set a,
                          struct set b,
                          struct known known)
{
    return !known.is_before && !known.is_after && !is_any_before(precedence, a, b) &&
           !is_any_before(precedence, b, a);
}

static bool is_before(struct esi_precedence *precedence,
                      struct set a,
                      struct set b,
                      struct known known)
{
    if (known.is_after || (!known.is_before && !is_any_before(precedence, a, b)))
        return false;
    return are_single(a, b) || !is_any_before(precedence, b, a);
}

static bool is_entangled(struct esi_precedence *precedence,
                         struct set a,
                         struct set b,
                         struct known known)
{
    if (are_single(a, b))
        return false;
    return (known.is_before || is_any_before(precedence, a, b)) &&
           (known.is_after || is_any_before(precedence, b, a));
}

bool esi_set_relation_holds(struct esi_precedence *precedence,
                            enum esi_pattern_operator op,
                            const struct es_event_id *a,
                            size_t a_count,
                            const struct es_event_id *b,
                            size_t b_count)
{
    struct set first = {a, a_count}, second = {b, b_count};
    struct known known = compare_on_traces(precedence, first, second);

    if (known.is_shared)
        return op == ES_OPERATOR_ENTANGLED;
    switch (op) {
    case ES_OPERATOR_BEFORE:
        return is_before(precedence, first, second, known);
    case ES_OPERATOR_CONCURRENT:
        return is_concurrent(precedence, first, second, known);
    case ES_OPERATOR_ENTANGLED:
        return is_entangled(precedence, first, second, known);
    case ES_OPERATOR_RECEIVED:
        break;
    }
    return false;
}
