/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_graph_private.h - what the analysis of the wait-for graph knows of ranks. */
#ifndef ES_MONITORS_HEARTBEAT_WAIT_GRAPH_PRIVATE_H
#define ES_MONITORS_HEARTBEAT_WAIT_GRAPH_PRIVATE_H

#include "monitors/heartbeat/wait_graph.h"

/* What is known of a rank, by all its threads. */
struct esi_wait_rank {
    bool known;
    bool acts;    /* may act, or be released */
    bool blocked; /* has a thread that waits, and none that is free of it */
    bool gone;    /* all its threads are gone */
    bool stuck;   /* has a thread that is, and none that acts */
};

/* Numbers for each rank, one behind the other: those of rank r are
 * items[starts[r]] to items[starts[r + 1] - 1]. */
struct esi_wait_lists {
    size_t *starts; /* owned; one more than ranks */
    size_t *items;  /* owned */
};

struct esi_wait_analysis {
    struct esi_wait_node *nodes; /* borrowed */
    size_t count;
    struct esi_wait_rank *ranks; /* owned */
    size_t rank_count;
    struct esi_wait_lists threads; /* nodes of each rank */
    struct esi_wait_lists waiters; /* nodes that wait for each rank, once per target */
};

/* Whether `rank` is that of some node. */
bool esi_wait_is_known(const struct esi_wait_analysis *analysis, int rank);

/* Finds the cycles among stuck ranks.  0 or -ENOMEM; what was found stays in
 * `result`. */
int esi_wait_find_cycles(const struct esi_wait_analysis *analysis,
                         struct esi_wait_result *result);

#endif
