/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_thread.h - the last calls of a thread in order, and its last events.
 *
 * Times are run time in nanoseconds.  Calls do not overlap: the overlap with the
 * previous call belongs to that one.  Between calls the thread computes.
 */
#ifndef ES_MONITORS_DELAY_DELAY_THREAD_H
#define ES_MONITORS_DELAY_DELAY_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/delay/delay_tally.h"

struct esi_path_node;

/* Activities of a thread: computing before the call at a place, and that call. */
static inline uint32_t esi_delay_computing(uint32_t place)
{
    return place * 2;
}
static inline uint32_t esi_delay_calling(uint32_t place)
{
    return place * 2 + 1;
}

/* The key of a thread's activity as a cause. */
static inline uint64_t esi_delay_cause_key(uint32_t thread, uint32_t activity)
{
    return (uint64_t)(thread + 1) << 32 | activity;
}
#define ESI_DELAY_ELSEWHERE UINT64_MAX

/* What ended a wait: the time at which a thread did what was awaited. */
struct esi_delay_cause {
    uint32_t thread;
    uint64_t ns;
    uint8_t kind; /* enum esi_delay_kind */
    bool known;
};

struct esi_delay_call {
    uint64_t number;  /* in causality */
    uint64_t from_ns; /* end of the previous call */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t place;
    uint32_t communicator; /* row */
    int32_t peer;          /* for probes */
    int32_t tag;
    /* Its wait, starting at begin_ns; until_ns 0 = none. */
    uint64_t until_ns;
    struct esi_delay_cause cause;
    uint64_t since_ns; /* when both threads last met; 0 = never */
    bool nonblocking;  /* waits for an operation started by another call */
    bool charged;
    uint16_t cause_count;
    struct esi_tally_item *causes; /* in nanoseconds; owned */
};

/* The thread's last two all-to-all operations on a communicator, with the times of
 * their last arrivals: other members may be one operation ahead. */
struct esi_delay_collective {
    uint32_t trace; /* of the communicator */
    uint32_t instances[2];
    uint64_t ns[2];
};
enum { ESI_DELAY_COLLECTIVES = 16 };

struct esi_delay_thread {
    uint32_t number;
    int rank;
    uint32_t row;  /* of its rank */
    uint32_t host; /* number of a text */
    uint64_t error_ns;
    struct esi_delay_call *calls; /* ring: number & mask; owned */
    uint64_t next;                /* number of the next call */
    uint64_t first;               /* number of the oldest kept call */
    size_t mask;                  /* capacity - 1 */
    size_t window;                /* maximum number of kept calls */
    uint64_t last_ns;             /* end of the last call */
    uint64_t accounted_ns;        /* everything before is included in the rows */
    struct esi_delay_collective collectives[ESI_DELAY_COLLECTIVES];
    unsigned collective_count;
    unsigned collective_next;
    uint64_t probe;                 /* number of its last probe plus one */
    const uint64_t *block_calls;    /* of the series; NULL = not requested */
    struct esi_path_node *newest;   /* of its path; see delay_path.h */
    struct esi_path_node *unsummed; /* older ones are summed up */
};

/* NULL if out of memory. */
struct esi_delay_thread *esi_delay_thread_create(uint32_t number, size_t window);
void esi_delay_thread_destroy(struct esi_delay_thread *thread);

/* The call with this number; NULL if it is no longer kept. */
static inline struct esi_delay_call *esi_delay_thread_call(
    const struct esi_delay_thread *thread,
    uint64_t number)
{
    return number >= thread->first && number < thread->next
               ? &thread->calls[number & thread->mask]
               : NULL;
}

/* Whether the next call replaces the oldest. */
static inline bool esi_delay_thread_is_full(const struct esi_delay_thread *thread)
{
    return thread->calls && thread->next - thread->first > thread->mask &&
           thread->mask + 1 >= thread->window;
}

/* Discards the oldest call. */
void esi_delay_thread_forget(struct esi_delay_thread *thread);

/* Adds a call, which must not start before the end of the last one.  If the window is
 * full, call esi_delay_thread_forget() first.  NULL if out of memory. */
struct esi_delay_call *esi_delay_thread_add(struct esi_delay_thread *thread,
                                            uint64_t begin_ns,
                                            uint64_t end_ns);

/* What the thread did until then is not known: neither a call nor computing. */
void esi_delay_thread_skip(struct esi_delay_thread *thread, uint64_t until_ns);

/* Number of the first call that ends after `ns`; `next` if there is none.  O(log n). */
uint64_t esi_delay_thread_find(const struct esi_delay_thread *thread, uint64_t ns);

/* Adds `sign` times the thread's activities in (begin_ns, end_ns], by number, and the
 * causes of its waits, by key.  Returns 0; 1 if the interval starts before the kept
 * calls; or -ENOMEM. */
int esi_delay_thread_sum(const struct esi_delay_thread *thread,
                         uint64_t begin_ns,
                         uint64_t end_ns,
                         double sign,
                         struct esi_tally *tally);

#endif
