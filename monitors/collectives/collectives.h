/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The analysis of collective operations (paper, section 5.3): the time that each
 * operation lost, and because of whom.
 *
 *   esi_collectives_create(&config, &analysis);
 *   causality_config.listener = esi_collectives_listener(analysis);
 *   ... the input of causality/causality.h ...
 *
 * An *instance* is one operation on one communicator, by all its members.  Causality
 * matches them; the analysis judges each one and passes it to config.on_instance, also
 * those that were given up, with what is known.  Statistics are in
 * collective_statistics.h.
 *
 * Who is to blame: if all wait for all, everybody waits for the last to enter, so the
 * waiting time of the others is its debt; if data comes from the root, members wait for
 * the root; if it goes to the root, the root waits for the last.  See
 * docs/collectives.md, "What is lost".
 *
 * An analysis may be used by one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/causality/causality.h"

/* Bound of the difference between the counters of one host, including the delay of a
 * reading. */
#define ES_SAME_CLOCK_ERROR_NS UINT64_C(100)

struct esi_collective_arrival {
    bool known;
    int world_rank;
    uint64_t enter_ns;
    uint64_t exit_ns;
    uint64_t wait_ns; /* lost waiting for others; 0 for the rank that all waited for */
    uint64_t debt_ns; /* lost by others waiting for it */
    uint64_t work_ns; /* since the previous operation on the communicator, if the
                         instance's imbalance is known */
    const char *site; /* source location of the call; NULL or "" = not known.
                         Borrowed for as long as any result of the analysis is used;
                         equal sites have the same pointer */
};

/* One operation of all members.  All spans are in ns. */
struct esi_collective_instance {
    uint64_t key[2];
    const char *communicator;
    uint16_t operation; /* for a large-count variant, the code of the normal one */
    uint32_t instance;
    bool tree;        /* through an instrumented tree; otherwise by the library's
                         algorithm */
    uint32_t version; /* of the rules that built the tree; 0 = the initial ones, or
                         no tree */
    int size;
    int known; /* members that were seen; < size: incomplete */
    int root;
    uint32_t bytes;      /* the largest count of a member */
    unsigned size_class; /* of `bytes` (esi_size_class_of()); 0 = not requested */
    const struct esi_collective_arrival *arrivals; /* by rank in the communicator */
    const int *order;        /* ranks in order of entering; `known` of them */
    int last;                /* rank that entered last */
    int late;                /* number of ranks that entered so close to the last
                                that clocks cannot tell which was the last; 1: `last`
                                is certain */
    uint64_t first_enter_ns; /* run time */
    uint64_t last_enter_ns;
    uint64_t last_exit_ns;
    uint64_t spread_ns; /* last enter - first enter */
    uint64_t lead_ns;   /* last enter - second to last enter: the delay of the last
                           rank alone */
    bool waits_known;   /* wait_ns, debt_ns, lost_ns and culprit are valid: the
                           instance is complete, blocking, and its order is known */
    uint64_t lost_ns;   /* sum of all waits */
    int culprit;        /* rank that caused most of the loss; -1 = nobody, or not
                         certain */
    uint64_t time_ns;   /* last exit - first enter */
    uint64_t tree_ns;   /* last exit - last enter (root-to-all: - the root's enter) */
    uint64_t departure_ns; /* last exit - first exit */
    double imbalance;      /* of the work since the previous operation: slowest / mean
                            - 1; negative = not known */
    uint64_t error_ns;     /* error bound of a span between the clocks of two ranks;
                            ES_SAME_CLOCK_ERROR_NS if all have read the same clock */
    unsigned repaired;     /* contradictory times that were corrected within their
                            error bound */
    unsigned impossible;   /* times that contradict by more than their error bound:
                            then nobody is blamed */
};

struct esi_collectives;

typedef void (*esi_collective_instance_fn)(
    void *data,
    const struct esi_collective_instance *instance);

struct esi_collectives_config {
    bool by_size;                           /* fill in size_class */
    esi_collective_instance_fn on_instance; /* called for complete instances and for
                                               those given up; may be NULL; borrows
                                               for the call */
    void *data;
};

int esi_collectives_create(const struct esi_collectives_config *config,
                           struct esi_collectives **ret_analysis);
/* Accepts NULL. */
void esi_collectives_destroy(struct esi_collectives *analysis);

/* Judges an instance.  Returns 0 or -ENOMEM.  O(size log size). */
int esi_collectives_add(struct esi_collectives *analysis,
                        const struct esi_causal_instance *told);

/* Adds all instances of a stream. */
struct esi_causal_listener esi_collectives_listener(struct esi_collectives *analysis);

/* The sums of the instances' `repaired` and `impossible`. */
void esi_collectives_clock_faults(const struct esi_collectives *analysis,
                                  uint64_t *ret_repaired,
                                  uint64_t *ret_impossible);

#endif
