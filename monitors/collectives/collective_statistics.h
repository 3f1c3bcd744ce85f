/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Running statistics of collective operations: one group for each communicator,
 * operation (large-count variants with the others), version of the tree and, if these
 * are told apart, class of sizes, and in it what each rank has cost the others.
 *
 * Statistics can be merged, so that those of several spans of time or of several
 * threads become one.  Memory: groups times members.
 *
 *   one set is one thread's at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVE_STATISTICS_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVE_STATISTICS_H

#include "monitors/collectives/collectives.h"
#include "monitors/collectives/measure.h"

/* What others lost because a member came late to a call at one place. */
struct esi_collective_line {
    const char *site; /* borrowed from the calls; NULL = none */
    uint64_t debt_ns;
};

/* Of more lines those that cost least share a place. */
enum { ESI_COLLECTIVE_LINES = 4 };

/* What a member has waited and made others wait, over all instances of a group. */
struct esi_collective_rank {
    int world_rank;
    uint64_t last;    /* times that it was surely the last to enter */
    uint64_t blamed;  /* times that it was the culprit */
    uint64_t debt_ns; /* what others lost because of it */
    uint64_t lead_ns; /* as the last: what would have been saved had it alone come when
                         the last but one did */
    uint64_t wait_ns; /* what it lost itself */
    uint64_t work_ns; /* between the operations of which that is known */
    struct esi_collective_line lines[ESI_COLLECTIVE_LINES]; /* of debt_ns */
};

struct esi_collective_group {
    uint64_t key[2];
    char communicator[64];
    uint16_t operation;
    bool by_tree;        /* through instrumented trees, */
    uint32_t version;    /* made by this version of the rules; else 0 */
    unsigned size_class; /* size_class.h; 0 = all sizes */
    int size;
    uint64_t complete;       /* instances; the measures are of these */
    uint64_t incomplete;     /* that were given up */
    uint64_t judged;         /* instances whose waits are known */
    uint64_t unsure;         /* of these: time was lost, but not surely for one rank */
    uint64_t first_ns;       /* run time of the first enter */
    uint64_t last_ns;        /* and of the last exit */
    uint64_t bytes;          /* added up, as the greatest member says; saturates */
    uint64_t worst_error_ns; /* greatest bound of clocks */
    struct esi_measure time;
    struct esi_measure spread;
    struct esi_measure lost; /* of judged instances */
    struct esi_measure tree;
    struct esi_measure departure;
    struct esi_measure imbalance;      /* in thousandths, where it is known */
    struct esi_collective_rank *ranks; /* by rank in the communicator; owned */
};

/* The line that cost most of a member's debt.  `site` NULL: it is not known. */
struct esi_collective_line esi_collective_rank_worst(
    const struct esi_collective_rank *rank);

struct esi_collective_statistics;

int esi_collective_statistics_create(struct esi_collective_statistics **ret_statistics);
/* Accepts NULL. */
void esi_collective_statistics_destroy(struct esi_collective_statistics *statistics);

/* Enters an instance, complete or not.  -ENOMEM: it is not in there.  O(size). */
int esi_collective_statistics_add(struct esi_collective_statistics *statistics,
                                  const struct esi_collective_instance *instance);
/* Adds all of `other`.  -ENOMEM: not all is in there. */
int esi_collective_statistics_merge(struct esi_collective_statistics *statistics,
                                    const struct esi_collective_statistics *other);

/* Groups in the order in which they appeared; borrowed until something is added. */
size_t esi_collective_statistics_count(
    const struct esi_collective_statistics *statistics);
const struct esi_collective_group *esi_collective_statistics_at(
    const struct esi_collective_statistics *statistics,
    size_t index);

#endif
