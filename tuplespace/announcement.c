/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* announcement.c - waits for new elements: the count of each segment is a futex. */
#include "config.h"

#include "tuplespace/announcement.h"

#include "tuplespace/futex.h"
#include "tuplespace/view_private.h"

static bool has_new_elements(const struct es_segment_view *view)
{
    /* Acquire is left to the refresh that follows. */
    uint32_t count =
        atomic_load_explicit(&view->layout->element_count, memory_order_relaxed);

    return count > view->scanned && view->scanned < view->max_elements;
}

bool es_run_has_new_elements(const struct es_run *run)
{
    for (size_t i = 0; i < es_run_segment_count(run); i++)
        if (has_new_elements(es_run_segment(run, i)))
            return true;
    return false;
}

void es_run_wait_for_elements(const struct es_run *run, uint64_t timeout_ns)
{
    _Atomic uint32_t *words[ESI_FUTEX_WORDS];
    uint32_t values[ESI_FUTEX_WORDS];
    size_t count = 0;

    for (size_t i = 0; i < es_run_segment_count(run) && count < ESI_FUTEX_WORDS; i++) {
        const struct es_segment_view *view = es_run_segment(run, i);

        if (view->scanned >= view->max_elements)
            continue;
        words[count] = &view->layout->element_count;
        values[count++] = view->scanned;
    }
    esi_futex_wait_any(words, values, count, timeout_ns);
}
