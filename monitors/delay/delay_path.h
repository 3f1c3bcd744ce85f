/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_path.h - the critical paths of all threads, built incrementally.
 *
 * The critical path of a thread goes back along its calls to the end of its last wait,
 * from there along the calls of the awaited thread, and so on to the start of the run
 * (Yang and Miller, "Critical path analysis for the execution of parallel and
 * distributed programs", ICDCS 1988). Forwards: when a wait ends, the path of the
 * waiting thread is replaced by that of the awaited one, up to the awaited event.  All
 * paths form a tree, whose nodes are pieces of threads.  Nodes that are on no path are
 * removed; pieces with one follower are merged with it.
 */
#ifndef ES_MONITORS_DELAY_DELAY_PATH_H
#define ES_MONITORS_DELAY_DELAY_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/delay/delay_tally.h"

struct esi_delay_thread;

/* An element of a path: an activity of a thread, in calls number block << generation
 * and the following 2^generation - 1. */
struct esi_path_key {
    uint32_t thread;
    unsigned block;
    unsigned generation;
    uint32_t activity;
};
struct esi_path_key esi_path_key_of(uint64_t key);

struct esi_path_node {
    struct esi_path_node *parent;
    struct esi_path_node *older; /* of the same thread; pieces from which paths can
                                    still branch */
    struct esi_path_node *newer;
    struct esi_delay_thread *thread;
    uint64_t from_ns;
    uint64_t to_ns;        /* UINT64_MAX = not ended */
    uint64_t gone_ns;      /* between this time and `from_ns` an older piece may have
                              been removed */
    uint64_t summed_ns;    /* `sums` covers everything before */
    uint32_t followers;    /* number of child nodes, plus the thread whose path ends
                              here */
    bool listed;           /* in its thread's list */
    uint32_t pass;         /* the merge pass that last visited it */
    struct esi_tally sums; /* by path key */
};

struct esi_paths {
    size_t count;     /* nodes */
    size_t threshold; /* number of nodes at which pieces are merged */
    uint32_t pass;    /* number of merge passes */
    uint64_t now_ns;  /* no later wait ends before this */
    uint64_t detours;
};

/* Starts the path of a thread.  Returns 0 or -ENOMEM. */
int esi_path_begin(struct esi_paths *paths, struct esi_delay_thread *thread);
/* Frees the nodes of all threads' paths. */
void esi_path_end(struct esi_paths *paths, struct esi_delay_thread *thread);

/* Records a wait of a thread from `begin_ns` to `until_ns`, for what the thread `cause`
 * did at `cause_ns`. Returns 0 or -ENOMEM. */
int esi_path_leave(struct esi_paths *paths,
                   struct esi_delay_thread *thread,
                   uint64_t begin_ns,
                   uint64_t until_ns,
                   struct esi_delay_thread *cause,
                   uint64_t cause_ns);

/* Call before the thread's oldest call is discarded.  Returns 0 or -ENOMEM. */
int esi_path_keep(struct esi_delay_thread *thread);

/* Merges pieces if there are too many.  Returns 0 or -ENOMEM. */
int esi_path_join(struct esi_paths *paths,
                  struct esi_delay_thread *const *threads,
                  size_t thread_count);

/* Adds the times on the path of a thread, by path key.  Returns 0 or -ENOMEM. */
int esi_path_sum(struct esi_delay_thread *thread, struct esi_tally *tally);

#endif
