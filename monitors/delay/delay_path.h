/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_path.h - the critical paths of all threads, as they grow.
 *
 * The critical path of a thread goes back along its calls to the end of its last wait,
 * from there along the calls of the thread that was waited for, and so on to the begin
 * of the run (Yang and Miller, "Critical path analysis for the execution of parallel
 * and distributed programs", ICDCS 1988).  Looked at forwards: when a wait ends, the
 * path of the one that waited becomes that of the one that it waited for, as far as
 * that had come.  All paths are one tree, whose nodes are pieces of threads.  Paths
 * that lead nowhere vanish; pieces with one follower become one.
 */
#ifndef ES_MONITORS_DELAY_DELAY_PATH_H
#define ES_MONITORS_DELAY_DELAY_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/delay/delay_tally.h"

struct esi_delay_thread;

/* What lies on a path: an activity of a thread, in calls number
 * block << generation and the following 2^generation - 1. */
struct esi_path_key {
    uint32_t thread;
    unsigned block;
    unsigned generation;
    uint32_t activity;
};
struct esi_path_key esi_path_key_of(uint64_t key);

struct esi_path_node {
    struct esi_path_node *parent;
    struct esi_path_node *older; /* of the same thread; one that can still be left */
    struct esi_path_node *newer;
    struct esi_delay_thread *thread;
    uint64_t from_ns;
    uint64_t to_ns;        /* UINT64_MAX = goes on */
    uint64_t gone_ns;      /* from then to `from_ns` an older piece may have vanished */
    uint64_t summed_ns;    /* `sums` hold what is before */
    uint32_t followers;    /* nodes, and the thread whose path ends here */
    bool listed;           /* in its thread's list */
    uint32_t pass;         /* of joining, in which it was looked at last */
    struct esi_tally sums; /* by path key */
};

struct esi_paths {
    size_t count;     /* nodes */
    size_t threshold; /* of them, before pieces are joined again */
    uint32_t pass;    /* how many times they were */
    uint64_t now_ns;  /* no wait ends earlier from now on */
    uint64_t detours;
};

/* The path of a thread begins.  0 or -ENOMEM. */
int esi_path_begin(struct esi_paths *paths, struct esi_delay_thread *thread);
/* Frees the nodes of all threads' paths. */
void esi_path_end(struct esi_paths *paths, struct esi_delay_thread *thread);

/* A thread waited from `begin_ns` to `until_ns`, until the cause had come to
 * `cause_ns`.  0 or -ENOMEM. */
int esi_path_leave(struct esi_paths *paths,
                   struct esi_delay_thread *thread,
                   uint64_t begin_ns,
                   uint64_t until_ns,
                   struct esi_delay_thread *cause,
                   uint64_t cause_ns);

/* The thread's oldest call is about to be forgotten.  0 or -ENOMEM. */
int esi_path_keep(struct esi_delay_thread *thread);

/* Joins pieces where there are too many.  0 or -ENOMEM. */
int esi_path_join(struct esi_paths *paths,
                  struct esi_delay_thread *const *threads,
                  size_t thread_count);

/* Adds what lies on the path of a thread, by path keys.  0 or -ENOMEM. */
int esi_path_sum(struct esi_delay_thread *thread, struct esi_tally *tally);

#endif
