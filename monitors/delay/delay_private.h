/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_private.h - data structures shared by the files of delay.
 *
 * Events are converted to calls of threads and waits of calls (delay_calls.c). Waits
 * are buffered, then charged to their causes in the order of their ends
 * (delay_costs.c), and the critical paths of all threads are extended (delay_path.c).
 */
#ifndef ES_MONITORS_DELAY_DELAY_PRIVATE_H
#define ES_MONITORS_DELAY_DELAY_PRIVATE_H

#include "base/heap.h"
#include "monitors/delay/delay.h"
#include "monitors/delay/delay_path.h"
#include "monitors/delay/delay_tally.h"
#include "monitors/delay/delay_thread.h"
#include "monitors/eventset/set_texts.h"

/* A source line and an operation called there. */
struct esi_delay_place {
    uint32_t line; /* row number in its group */
    uint32_t operation;
    const struct es_operation *of;
};

struct esi_delay_group_rows {
    struct esi_delay_row *rows;
    size_t count, capacity;
    struct esi_hash table;
};

/* The last messages between two threads, the lower number first. */
struct esi_delay_meeting {
    uint32_t threads[2];
    struct {
        uint64_t sent_ns;
        uint64_t received_ns;
    } to[2][2]; /* by receiver; newest first */
};

/* The last unlocks of a window, for those waiting for them, and the last calls that may
 * have waited: the stream does not order them. */
enum { ESI_DELAY_UNLOCKS = 64 };
struct esi_delay_unlock {
    uint32_t thread;
    uint64_t end_ns; /* 0 = none */
};
struct esi_delay_locking {
    uint32_t thread;
    uint64_t call; /* its number plus one; 0 = none */
};
struct esi_delay_window {
    const struct esi_run_communicator *communicator;
    int32_t number;
    int32_t target;
    unsigned next_unlock;
    unsigned next_locking;
    struct esi_delay_unlock unlocks[ESI_DELAY_UNLOCKS];
    struct esi_delay_locking lockings[ESI_DELAY_UNLOCKS];
};

/* A wait that had not ended at the last look at the operations under way. */
struct esi_delay_pending {
    uint32_t rows[ESI_DELAY_GROUPS]; /* that contain it */
    double ns;
};

enum { ESI_DELAY_PLACE_CACHE = 256 };

/* Keys of pairs and blames: two rank rows and an activity, with a limited number of
 * bits.  ESI_DELAY_OTHERS stands for all further ranks. */
#define ESI_DELAY_OTHERS UINT64_C(0xfffff)
static inline uint64_t esi_delay_pair_key(uint64_t first, uint64_t second, uint32_t of)
{
    return first << 44 | (second & ESI_DELAY_OTHERS) << 24 | (of & 0xffffff);
}

struct esi_delay {
    struct esi_delay_config config;
    struct esi_delay_thread **threads; /* by number; owned */
    size_t thread_count, thread_capacity;
    struct esi_delay_thread **traces; /* the thread of each trace; NULL = none */
    size_t trace_count, trace_capacity;
    struct esi_texts texts; /* of lines, hosts and communicators */
    struct esi_delay_group_rows groups[ESI_DELAY_GROUPS];
    struct esi_delay_place *places;
    size_t place_count, place_capacity;
    struct esi_hash place_table;
    struct {
        const char *site;
        uint16_t code;
        uint32_t place; /* place number plus one */
    } place_cache[ESI_DELAY_PLACE_CACHE];
    uint32_t last_communicator; /* row of the last lookup */
    struct esi_delay_meeting *meetings;
    size_t meeting_count, meeting_capacity;
    struct esi_hash meeting_table;
    struct esi_delay_window *windows;
    size_t window_count, window_capacity;
    struct esi_hash window_table;
    struct esi_heap waits; /* not charged yet: end of the wait, and thread and call */
    struct esi_tally excess;
    struct esi_tally pairs;  /* by waiting rank, causing rank and activity */
    struct esi_tally blames; /* by awaited rank of collective operations, likewise */
    struct esi_tally causes; /* of the wait being charged */
    struct esi_paths paths;
    struct esi_gaps gaps; /* of all threads: no call in them is counted */
    struct esi_delay_pending *pending;
    size_t pending_count, pending_capacity;
    uint64_t pending_ns; /* run time of that look; 0 = none */
    struct esi_delay_totals totals;
    uint64_t block_calls; /* calls per block of the series */
};

/* The thread of a trace; NULL = none. */
static inline struct esi_delay_thread *esi_delay_thread_of(
    const struct esi_delay *delay,
    uint32_t trace)
{
    return trace < delay->trace_count ? delay->traces[trace] : NULL;
}

/* --- delay.c ---------------------------------------------------------------------- */

/* UINT32_MAX if out of memory, like the next ones. */
uint32_t esi_delay_place_find(struct esi_delay *delay,
                              const struct es_operation *operation,
                              const char *site);
uint32_t esi_delay_communicator_row(struct esi_delay *delay, const char *name);
uint32_t esi_delay_rank_row(struct esi_delay *delay, int rank);

static inline struct esi_delay_times *esi_delay_row_times(struct esi_delay *delay,
                                                          enum esi_delay_group group,
                                                          uint32_t row)
{
    return &delay->groups[group].rows[row].times;
}

/* Adds to the series of a row, if there is one, in the block of a thread's call.  A
 * cause counts in the block of the waiting call. */
static inline void esi_delay_row_block(struct esi_delay *delay,
                                       enum esi_delay_group group,
                                       uint32_t row,
                                       uint64_t call,
                                       enum esi_delay_metric metric,
                                       double ns)
{
    struct esi_delay_series *series = delay->groups[group].rows[row].series;

    if (series)
        series->blocks[call / delay->block_calls][metric] += ns;
}

/* Adds the part of a thread's last call that was not added yet to the rows. */
void esi_delay_account(struct esi_delay *delay, struct esi_delay_thread *thread);

/* --- delay_calls.c ---------------------------------------------------------------- */

int esi_delay_told(void *data,
                   const struct es_set_event *event,
                   const struct esi_causal_call *call);

int esi_delay_open(void *data, uint32_t trace, const struct esi_causal_call *call);

int esi_delay_gap(void *data, uint32_t trace, const struct esi_gap *gap);

/* --- delay_costs.c ---------------------------------------------------------------- */

/* The time at which a waiting thread and the awaited thread last met: the sending of
 * the last message that the former had received when the wait began, or the latter at
 * the awaited event; or the last arrival in an all-to-all operation of both.  0 = not
 * known. */
uint64_t esi_delay_last_meeting(const struct esi_delay *delay,
                                const struct esi_delay_thread *waiting,
                                uint64_t begin_ns,
                                const struct esi_delay_cause *cause);
/* Records a message or the like.  Returns 0 or -ENOMEM. */
int esi_delay_meet(struct esi_delay *delay,
                   const struct esi_delay_thread *receiver,
                   uint64_t received_ns,
                   const struct esi_delay_cause *sent);
/* Adds the wait of a thread's last call, which has not ended, to the rows. */
void esi_delay_wait_on(struct esi_delay *delay, struct esi_delay_thread *thread);
/* Stores a call's wait until it is charged.  Returns 0 or -ENOMEM. */
int esi_delay_expect(struct esi_delay *delay,
                     struct esi_delay_thread *thread,
                     struct esi_delay_call *call);

#endif
