/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* new_elements.c - waits for new elements: the count of each segment is a futex. */
#include "config.h"

#include "tuplespace/new_elements.h"

#include "tuplespace/futex.h"
#include "tuplespace/segment_set.h"
#include "tuplespace/view_private.h"

static bool has_new_elements(const struct esi_listed_segment *segment)
{
    const struct es_segment_view *view = segment->view;
    /* The refresh that follows does the acquire. */
    uint32_t count =
        atomic_load_explicit(&view->layout->element_count, memory_order_relaxed);

    return count > segment->scanned && segment->scanned < view->max_elements;
}

bool esi_run_has_new_elements(const struct es_run *run)
{
    const struct esi_segment_list *list = esi_run_segments(run);

    for (size_t i = 0; i < list->count; i++)
        if (has_new_elements(&list->items[i]))
            return true;
    return false;
}

void esi_run_wait_for_elements(const struct es_run *run, uint64_t timeout_ns)
{
    const struct esi_segment_list *list = esi_run_segments(run);
    _Atomic uint32_t *words[ESI_FUTEX_WORDS];
    uint32_t values[ESI_FUTEX_WORDS];
    size_t count = 0;

    for (size_t i = 0; i < list->count && count < ESI_FUTEX_WORDS; i++) {
        const struct esi_listed_segment *segment = &list->items[i];

        if (segment->scanned >= segment->view->max_elements)
            continue;
        words[count] = &segment->view->layout->element_count;
        values[count++] = segment->scanned;
    }
    esi_futex_wait_any(words, values, count, timeout_ns);
}
