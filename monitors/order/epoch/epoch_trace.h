/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The segments of a trace, in runs of consecutive segments.  A run contains what was
 * sealed while one arena was in use, so that it can be freed with that arena.
 *
 * Runs form a list from newest to oldest with a second link that jumps further back, so
 * that a run is found in O(log runs).  Links to runs that are completely forgotten are
 * not followed, because these runs may have been freed.
 *
 *   call                      may run concurrently with
 *   esi_run_find, _back       all others, about events that are not forgotten
 *   others                    not with each other
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_TRACE_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"
#include "monitors/order/epoch/epoch_block.h"
#include "monitors/order/epoch/epoch_cut.h"
#include "monitors/order/epoch/epoch_log.h"
#include "monitors/order/epoch/epoch_table.h"

struct esi_segment {
    uint32_t first;             /* own index of its first event */
    uint32_t cut;               /* the last cut that the trace has passed */
    const unsigned char *block; /* NULL if the trace learnt nothing beyond the cut */
};

/* Immutable, except that segments are appended to the newest run. */
struct esi_run {
    const struct esi_run *older;
    const struct esi_run *jump; /* an older run; NULL = none */
    uint32_t jump_first;        /* `first` of that run; 0 = none */
    uint32_t jump_depth;
    uint32_t depth; /* number of older runs */
    uint32_t era;   /* of the arena that contains it */
    uint32_t first; /* own index of its first event */
    uint32_t room;
    _Atomic uint32_t count;
    struct esi_segment segments[];
};

/* Identifies a segment. */
struct esi_run_place {
    const struct esi_run *run;
    uint32_t at;
};

static inline const struct esi_segment *esi_run_segment(
    const struct esi_run_place *place)
{
    return &place->run->segments[place->at];
}

/* Returns the segment of a sealed event; starts at the newest run. */
struct esi_run_place esi_run_find(const struct esi_run *newest, uint32_t own);

/* Moves to the previous segment if that has the same cut and contains an event after
 * the trace's first `forgotten` events.  Returns whether it moved. */
bool esi_run_back(struct esi_run_place *place, uint32_t forgotten);

/*
 * What one trace knows at each of its events: the sealed parts of its log and the open
 * one.
 *
 * A *segment* is a range of the trace's events with the same last cut.  The last
 * segment is open: its log grows.  When the trace passes another cut or the log has
 * become long, the log is packed into a block and emptied.
 *
 *   call                  may run concurrently with
 *   esi_trace_known       all others, about published events
 *   others                not with each other
 *
 * A reader of the open log checks `turn`, which changes when the log is emptied.  The
 * block is published before that, so a reader that is too late finds the data there.
 */

enum { ESI_HUBS = 4 };

/* A zeroed trace has no events. */
struct esi_epoch_trace {
    /* Written by the writer, read by all. */
    _Atomic uint32_t turn;      /* odd while the log is being emptied */
    _Atomic uint32_t sealed;    /* events in segments */
    _Atomic uint32_t cut;       /* of the open log */
    _Atomic uint32_t continues; /* whether the last segment has the same cut */
    _Atomic uint32_t forgotten; /* number of events that may no longer be queried */
    _Atomic uint32_t announced; /* at least `forgotten`; more while eras are being
                                   dropped */
    _Atomic uint32_t hubs[ESI_HUBS]; /* adopted hubs: trace + 1; 0 = end of list */
    _Atomic(struct esi_run *) run;   /* the newest; NULL if there is no segment or all
                                        are forgotten */
    struct esi_log log;

    /* For the writer. */
    struct esi_run *next_run; /* has room for the segment that is being prepared */
    uint32_t count;           /* number of events */
    uint32_t last_send;       /* 0 = none */
    uint32_t part_count;      /* parts sealed as steps, except those that only continue
                                 the previous part */
    bool is_live;             /* in the store's list of live traces */
    bool is_hub;              /* begins with a receive of several sends, like a
                                 communicator's trace */
    bool is_table_gone;       /* `known` must be rebuilt from the log */
    struct esi_epoch_table known; /* in this epoch, without what the cut knows */
};

/* Returns the greatest index on `of` that is known at an event through the trace's own
 * log and cut.  May return a smaller value, which may be faster, if that already shows
 * whether the exact one is at least `enough`. */
uint32_t esi_trace_known(const struct esi_epoch_trace *trace,
                         const struct esi_cuts *cuts,
                         uint32_t own,
                         uint32_t of,
                         uint32_t enough);

/* Returns the greatest index known through the log alone; 0 = nothing beyond the
 * cut. */
uint32_t esi_trace_learnt(const struct esi_epoch_trace *trace,
                          const struct esi_cuts *cuts,
                          uint32_t own,
                          uint32_t of);

static inline uint32_t esi_trace_forgotten(const struct esi_epoch_trace *trace)
{
    return atomic_load_explicit(&trace->forgotten, memory_order_acquire);
}

/* Returns the segment of a sealed event that is not forgotten. */
static inline struct esi_run_place esi_trace_segment(
    const struct esi_epoch_trace *trace,
    uint32_t own)
{
    /* Pairs with the release store that seals a segment: a thread that knows of a
     * segment sees the run that contains it, or a newer one. */
    return esi_run_find(atomic_load_explicit(&trace->run, memory_order_acquire), own);
}

/* Packs the log of the events so far and makes room for a segment.  Returns 0, or
 * -ENOMEM, which leaves the trace unchanged. */
int esi_trace_prepare(struct esi_epoch_trace *trace,
                      struct esi_cuts *cuts,
                      struct esi_epoch_arena *arena,
                      const unsigned char **ret_block);
/* Seals a prepared block and begins a log after `cut`.  Leaves the table unchanged. */
void esi_trace_seal(struct esi_epoch_trace *trace,
                    const unsigned char *block,
                    uint32_t cut);

/* Packs and seals the older seven eighths of the log as steps.  Returns 0, or -ENOMEM,
 * which leaves the trace unchanged. */
int esi_trace_seal_part(struct esi_epoch_trace *trace,
                        struct esi_cuts *cuts,
                        uint32_t traces,
                        struct esi_sorting *sorting,
                        struct esi_epoch_arena *arena);

/* Like esi_trace_seal_part(), for everything known at the events so far. */
int esi_trace_seal_all(struct esi_epoch_trace *trace,
                       struct esi_cuts *cuts,
                       uint32_t traces,
                       struct esi_sorting *sorting,
                       struct esi_epoch_arena *arena);

/* Drops what a trace knows all of whose events are forgotten; the trace is then as if
 * it had passed no cut. */
void esi_trace_forget(struct esi_epoch_trace *trace, struct esi_words *words);

/* --- For the writer --------------------------------------------------------------- */

static inline uint32_t esi_trace_cut(const struct esi_epoch_trace *trace)
{
    return atomic_load_explicit(&trace->cut, memory_order_relaxed);
}

static inline uint32_t esi_trace_sealed(const struct esi_epoch_trace *trace)
{
    return atomic_load_explicit(&trace->sealed, memory_order_relaxed);
}

#endif
