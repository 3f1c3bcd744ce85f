/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Internals shared by the built-in stage types and the scopes.
 *
 * Stage types implement the interface of eventspace/stage.h; each type has its own file
 * in this folder.
 */
#ifndef ES_WRAPPERS_STAGES_STAGE_H
#define ES_WRAPPERS_STAGES_STAGE_H

#include "eventspace/run.h"
#include "eventspace/stage.h"

/* The reading position in one element.  Stored outside the stages, so that a tree can
 * be rebuilt over the same elements without losing or repeating tuples.
 *
 * Tuples before the position (esi_read_state_position()) have left the tree or were
 * skipped by it; the others have not. */
struct esi_read_state {
    struct es_cursor read; /* after the tuples emitted by the element
                              stage, or by the remote stage in its place */
    uint64_t kept;         /* number of these that stages above hold */
    uint64_t first;        /* if kept > 0: no tuple before this position is held */
    uint64_t delivered;    /* position after the last successful
                              pull of the tree's root */
    uint64_t acknowledged; /* `delivered` for the last batch that the consumer used */
    bool registered;       /* the writer waits for this reader if the element blocks */
};

/* One place per origin, by its index.  Stages in different threads may access different
 * places concurrently. */
struct es_places {
    struct esi_read_state *items;
    size_t count;
    bool fixed; /* only the latest tuples are read: places do not move */
};

/* The first tuple that has not left the tree: what its stages hold is a suffix. */
static inline uint64_t esi_read_state_position(const struct esi_read_state *place)
{
    return place->kept ? place->first : place->read.position;
}

/* The effect of es_stage_keep() and es_stage_release() on the place of an element, for
 * `count` of its tuples.  `first` and `last` are the positions at the ends;
 * `outermost`: no stage above holds tuples. */
static inline void esi_place_keep(struct esi_read_state *place,
                                  uint64_t first,
                                  size_t count)
{
    /* A stage below may already hold newer tuples than those it has passed on. */
    if (place->kept == 0 || first < place->first)
        place->first = first;
    place->kept += count;
}

static inline void esi_place_release(struct esi_read_state *place,
                                     uint64_t last,
                                     size_t count,
                                     bool outermost)
{
    place->kept -= count;
    if (outermost && place->first <= last)
        place->first = last + 1;
}

/* A pull of the root has succeeded. */
static inline void esi_places_commit(struct es_places *places)
{
    for (size_t i = 0; !places->fixed && i < places->count; i++)
        places->items[i].delivered = esi_read_state_position(&places->items[i]);
}

/* The tree is closed: the tuples it held will be read again. */
static inline void esi_places_rewind(struct es_places *places)
{
    for (size_t i = 0; !places->fixed && i < places->count; i++) {
        places->items[i].read.position = places->items[i].delivered;
        places->items[i].kept = 0;
    }
}

/* The built-in types; stage.c contains their table. */
extern const struct es_stage_ops esi_stage_element;
extern const struct es_stage_ops esi_stage_gather;
extern const struct es_stage_ops esi_stage_reduce;
extern const struct es_stage_ops esi_stage_filter;
extern const struct es_stage_ops esi_stage_sort;
extern const struct es_stage_ops esi_stage_convert;
extern const struct es_stage_ops esi_stage_sample;
extern const struct es_stage_ops esi_stage_batch;
extern const struct es_stage_ops esi_stage_buffer;
extern const struct es_stage_ops esi_stage_threads;
extern const struct es_stage_ops esi_stage_observe;
extern const struct es_stage_ops esi_stage_tree_node;

/* The elements of a stage, of which only the newest tuple is wanted; borrows them. */
struct esi_newest;

/* *ret_newest is NULL if the children of `parent` are not several elements that emit
 * only their latest tuple, with the same details.  The caller frees it.  Returns 0 or
 * -ENOMEM. */
int esi_newest_create(const struct es_stage *parent, struct esi_newest **ret_newest);
/* Appends the tuple that completed last among the elements, which must share a clock;
 * if they also read operations under way, the one that started last; and their reports.
 * Returns 0 or -ENOMEM. */
int esi_newest_pull(const struct esi_newest *newest,
                    struct es_stage *parent,
                    struct es_batch *batch);

/* Returns whether no stage above, in this process, holds tuples.  Valid from the first
 * pull on. */
bool esi_stage_is_outermost(const struct es_stage *stage);

/* A sibling emitted no tuple when `parent` pulled all siblings together. */
void esi_stage_missed(struct es_stage *sibling, const struct es_stage *parent);

/* Announces to the only child, if any, the same pull as to the stage. */
void esi_stage_ask_child(struct es_stage *stage, const struct es_pull *pull);

/* Appends the reports and notices of one batch to another.  Returns 0 or -ENOMEM. */
int esi_batch_append_reports(struct es_batch *batch, const struct es_batch *from);
/* Appends `count` tuples starting at `first`.  Returns 0 or -ENOMEM. */
int esi_batch_append_tuples(struct es_batch *batch,
                            const struct es_batch *from,
                            size_t first,
                            size_t count);
/* Appends both.  Returns 0 or -ENOMEM. */
int esi_batch_append(struct es_batch *batch,
                     const struct es_batch *from,
                     size_t first,
                     size_t count);

/* Names of the fields and groups of summaries, by enum es_summary_field and
 * es_summary_group; terminated by NULL. */
extern const char *const esi_summary_fields[];
extern const char *const esi_summary_groups[];

/* Converts each of `count` tick counts in place, like es_origin_run_ns(). */
void esi_origin_run_each(const struct es_origin *origin, uint64_t *times, size_t count);

/* Run time of a tuple of this origin, in ns since 1970. */
static inline uint64_t esi_realtime_ns(const struct es_stage *stage,
                                       uint32_t origin,
                                       uint64_t ticks)
{
    return es_origin_run_ns(&stage->context->origins->items[origin], ticks, NULL);
}

#endif
