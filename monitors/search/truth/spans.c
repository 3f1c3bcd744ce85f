/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* spans.c - lists of spans of positions in a column. */
#include "config.h"

#include <stdlib.h>

#include "monitors/search/truth/spans.h"

void esi_spans_fini(struct esi_spans *spans)
{
    free(spans->items);
    *spans = (struct esi_spans){.items = NULL};
}

static bool reserve_spans(struct esi_spans *spans, uint32_t count)
{
    uint32_t capacity = count < 8 ? 8 : 2 * count;
    struct esi_span *items;

    if (count <= spans->capacity)
        return true;
    items = realloc(spans->items, capacity * sizeof *items);
    if (!items) {
        spans->has_failed = true;
        return false;
    }
    spans->items = items;
    spans->capacity = capacity;
    return true;
}

void esi_spans_add(struct esi_spans *spans, uint32_t begin, uint32_t end)
{
    if (begin >= end)
        return;
    if (spans->count > 0) {
        struct esi_span *last = &spans->items[spans->count - 1];

        if (begin >= last->begin && begin <= last->end) {
            if (end > last->end)
                last->end = end;
            return;
        }
    }
    if (reserve_spans(spans, spans->count + 1))
        spans->items[spans->count++] = (struct esi_span){begin, end};
}

static int compare_spans(const void *left, const void *right)
{
    const struct esi_span *a = left;
    const struct esi_span *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool is_sorted(const struct esi_spans *spans)
{
    for (uint32_t i = 1; i < spans->count; i++)
        if (spans->items[i].begin <= spans->items[i - 1].end)
            return false;
    return true;
}

void esi_spans_sort(struct esi_spans *spans)
{
    uint32_t count = spans->count;

    if (is_sorted(spans))
        return;
    qsort(spans->items, count, sizeof *spans->items, compare_spans);
    spans->count = 0;
    for (uint32_t i = 0; i < count; i++)
        esi_spans_add(spans, spans->items[i].begin, spans->items[i].end);
}

void esi_spans_keep(struct esi_spans *spans, uint32_t begin, uint32_t end)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < spans->count; i++) {
        struct esi_span span = spans->items[i];

        if (span.begin < begin)
            span.begin = begin;
        if (span.end > end)
            span.end = end;
        if (span.begin < span.end)
            spans->items[kept++] = span;
    }
    spans->count = kept;
}

void esi_spans_intersect(struct esi_spans *to,
                         const struct esi_spans *a,
                         const struct esi_spans *b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    to->count = 0;
    while (i < a->count && j < b->count) {
        struct esi_span one = a->items[i];
        struct esi_span two = b->items[j];

        esi_spans_add(to, one.begin > two.begin ? one.begin : two.begin,
                      one.end < two.end ? one.end : two.end);
        if (one.end < two.end)
            i++;
        else
            j++;
    }
}

void esi_spans_add_others(struct esi_spans *to,
                          const struct esi_spans *of,
                          uint32_t end)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < of->count; i++) {
        esi_spans_add(to, at, of->items[i].begin);
        at = of->items[i].end;
    }
    esi_spans_add(to, at, end);
}

uint64_t esi_spans_total(const struct esi_spans *spans)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < spans->count; i++)
        total += spans->items[i].end - spans->items[i].begin;
    return total;
}
