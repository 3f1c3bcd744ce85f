/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The segments of a trace, in runs of neighbours: what was sealed while
 * one arena was in use lies in one run, so that it can go away with that arena.
 *
 * Runs form a list from the newest to the oldest, with a second link that jumps further
 * back, so that a run is found in O(log runs).  The links are not followed to runs of
 * which everything is forgotten: those may be gone.
 *
 *   call                      may run together with
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
    uint32_t cut;               /* the last that the trace has passed */
    const unsigned char *block; /* NULL: it learnt nothing besides */
};

/* Immutable but for segments that are added to the newest one. */
struct esi_run {
    const struct esi_run *older;
    const struct esi_run *jump; /* an older one; NULL = none */
    uint32_t jump_first;        /* its `first`; 0 = none */
    uint32_t jump_depth;
    uint32_t depth; /* runs that are older */
    uint32_t era;   /* of the arena that it lies in */
    uint32_t first; /* own index of its first event */
    uint32_t room;
    _Atomic uint32_t count;
    struct esi_segment segments[];
};

/* One segment of them all. */
struct esi_run_place {
    const struct esi_run *run;
    uint32_t at;
};

static inline const struct esi_segment *esi_run_segment(
    const struct esi_run_place *place)
{
    return &place->run->segments[place->at];
}

/* The segment of an event that is in one, from the newest run on. */
struct esi_run_place esi_run_find(const struct esi_run *newest, uint32_t own);

/* Goes to the segment before, if that has the same cut and not all of it is among the
 * trace's first `forgotten` events.  Returns whether it has. */
bool esi_run_back(struct esi_run_place *place, uint32_t forgotten);

/*
 * What one trace knows at each of its events: sealed parts of its log,
 * and the open one.
 *
 * A *segment* is a run of events of the trace after the same last cut.  The last one is
 * open: its log grows.  When the trace passes another cut, or when the log has become
 * long, it is packed into a block and the log begins anew.
 *
 *   call                  may run together with
 *   esi_trace_known       all others, about published events
 *   others                not with each other
 *
 * A reader of the open log takes note of `turn`, which changes when the log is emptied;
 * by then the block is published, so whoever comes too late finds it there.
 */

enum { ESI_HUBS = 4 };

/* Zeroed is a trace without events. */
struct esi_epoch_trace {
    /* Written by the writer, read by all. */
    _Atomic uint32_t turn;           /* odd while the log is being emptied */
    _Atomic uint32_t sealed;         /* events in segments */
    _Atomic uint32_t cut;            /* of the open log */
    _Atomic uint32_t continues;      /* the last segment has the same cut */
    _Atomic uint32_t forgotten;      /* events that nobody may ask for any more */
    _Atomic uint32_t announced;      /* that or, while eras go, more */
    _Atomic uint32_t hubs[ESI_HUBS]; /* adopted: traces + 1; 0 = no more */
    _Atomic(struct esi_run *) run;   /* the newest; NULL: no segment, or forgotten */
    struct esi_log log;

    /* The writer's. */
    struct esi_run *next_run; /* with room for the segment that is being prepared */
    uint32_t count;           /* events */
    uint32_t last_send;       /* 0 = none */
    uint32_t part_count;      /* sealed in steps, but as more of the part before */
    bool is_live;             /* in the store's list of those */
    bool is_hub;              /* begins with a receive of several: a communicator's */
    bool is_table_gone;       /* `known` has to be made again from the log */
    struct esi_epoch_table known; /* in this epoch; without what the cut knows */
};

/* The greatest index on `of` that is known at an event by the trace's own log and cut,
 * or less if that tells as well whether it is `enough`, which may be quicker. */
uint32_t esi_trace_known(const struct esi_epoch_trace *trace,
                         const struct esi_cuts *cuts,
                         uint32_t own,
                         uint32_t of,
                         uint32_t enough);

/* The same of the log alone; 0 = nothing that the cut does not know. */
uint32_t esi_trace_learnt(const struct esi_epoch_trace *trace,
                          const struct esi_cuts *cuts,
                          uint32_t own,
                          uint32_t of);

static inline uint32_t esi_trace_forgotten(const struct esi_epoch_trace *trace)
{
    return atomic_load_explicit(&trace->forgotten, memory_order_acquire);
}

/* The segment of an event that is in one and not forgotten. */
static inline struct esi_run_place esi_trace_segment(
    const struct esi_epoch_trace *trace,
    uint32_t own)
{
    /* Pairs with the release when it is sealed: whoever knows of a segment sees
     * the run that it is in, or a newer one. */
    return esi_run_find(atomic_load_explicit(&trace->run, memory_order_acquire), own);
}

/* Packs the log of the events so far and makes room for a segment.  0 or -ENOMEM: as it
 * was. */
int esi_trace_prepare(struct esi_epoch_trace *trace,
                      struct esi_cuts *cuts,
                      struct esi_epoch_arena *arena,
                      const unsigned char **ret_block);
/* Seals that block and begins a log after a cut.  The table is left alone. */
void esi_trace_seal(struct esi_epoch_trace *trace,
                    const unsigned char *block,
                    uint32_t cut);

/* Packs and seals the older seven eighths of the log, in steps.  0 or -ENOMEM: as it
 * was. */
int esi_trace_seal_part(struct esi_epoch_trace *trace,
                        struct esi_cuts *cuts,
                        uint32_t traces,
                        struct esi_sorting *sorting,
                        struct esi_epoch_arena *arena);

/* The same of all that is known at the events so far. */
int esi_trace_seal_all(struct esi_epoch_trace *trace,
                       struct esi_cuts *cuts,
                       uint32_t traces,
                       struct esi_sorting *sorting,
                       struct esi_epoch_arena *arena);

/* What a trace without an event that is not forgotten knows goes away; it is as if it
 * had passed no cut. */
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
