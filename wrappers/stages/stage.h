/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the built-in stage types share among themselves and with the scopes.
 *
 * The interface that stage types implement is eventspace/stage.h; each type is one file
 * here.
 */
#ifndef ES_WRAPPERS_STAGES_STAGE_H
#define ES_WRAPPERS_STAGES_STAGE_H

#include "eventspace/run.h"
#include "eventspace/stage.h"

/* Where reading stands in one element.  Kept apart from the stages, so that a tree can
 * be made anew over the same elements without losing or repeating a tuple.
 *
 * Tuples below the position (esi_read_state_position()) have left the tree, or it has
 * left them out; those from there on have not. */
struct esi_read_state {
    struct es_cursor read; /* behind what the element stage, or the remote stage that
                              stands for it, has emitted */
    uint64_t kept;         /* of that, tuples that stages above keep */
    uint64_t first;        /* kept > 0: none below this position is kept */
    uint64_t delivered;    /* position after the last good pull of the tree's root */
    uint64_t acknowledged; /* `delivered` of the last batch that the consumer used */
    bool registered; /* the writer waits for this reader where the element blocks */
};

/* One place per origin, by the origin's index.  Stages in several threads may use
 * different places at the same time. */
struct es_places {
    struct esi_read_state *items;
    size_t count;
    bool fixed; /* only the latest tuples are read: no place moves */
};

/* First tuple that has not left the tree: what its stages keep is a suffix. */
static inline uint64_t esi_read_state_position(const struct esi_read_state *place)
{
    return place->kept ? place->first : place->read.position;
}

/* What es_stage_keep() and es_stage_release() do to the place of `count` tuples of one
 * element, of which `first` or `last` is the position of the one at that end;
 * `outermost`: no stage above keeps tuples. */
static inline void esi_place_keep(struct esi_read_state *place,
                                  uint64_t first,
                                  size_t count)
{
    if (place->kept == 0)
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

/* The tree is closed: what it kept is read again. */
static inline void esi_places_rewind(struct es_places *places)
{
    for (size_t i = 0; !places->fixed && i < places->count; i++) {
        places->items[i].read.position = places->items[i].delivered;
        places->items[i].kept = 0;
    }
}

/* The built-in types; stage.c has their table. */
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

/* Appends of the elements side by side in parent->siblings, whose clock is the same,
 * the tuple that completed last.  0 or -ENOMEM. */
int esi_element_pull_newest(struct es_stage *parent, struct es_batch *batch);

/* Whether no stage above, in this process, keeps tuples.  From the first pull on. */
bool esi_stage_is_outermost(const struct es_stage *stage);

/* A sibling emitted no tuple when `parent` pulled all siblings below it together. */
void esi_stage_missed(struct es_stage *sibling, const struct es_stage *parent);

/* Announces to the one child, if there is one, that it will get what the stage gets. */
void esi_stage_ask_child(struct es_stage *stage, const struct es_pull *pull);

/* Appends the reports and notices of one batch to another.  0 or -ENOMEM. */
int esi_batch_append_reports(struct es_batch *batch, const struct es_batch *from);
/* Appends `count` of its tuples from the `first` on. */
int esi_batch_append_tuples(struct es_batch *batch,
                            const struct es_batch *from,
                            size_t first,
                            size_t count);
/* Both. */
int esi_batch_append(struct es_batch *batch,
                     const struct es_batch *from,
                     size_t first,
                     size_t count);

/* What summaries sum up, and their groups, by enum es_summary_field and ..._group;
 * NULL-terminated. */
extern const char *const esi_summary_fields[];
extern const char *const esi_summary_groups[];

/* Puts what es_origin_run_ns() says of each of `count` tick counts in its place. */
void esi_origin_run_each(const struct es_origin *origin, uint64_t *times, size_t count);

/* Run time of a tuple of this origin, in ns since 1970. */
static inline uint64_t esi_realtime_ns(const struct es_stage *stage,
                                       uint32_t origin,
                                       uint64_t ticks)
{
    return es_origin_run_ns(&stage->context->origins->items[origin], ticks, NULL);
}

#endif
