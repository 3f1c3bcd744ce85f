/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The data structures of replay.h, shared by its files. */
#ifndef ES_MONITORS_LATENT_REPLAY_PRIVATE_H
#define ES_MONITORS_LATENT_REPLAY_PRIVATE_H

#include "monitors/latent/replay.h"
#include "monitors/latent/replay_graph.h"

#define ESI_REPLAY_NOBODY UINT32_MAX

struct esi_replay_process {
    uint32_t exchanging; /* number of threads that send, receive or complete */
    bool buffers; /* some of its persistent sends are buffered, but it is not known
                     which */
    bool cancels; /* some of its sends are cancelled, so their numbers are not
                     reliable */
};

struct esi_replay_thread {
    const struct esi_run_thread *of;
    uint32_t base; /* node of the first tuple */
    struct es_tuple *tuples;
    size_t count, capacity;
};

struct esi_replay {
    struct esi_replay_process *processes; /* by number in the run */
    struct esi_replay_thread *threads;
    size_t thread_count;
    struct esi_replay_graph graph; /* only during the replay */
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
