/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * node_edges.h - the edge tuples of one node of collective trees, put together to
 * operations, and what they say.
 *
 * Tuples come in order from each element, in any order between elements.  An operation
 * is classified when there is evidence that its rank has done with it, and all elements
 * have been read to their ends since the evidence came: what was published before it is
 * there then.  Evidence is, in this order: the tuple of the MPI operation itself; a
 * tuple of a later blocking operation on the communicator; edges that can only be
 * complete.
 *
 * Operations may overlap: one that began later may end earlier.  So an operation can be
 * held back by others although it has been classified (see esi_node_edges_hold()).
 *
 * What comes of an operation at an internal node is a pair of tuples, which the stage
 * `tree-node` emits (docs/stages.md, "Nodes of collective trees"):
 *
 *   "tree node up"    start, stop: when the first and the last child's contribution had
 *                     arrived; peer: the child that was last; bytes: how long the node
 *                     had waited for it since its own contribution, ns
 *   "tree node down"  start: when the result had arrived from the parent, at the root
 *                     when it began to send; stop: when the last child had been served;
 *                     peer: that child; bytes: from the time all contributions were
 *                     there to the end of the departure up, ns
 *
 * Both have the communicator, the instance (sequence) and the tag of the edges' tuples,
 * and times in ticks of the node's process.  An operation without contributions from
 * children has no "up"; one in which nothing comes down has peer -1 in "down", and both
 * its times are that of the departure up; at the root of such a one there is no "down".
 *
 * Pure logic; one thread at a time.
 */
#ifndef ES_WRAPPERS_STAGES_NODE_EDGES_H
#define ES_WRAPPERS_STAGES_NODE_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/clock.h"
#include "eventspace/stage_batch.h"
#include "eventspace/tuple.h"

/* Codes of the operation table. */
enum esi_node_code {
    ESI_NODE_CONTRIBUTE = 970,
    ESI_NODE_ARRIVAL_UP = 971,
    ESI_NODE_ARRIVAL_DOWN = 972,
    ESI_NODE_DEPARTURE_UP = 973,
    ESI_NODE_DEPARTURE_DOWN = 974,
    ESI_NODE_UP = 980,   /* results */
    ESI_NODE_DOWN = 981, /* likewise */
};

/* Whether it is one half of a result. */
static inline bool esi_tree_node_is_result(const struct es_tuple *tuple)
{
    return tuple->operation == ESI_NODE_UP || tuple->operation == ESI_NODE_DOWN;
}

/* The collective operation and the version of the tree that a tag names. */
static inline uint16_t esi_tree_tag_operation(int32_t tag)
{
    return (uint16_t)((uint32_t)tag & 0xffff);
}

static inline uint32_t esi_tree_tag_version(int32_t tag)
{
    return (uint32_t)tag >> 16;
}

/* One tuple of an operation. */
struct esi_node_edge {
    struct es_tuple tuple;
    struct es_mark mark;
    uint32_t next; /* of the same operation; ESI_NODE_END = none */
};

#define ESI_NODE_END UINT32_MAX

enum esi_node_state {
    ESI_NODE_OPEN,       /* more may come */
    ESI_NODE_CLASSIFIED, /* but not queued */
    ESI_NODE_QUEUED,     /* what comes of it has yet to be emitted */
    ESI_NODE_DONE,       /* emitted */
};

/* What goes up of an operation that was classified. */
enum esi_node_outcome {
    ESI_NODE_AS_NOTHING,
    ESI_NODE_AS_RESULTS,
    ESI_NODE_AS_PIECES, /* its tuples as they came */
};

/* One operation at the node. */
struct esi_node_instance {
    uint64_t id; /* ascending in the table */
    uint32_t sequence;
    uint16_t communicator;
    uint16_t operation; /* code of the collective */
    int32_t tag;        /* of the edges */
    enum esi_node_state state;
    enum esi_node_outcome goes; /* from JUDGED on */
    uint32_t first;             /* its edges */
    uint32_t last;
    uint32_t arrivals;   /* from children */
    uint32_t departures; /* to children */
    uint32_t pending;    /* QUEUED: tuples not emitted yet */
    bool contributed;
    bool below; /* it has a parent, as its contribution says */
    bool sent_up;
    bool came_down;
    bool ended;          /* the MPI operation's own tuple is there */
    bool edges;          /* there is any tuple of an edge */
    bool held;           /* of esi_node_edges_hold() */
    bool stays;          /* QUEUED: it cannot go up at present */
    bool dissolved;      /* QUEUED: its tuples go up one by one */
    uint64_t born;       /* reading in which its first tuple came */
    uint64_t changed;    /* and its last */
    uint64_t changed_ns; /* and when */
};

/* A communicator's progress. */
struct esi_node_communicator {
    uint16_t index;
    uint32_t newest;    /* instance of which a tuple has come */
    uint32_t confirmed; /* the same before the last reading of everything */
    bool is_confirmed;
};

/* First position of an element that is held. */
struct esi_node_low {
    uint32_t origin;
    uint64_t position;
};

/* Caller's memory; all zero is an empty one. */
struct esi_node_edges {
    bool wants_contributions; /* some element records them, so that there is one of each
                                 operation with a way up: set by the caller */

    struct esi_node_edge *edges; /* owned */
    size_t edge_capacity;
    size_t edge_count;   /* in use */
    uint32_t edge_end;   /* behind the last that was ever in use */
    uint32_t free_edges; /* list of those before it that are not */

    struct esi_node_instance *instances; /* owned, by id */
    size_t count;
    size_t capacity;
    size_t hint; /* where the last tuple belonged */
    uint64_t next_id;

    struct esi_node_communicator *communicators; /* owned */
    size_t communicator_count;
    size_t communicator_capacity;

    struct esi_node_low *lows; /* owned */
    size_t low_count;
    size_t low_capacity;

    uint64_t reading; /* number of the reading of everything that is going on */
};

void esi_node_edges_fini(struct esi_node_edges *table);

/* Whether the tuple is an edge's, or that of a collective operation of MPI. */
bool esi_node_edges_takes(const struct es_tuple *tuple);

/* Makes room for `count` more tuples.  -ENOMEM. */
int esi_node_edges_reserve(struct esi_node_edges *table, size_t count);
/* Adds one; room must be there. */
void esi_node_edges_add(struct esi_node_edges *table,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark,
                        uint64_t now_ns);

/* Adds a tuple that belongs to no operation, as an operation of its own that goes up as
 * it is; room must be there. */
void esi_node_edges_add_other(struct esi_node_edges *table,
                              const struct es_tuple *tuple,
                              const struct es_mark *mark);

/* All elements have been read to their ends.  After classifying. */
void esi_node_edges_read_all(struct esi_node_edges *table);

enum esi_node_class {
    ESI_NODE_WAIT,
    ESI_NODE_COMPLETE,
    ESI_NODE_LEAF,       /* complete, but no internal node: nothing is to be said */
    ESI_NODE_INCOMPLETE, /* tuples of it are missing, and will not come here */
};

/* When to classify. */
struct esi_node_conditions {
    uint64_t now_ns;
    uint64_t patience_ns; /* for what has no evidence */
    bool all;             /* everything was read to its end */
    bool now;             /* even without evidence */
};

enum esi_node_class esi_node_edges_classify(
    const struct esi_node_edges *table,
    const struct esi_node_instance *instance,
    const struct esi_node_conditions *conditions);

/* Writes the results of an operation, "tree node up" first; returns their number. */
size_t esi_node_edges_results(const struct esi_node_edges *table,
                              const struct esi_node_instance *instance,
                              const struct es_clock *clock,
                              struct es_tuple ret_tuples[2],
                              struct es_mark ret_marks[2]);

/* NULL: not there (any more). */
struct esi_node_instance *esi_node_edges_by_id(struct esi_node_edges *table,
                                               uint64_t id);
struct esi_node_instance *esi_node_edges_find(struct esi_node_edges *table,
                                              uint16_t communicator,
                                              uint32_t sequence);

/* Finds which operations cannot go up yet, and sets `held` of these: those whose state
 * is `state` at most, those that stay, and each that has a tuple behind a tuple of a
 * held one in the same element. */
void esi_node_edges_hold(struct esi_node_edges *table, enum esi_node_state state);

/* Forgets the operations that are done and not held by others, and calls `fn` (may be
 * NULL) for each of their tuples. */
typedef void (*esi_node_edge_fn)(void *data,
                                 const struct esi_node_instance *instance,
                                 const struct esi_node_edge *edge);
void esi_node_edges_retire(struct esi_node_edges *table,
                           esi_node_edge_fn fn,
                           void *data);

#endif
