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
 * be made anew over the same elements without losing or repeating a tuple. */
struct es_place {
    struct es_cursor taken; /* behind the tuples whose reply was acknowledged */
    struct es_cursor given; /* behind the tuples given last */
    bool registered; /* the writer waits for this reader where the element blocks */
    uint64_t serial; /* of the pull that gave them; 0 = all acknowledged */
    /* Of an element that is read through a tuple server `taken` is where reading begins
     * anew if that server is lost: everything below has come.  Behind it some tuples
     * may have come too, where a stage over there keeps others back: es_places.behind
     * tells which. */
};

struct es_given;

/* One place per origin, by the origin's index. */
struct es_places {
    struct es_place *items;
    size_t count;
    /* What has come from tuple servers out of turn (scopes/remote/given.h), the remote
     * stages' to write; borrowed.  NULL: positions do not move. */
    struct es_given *behind;
};

/* The built-in types, NULL-terminated, in the order in which they are listed. */
extern const struct es_stage_ops *const esi_stage_types[];

extern const struct es_stage_ops esi_stage_collector;
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

/* Announces to the one child, if there is one, that it will get what the stage gets. */
void esi_stage_ask_child(struct es_stage *stage, const struct es_pull *pull);

/* Fills `error` for a type that is not there, with the nearest name.  Returns -ENOENT.
 */
int esi_stage_unknown(const char *name, struct es_error *error);

/* Run time of a tuple of this origin, in ns since 1970. */
static inline uint64_t esi_realtime_ns(const struct es_stage *stage,
                                       uint32_t origin,
                                       uint64_t ticks)
{
    return es_origin_run_ns(&stage->context->origins->items[origin], ticks, NULL);
}

#endif
