/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * node_edges.h - assembles the edge tuples of one node of collective trees to
 * operations, and evaluates them.
 *
 * Tuples arrive in order from each element, but in any order between elements.  An
 * operation is classified when there is evidence that its rank has finished it, and all
 * elements have been read to their ends since: tuples published before the evidence
 * have been read then.  Evidence is, in this order: the tuple of the MPI operation
 * itself; a tuple of a later blocking operation on the communicator; edges that can
 * only be complete.
 *
 * Operations may overlap: one that began later may end earlier.  An operation can
 * therefore be held back by others although it has been classified
 * (esi_node_edges_hold()).
 *
 * The result of an operation at an internal node is a pair of tuples, emitted by the
 * stage `tree-node` (docs/scopes.md, "Nodes of collective trees"):
 *
 *   "tree node up"    start, stop: when the first and the last child's contribution had
 *                     arrived; peer: the last child; bytes: how long the node had
 *                     waited for it since its own contribution, ns
 *   "tree node down"  start: when the result had arrived from the parent, or when
 *                     the root began to send; stop: when the last child was served;
 *                     peer: that child; bytes: from the time all contributions were
 *                     there to the end of the departure up, ns
 *
 * Both have the communicator, the instance (sequence) and the tag of the edge tuples,
 * and times in ticks of the node's process.  An operation without contributions from
 * children has no "up".  If nothing comes down, "down" has peer -1, and both its times
 * are that of the departure up; at the root there is no "down" then.
 *
 * Pure logic.  Not thread safe.
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

/* Returns whether the tuple is one half of a result. */
static inline bool esi_tree_node_is_result(const struct es_tuple *tuple)
{
    return tuple->operation == ESI_NODE_UP || tuple->operation == ESI_NODE_DOWN;
}

/* The collective operation and the version of the tree in a tag. */
static inline uint16_t esi_tree_tag_operation(int32_t tag)
{
    return (uint16_t)((uint32_t)tag & 0xffff);
}

static inline uint32_t esi_tree_tag_version(int32_t tag)
{
    return (uint32_t)tag >> 16;
}

/* Whether an edge with this tag and payload has a message: without payload, only one of
 * a barrier has. */
bool esi_tree_edge_has_message(int32_t tag, uint32_t bytes);

/* One tuple of an operation. */
struct esi_node_edge {
    struct es_tuple tuple;
    struct es_mark mark;
    uint32_t next; /* next edge of the same operation; ESI_NODE_END if none */
};

#define ESI_NODE_END UINT32_MAX

enum esi_node_state {
    ESI_NODE_OPEN,       /* more tuples may come */
    ESI_NODE_CLASSIFIED, /* but not queued */
    ESI_NODE_QUEUED,     /* its results have not been emitted yet */
    ESI_NODE_DONE,       /* emitted */
};

/* What a classified operation emits. */
enum esi_node_outcome {
    ESI_NODE_AS_NOTHING,
    ESI_NODE_AS_RESULTS,
    ESI_NODE_AS_PIECES, /* its tuples, unchanged */
};

/* One operation at the node. */
struct esi_node_instance {
    uint64_t id; /* ascending in the table */
    uint32_t sequence;
    uint16_t communicator;
    uint16_t operation; /* code of the collective */
    int32_t tag;        /* of the edges */
    enum esi_node_state state;
    enum esi_node_outcome goes; /* from CLASSIFIED on */
    uint32_t first;             /* its edges */
    uint32_t last;
    uint32_t arrivals;   /* number from children */
    uint32_t departures; /* number to children */
    uint32_t pending;    /* QUEUED: number of tuples not emitted yet */
    bool contributed;
    bool below; /* it has a parent, according to its contribution */
    bool sent_up;
    bool came_down;
    bool ended;          /* the tuple of the MPI operation has arrived */
    bool edges;          /* a tuple of an edge has arrived */
    bool held;           /* set by esi_node_edges_hold() */
    bool stays;          /* QUEUED: it cannot be emitted at present */
    bool dissolved;      /* QUEUED: its tuples are emitted individually */
    uint64_t born;       /* number of the reading with its first tuple */
    uint64_t changed;    /* number of the reading with its last tuple */
    uint64_t changed_ns; /* time of that */
};

/* The progress of a communicator. */
struct esi_node_communicator {
    uint16_t index;
    uint32_t newest;    /* newest instance with a tuple */
    uint32_t confirmed; /* its value before the last complete reading */
    bool is_confirmed;
};

/* The first held position of an element. */
struct esi_node_low {
    uint32_t origin;
    uint64_t position;
};

/* In caller's memory; zero is an empty one. */
struct esi_node_edges {
    bool wants_contributions; /* set by the caller if an element records contributions:
                                 then each operation that has a parent has one */

    struct esi_node_edge *edges; /* owned */
    size_t edge_capacity;
    size_t edge_count;   /* number in use */
    uint32_t edge_end;   /* index after the last one ever used */
    uint32_t free_edges; /* list of unused edges before that */

    struct esi_node_instance *instances; /* owned, by id */
    size_t count;
    size_t capacity;
    size_t hint; /* the instance of the last tuple */
    uint64_t next_id;

    struct esi_node_communicator *communicators; /* owned */
    size_t communicator_count;
    size_t communicator_capacity;

    struct esi_node_low *lows; /* owned */
    size_t low_count;
    size_t low_capacity;

    uint64_t reading; /* number of the current reading of all elements */
};

void esi_node_edges_fini(struct esi_node_edges *table);

/* Returns whether the tuple is that of an edge or of an MPI collective. */
bool esi_node_edges_takes(const struct es_tuple *tuple);

/* Makes room for `count` more tuples.  Returns 0 or -ENOMEM. */
int esi_node_edges_reserve(struct esi_node_edges *table, size_t count);
/* Adds a tuple.  Requires room. */
void esi_node_edges_add(struct esi_node_edges *table,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark,
                        uint64_t now_ns);

/* Adds a tuple that belongs to no operation, as an operation of its own that is emitted
 * unchanged.  Requires room. */
void esi_node_edges_add_other(struct esi_node_edges *table,
                              const struct es_tuple *tuple,
                              const struct es_mark *mark);

/* All elements have been read to their ends.  Call after classifying. */
void esi_node_edges_read_all(struct esi_node_edges *table);

enum esi_node_class {
    ESI_NODE_WAIT,
    ESI_NODE_COMPLETE,
    ESI_NODE_LEAF,       /* complete, but not an internal node: no result */
    ESI_NODE_INCOMPLETE, /* some tuples are missing and will not come */
};

/* Conditions for classification. */
struct esi_node_conditions {
    uint64_t now_ns;
    uint64_t patience_ns; /* for operations without evidence */
    bool all;             /* all elements were read to their ends */
    bool now;             /* even without evidence */
};

enum esi_node_class esi_node_edges_classify(
    const struct esi_node_edges *table,
    const struct esi_node_instance *instance,
    const struct esi_node_conditions *conditions);

/* Computes the results of an operation, "tree node up" first.  Returns their number. */
size_t esi_node_edges_results(const struct esi_node_edges *table,
                              const struct esi_node_instance *instance,
                              const struct es_clock *clock,
                              struct es_tuple ret_tuples[2],
                              struct es_mark ret_marks[2]);

/* Finds an operation; NULL if it does not exist (any more). */
struct esi_node_instance *esi_node_edges_by_id(struct esi_node_edges *table,
                                               uint64_t id);
struct esi_node_instance *esi_node_edges_find(struct esi_node_edges *table,
                                              uint16_t communicator,
                                              uint32_t sequence);

/* Determines which operations cannot be emitted yet, and sets their `held`: those whose
 * state is at most `state`, those that stay, and each with a tuple after a tuple of a
 * held one in the same element. */
void esi_node_edges_hold(struct esi_node_edges *table, enum esi_node_state state);

/* Removes operations that are done and not held by others.  Calls `fn`, unless NULL,
 * for each of their tuples. */
typedef void (*esi_node_edge_fn)(void *data,
                                 const struct esi_node_instance *instance,
                                 const struct esi_node_edge *edge);
void esi_node_edges_retire(struct esi_node_edges *table,
                           esi_node_edge_fn fn,
                           void *data);

#endif
