/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The wait-for graph: who is stuck for good, in which cycle, and who holds the others
 * up. Pure logic.
 *
 * Threads wait for ranks: for all of their targets (a receive from one rank, a
 * collective) or for any one of them (a receive from any source).  Who waits for
 * somebody that may still act may still be released; what is left over when all that
 * can be released are is stuck.  That is the and/or model of deadlock (Knapp, Deadlock
 * Detection in Distributed Databases, 1987).
 */
#ifndef ES_MONITORS_HEARTBEAT_WAIT_GRAPH_H
#define ES_MONITORS_HEARTBEAT_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

enum esi_wait_state {
    ES_WAIT_NOT,     /* does not wait: may act at any time */
    ES_WAIT_ALL,     /* until all targets have acted */
    ES_WAIT_ANY,     /* until one of them has */
    ES_WAIT_UNKNOWN, /* waits, but for what is not known: may be released at any time */
    ES_WAIT_GONE,    /* will never act again */
};

/* One thread, filled by the caller up to `stuck`. */
struct esi_wait_node {
    int rank;
    enum esi_wait_state state;
    bool certain;       /* the targets are what it waits for; else they probably are */
    const int *targets; /* world ranks; borrowed */
    size_t target_count;
    bool stuck; /* result: waits for what can never happen */
};

/* Of a group of ranks that wait for each other: a shortest cycle through its least
 * rank. */
struct esi_wait_cycle {
    int *ranks; /* each waits for the next, the last for the first, which is the least;
                   owned */
    size_t count;
    size_t members; /* of the group, `count` or more */
    bool knot;      /* nobody of the group waits for a stuck rank outside */
    bool certain;   /* that they wait, and that nobody else can release them */
};

/* A rank that others wait for and that is not blocked itself. */
struct esi_wait_culprit {
    int rank;
    size_t waiting; /* threads that wait for it */
    bool gone;
};

struct esi_wait_result {
    struct esi_wait_cycle *cycles; /* owned; knots first, small groups first */
    size_t cycle_count;
    size_t cycle_capacity;
    struct esi_wait_culprit
        *culprits; /* owned; by number of those who wait, then rank */
    size_t culprit_count;
};

/* Analyses the graph, in time and memory linear in nodes, targets and the highest rank.
 * Ranks that no node stands for may act.  0 or -ENOMEM.  Free the result with
 * esi_wait_result_fini(). */
int esi_wait_analyse(struct esi_wait_node *nodes,
                     size_t count,
                     struct esi_wait_result *ret_result);
void esi_wait_result_fini(struct esi_wait_result *result);

#endif
