/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A host's clock shared by many threads, which convert times while it is updated. */
#include "config.h"

#include "base/host_clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"

enum { ESTIMATE_WORDS = sizeof(struct esi_clock_estimate) / sizeof(uint64_t) };

_Static_assert(sizeof(struct esi_clock_estimate) % sizeof(uint64_t) == 0,
               "an estimate is copied as words");
_Static_assert(sizeof(struct esi_clock_knot) == 4 * sizeof(uint64_t),
               "a knot is copied as words");

/* Index of a member of the estimate in its words. */
#define WORD_OF(member) (offsetof(struct esi_clock_estimate, member) / sizeof(uint64_t))

struct copy {
    _Atomic uint64_t words[ESTIMATE_WORDS];
};

struct es_host_clock {
    _Atomic uint64_t sequence; /* the lowest bit selects the valid copy */
    struct copy copies[2];
};

int esi_host_clock_create(struct es_host_clock **ret_clock)
{
    struct es_host_clock *clock = calloc(1, sizeof *clock);

    if (!clock)
        return -ENOMEM;
    *ret_clock = clock;
    return 0;
}

void esi_host_clock_destroy(struct es_host_clock *clock)
{
    free(clock);
}

/* --- Writing ------------------------------------------------------------------ */

static void host_clock_fill(struct copy *copy,
                            const uint64_t words[ESTIMATE_WORDS],
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&copy->words[i], words[i], memory_order_relaxed);
}

void esi_host_clock_set(struct es_host_clock *clock,
                        const struct esi_clock_estimate *estimate)
{
    uint64_t words[ESTIMATE_WORDS];
    uint64_t sequence = atomic_load_explicit(&clock->sequence, memory_order_relaxed);
    size_t count = WORD_OF(knots) +
                   estimate->count * sizeof(struct esi_clock_knot) / sizeof(uint64_t);

    memcpy(words, estimate, sizeof words);
    for (int i = 0; i < 2; i++) {
        /* Readers switch to the other copy before this one is modified: the fence pairs
         * with theirs. */
        atomic_store_explicit(&clock->sequence, ++sequence, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        host_clock_fill(&clock->copies[(sequence + 1) & 1], words, count);
    }
}

/* --- Reading ------------------------------------------------------------------ */

static uint64_t host_clock_get(const struct copy *copy, size_t word)
{
    return atomic_load_explicit(&copy->words[word], memory_order_relaxed);
}

static double get_real(const struct copy *copy, size_t word)
{
    uint64_t bits = host_clock_get(copy, word);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t knot_time(const struct copy *copy, uint64_t index)
{
    return host_clock_get(copy, WORD_OF(knots) + index * 4);
}

static struct esi_clock_knot get_knot(const struct copy *copy, uint64_t index)
{
    size_t word = WORD_OF(knots) + index * 4;

    return (struct esi_clock_knot){.local_ns = host_clock_get(copy, word),
                                   .offset_ns = (int64_t)host_clock_get(copy, word + 1),
                                   .error_ns = host_clock_get(copy, word + 2),
                                   .bow_ns = host_clock_get(copy, word + 3)};
}

/* The number of knots that are not later.  Most times are after the last one. */
static uint64_t count_knots_before(const struct copy *copy,
                                   uint64_t count,
                                   uint64_t local_ns)
{
    uint64_t low = 0;

    if (knot_time(copy, count - 1) <= local_ns)
        return count;
    while (low < count) {
        uint64_t middle = low + (count - low) / 2;

        if (knot_time(copy, middle) <= local_ns)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* A copy that is being overwritten may have any content, but no index is out of
 * range. */
static struct esi_clock_stretch find_stretch(const struct copy *copy,
                                             uint64_t count,
                                             uint64_t local_ns)
{
    uint64_t before = count_knots_before(copy, count, local_ns);
    struct esi_clock_drift drift = {
        .ppb = get_real(copy, WORD_OF(drift.ppb)),
        .error_ppb = get_real(copy, WORD_OF(drift.error_ppb)),
        .wander_ppb = get_real(copy, WORD_OF(drift.wander_ppb)),
    };
    struct esi_clock_knot first = get_knot(copy, before > 0 ? before - 1 : 0);
    struct esi_clock_knot second = get_knot(copy, before > 0 && before < count ? before
                                                  : count > 1                  ? 1
                                                                               : 0);

    if (before == count)
        return esi_clock_stretch_behind(&drift, &first);
    if (before == 0)
        return esi_clock_stretch_before(&drift, &first, count > 1 ? &second : NULL);
    return esi_clock_stretch_between(&first, &second);
}

bool esi_host_clock_run_ns(const struct es_host_clock *clock,
                           uint64_t monotonic_ns,
                           uint64_t *ret_run_ns,
                           uint64_t *ret_error_ns)
{
    struct esi_clock_stretch stretch = {.from_ns = 0};
    uint64_t sequence, count, base_ns;

    do {
        const struct copy *copy;

        sequence = atomic_load_explicit(&clock->sequence, memory_order_acquire);
        copy = &clock->copies[sequence & 1];
        count = host_clock_get(copy, WORD_OF(count));
        base_ns = host_clock_get(copy, WORD_OF(run_base_ns));
        if (count > 0 && count <= ES_CLOCK_KNOTS_MAX)
            stretch = find_stretch(copy, count, monotonic_ns);
        /* The copy was read before the counter is checked again. */
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&clock->sequence, memory_order_relaxed) != sequence);
    if (count == 0 || count > ES_CLOCK_KNOTS_MAX)
        return false;
    *ret_run_ns =
        esi_clock_stretch_convert(&stretch, monotonic_ns, ret_error_ns) + base_ns;
    return true;
}

uint64_t esi_host_clock_now_ns(const struct es_host_clock *clock)
{
    uint64_t run_ns;

    return clock && esi_host_clock_run_ns(clock, esi_now_ns(CLOCK_MONOTONIC), &run_ns,
                                          NULL)
               ? run_ns
               : esi_now_ns(CLOCK_REALTIME);
}
