/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Running statistics of collective operations: one group for each communicator,
 * operation (including its large-count variant), version of the tree and, optionally,
 * size class; each records what every rank has cost the others.
 *
 * Statistics can be merged, for example those of several time spans or threads.  Memory
 * is proportional to groups times members.
 *
 * Statistics may be used by one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVE_STATISTICS_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVE_STATISTICS_H

#include "monitors/collectives/collectives.h"
#include "monitors/collectives/measure.h"

/* What the others lost because a member was late in calls from one source line. */
struct esi_collective_line {
    const char *site; /* borrowed from the calls; NULL = none */
    uint64_t debt_ns;
};

/* If there are more lines, the cheapest share an entry. */
enum { ESI_COLLECTIVE_LINES = 4 };

/* What a member waited and made others wait, over all instances of a group. */
struct esi_collective_rank {
    int world_rank;
    uint64_t last;    /* number of times that it was certainly the last to enter */
    uint64_t blamed;  /* number of times that it was the culprit */
    uint64_t debt_ns; /* what others lost because of it */
    uint64_t lead_ns; /* as the last: what would have been saved if it had entered
                         together with the second to last */
    uint64_t wait_ns; /* what it lost itself */
    uint64_t work_ns; /* between operations, if known */
    struct esi_collective_line lines[ESI_COLLECTIVE_LINES]; /* parts of debt_ns */
};

struct esi_collective_group {
    uint64_t key[2];
    char communicator[64];
    uint16_t operation;
    bool by_tree;        /* through instrumented trees, */
    uint32_t version;    /* built by this version of the rules; otherwise 0 */
    unsigned size_class; /* size_class.h; 0 = all sizes */
    int size;
    uint64_t complete;       /* instances; the measures cover these */
    uint64_t incomplete;     /* instances that were given up */
    uint64_t judged;         /* instances whose waits are known */
    uint64_t unsure;         /* of these: time was lost, but not certainly because of
                                one rank */
    uint64_t first_ns;       /* run time of the first enter */
    uint64_t last_ns;        /* and of the last exit */
    uint64_t bytes;          /* sum of the largest count of each instance; saturates */
    uint64_t worst_error_ns; /* largest error bound of clocks */
    struct esi_measure time;
    struct esi_measure spread;
    struct esi_measure lost; /* of judged instances */
    struct esi_measure tree;
    struct esi_measure departure;
    struct esi_measure imbalance;      /* in thousandths, if known */
    struct esi_collective_rank *ranks; /* by rank in the communicator; owned */
};

/* The line with the largest part of a member's debt.  `site` is NULL if not known. */
struct esi_collective_line esi_collective_rank_worst(
    const struct esi_collective_rank *rank);

struct esi_collective_statistics;

int esi_collective_statistics_create(struct esi_collective_statistics **ret_statistics);
/* Accepts NULL. */
void esi_collective_statistics_destroy(struct esi_collective_statistics *statistics);

/* Adds an instance, complete or not.  -ENOMEM: it was not added.  O(size). */
int esi_collective_statistics_add(struct esi_collective_statistics *statistics,
                                  const struct esi_collective_instance *instance);
/* Adds all of `other`. -ENOMEM: it was added only partially. */
int esi_collective_statistics_merge(struct esi_collective_statistics *statistics,
                                    const struct esi_collective_statistics *other);

/* Groups in order of first appearance; borrowed until something is added. */
size_t esi_collective_statistics_count(
    const struct esi_collective_statistics *statistics);
const struct esi_collective_group *esi_collective_statistics_at(
    const struct esi_collective_statistics *statistics,
    size_t index);

#endif
