/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_print.c - the matches of a predicate as they are found, or sorted. */
#include "config.h"

#include "cli/search_print.h"

#include <errno.h>
#include <stdlib.h>

#include "base/now.h"
#include "cli/search_match.h"

#define FLUSH_NS UINT64_C(100000000) /* what was found is seen so soon */

/* --- Now -------------------------------------------------------------------------- */

static int print_now(struct esi_search_print *print,
                     const struct esi_search_match *match)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    esi_search_progress_clear(print->progress);
    result = esi_search_match_print(print, match);
    if (now_ns - print->flushed_ns >= FLUSH_NS) {
        fflush(stdout);
        print->flushed_ns = now_ns;
    }
    return result;
}

/* --- Later ------------------------------------------------------------------------ */

static int reserve_rows(struct esi_search_print *print, size_t count)
{
    size_t capacity = 2 * (print->event_count + count);

    if (print->event_count + count > print->event_capacity) {
        struct es_event_id *events =
            reallocarray(print->events, capacity, sizeof *events);

        if (!events)
            return -ENOMEM;
        print->events = events;
        print->event_capacity = capacity;
    }
    if (print->match_count == print->match_capacity) {
        size_t more = print->match_capacity ? 2 * print->match_capacity : 64;
        size_t *ends = reallocarray(print->ends, more, sizeof *ends);

        if (!ends)
            return -ENOMEM;
        print->ends = ends;
        print->match_capacity = more;
    }
    return 0;
}

static int keep_match(struct esi_search_print *print,
                      const struct esi_search_match *match)
{
    if (reserve_rows(print, match->count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < match->count; i++)
        print->events[print->event_count++] = match->events[i];
    print->ends[print->match_count++] = print->event_count;
    return 0;
}

/* By the first event that differs; what begins another comes before it. */
static int compare_matches(const void *left, const void *right)
{
    const struct esi_search_match *a = left;
    const struct esi_search_match *b = right;

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

int esi_search_print_end(struct esi_search_print *print)
{
    struct esi_search_match *matches;
    size_t begin = 0;
    int result = 0;

    if (print->match_count == 0)
        return 0;
    matches = calloc(print->match_count, sizeof *matches);
    if (!matches)
        return -ENOMEM;
    for (size_t i = 0; i < print->match_count; i++) {
        matches[i].events = print->events + begin;
        matches[i].count = print->ends[i] - begin;
        begin = print->ends[i];
    }
    qsort(matches, print->match_count, sizeof *matches, compare_matches);
    for (size_t i = 0; result == 0 && i < print->match_count; i++)
        result = esi_search_match_print(print, &matches[i]);
    free(matches);
    return result;
}

void esi_search_print_fini(struct esi_search_print *print)
{
    free(print->events);
    free(print->ends);
    print->events = NULL;
    print->ends = NULL;
}

/* --- Matches ---------------------------------------------------------------------- */

static int take_match(void *data, const struct es_event_id *events, size_t count)
{
    struct esi_search_print *print = data;
    struct esi_search_match match = {.events = events, .count = count};
    bool is_enough = ++print->taken == print->limit;
    int result = 0;

    esi_search_progress_count(print->progress);
    if (print->is_sorted)
        result = keep_match(print, &match);
    else if (!print->is_silent)
        result = print_now(print, &match);
    /* main() says that the output was lost. */
    return result < 0 ? result : is_enough || ferror(stdout);
}

struct esi_match_sink esi_search_print_sink(struct esi_search_print *print)
{
    return (struct esi_match_sink){.match = take_match, .data = print};
}
