/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The data structures of replay.h, shared by its files. */
#ifndef ES_MONITORS_LATENT_REPLAY_PRIVATE_H
#define ES_MONITORS_LATENT_REPLAY_PRIVATE_H

#include "monitors/eventset/set_texts.h"
#include "monitors/latent/replay.h"
#include "monitors/latent/replay_graph.h"

#define ESI_REPLAY_NOBODY UINT32_MAX

struct esi_replay_process {
    uint32_t exchanging; /* number of threads that send, receive or complete */
    bool buffers; /* some of its persistent sends are buffered, but it is not known
                     which */
};

struct esi_replay_op {
    struct es_tuple tuple;
    uint32_t number;         /* in the order of events */
    uint32_t instance;       /* of a collective operation, from 1; 0 = none */
    struct es_event_id sent; /* of a receive: its send; index 0 = none */
    uint32_t completed_by;   /* number of the call that has completed it, plus one */
};

/* The thread of a trace, if `of` is not NULL. */
struct esi_replay_thread {
    const struct esi_run_thread *of;
    uint32_t base; /* node of the first operation */
    struct esi_replay_op *ops;
    size_t count, capacity;
    uint32_t *event_ops; /* by event: the number of its operation, later the position;
                            ESI_REPLAY_NOBODY = none, or not needed */
    size_t event_count, event_capacity;
};

struct esi_replay {
    struct esi_replay_process *processes; /* by number in the run */
    size_t process_count;
    struct esi_replay_thread *threads; /* by trace */
    size_t thread_count, thread_capacity;
    uint32_t *instances; /* by number in the stream: that of the replay; 0 = none */
    size_t instance_count, instance_capacity;
    struct esi_replay_graph graph; /* only during the replay */
    struct esi_texts names;        /* of communicators */
    struct esi_replay_finding *findings;
    size_t finding_count, finding_capacity;
    struct esi_replay_totals totals;
};

/* The thread of a node. */
const struct esi_replay_thread *esi_replay_thread_of(const struct esi_replay *replay,
                                                     uint32_t node);
/* Fills the graph.  Its nodes are the tuples in thread order, followed by one node per
 * collective instance.  Returns 0 or -ENOMEM. */
int esi_replay_find_needs(struct esi_replay *replay, uint8_t **ret_begins);

#endif
