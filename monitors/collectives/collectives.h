/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The analysis of collective operations (paper, section 5.3): from the tuples of each
 * rank to the time that each operation lost, and because of whom.
 *
 *   esi_collectives_create(&config, &analysis);
 *   for each tuple of class collective:  esi_collectives_add(analysis, &call);
 *   periodically:                        esi_collectives_expire(analysis, now_ns);
 *   at the end:                          esi_collectives_finish(analysis);
 *
 * An *instance* is one operation on one communicator, by all its members.  It is
 * complete when all of them have been seen, and is then passed to config.on_instance.
 * Missing parts may arrive late: a rank that computes for a minute before it joins a
 * broadcast is exactly what the analysis looks for.  So an incomplete instance is given
 * up only
 *
 *   - `patience_ns` after its newest part, if a missing rank was seen in a later
 *     operation there: its part is lost;
 *   - after sixty times that, in any case;
 *   - when there are too many: the oldest one.
 *
 * It is counted, and passed on with what is known.  Instances at the beginning, before
 * the first one seen of a missing rank, are counted separately: they are not errors.
 * Memory is proportional to open instances times members, plus a few words per member
 * of a communicator.  Statistics are in collective_statistics.h.
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

/* One rank's part in an operation: one tuple, converted. */
struct esi_collective_call {
    uint64_t key[2];          /* of the communicator, run-wide */
    const char *communicator; /* its name; borrowed for the call */
    uint16_t operation;       /* unmodified code, including large-count and
                                 nonblocking variants */
    uint32_t instance;        /* number on the communicator */
    int size;                 /* number of members */
    int rank;                 /* in the communicator */
    int world_rank;
    int root;          /* in the communicator; -1 = none */
    uint32_t bytes;    /* as the tuple says */
    bool tree;         /* it is known to have used an instrumented tree */
    uint32_t version;  /* version of the tree's rules; otherwise 0 */
    uint64_t enter_ns; /* run time */
    uint64_t exit_ns;
    uint64_t error_ns; /* error bound of both */
    uint32_t clock;    /* number of the clock that was read, such as that of a host:
                       times of the same clock are compared without that error; 0 = a
                       clock of its own */
    const char *site;  /* source location of the call; NULL or "" = not known.
                         Borrowed for as long as any result of the analysis is used;
                         equal sites have the same pointer */
};

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
    const char *site; /* as in the call */
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

/* Counts of what was added. */
struct esi_collectives_counts {
    uint64_t calls;      /* accepted */
    uint64_t complete;   /* instances */
    uint64_t incomplete; /* given up: a part was lost or did not arrive */
    uint64_t beginnings; /* given up: older than the first instance seen of a missing
                            rank */
    uint64_t open;       /* now */
    uint64_t crowded;    /* part of `incomplete`: given up because there were too
                            many */
    uint64_t invalid;    /* calls with invalid data */
    uint64_t duplicates; /* calls that were already present */
    uint64_t late;       /* calls to instances that had been given up */
    uint64_t mismatched; /* calls of a different operation than the instance's */
    uint64_t repaired;   /* see esi_collective_instance */
    uint64_t impossible;
};

struct esi_collectives;

typedef void (*esi_collective_instance_fn)(
    void *data,
    const struct esi_collective_instance *instance);

struct esi_collectives_config {
    size_t max_open;                        /* instances; 0 = 65536 */
    uint64_t patience_ns;                   /* 0 = 10 s */
    bool by_size;                           /* fill in size_class */
    esi_collective_instance_fn on_instance; /* called for complete instances and for
                                               those given up; may be NULL; borrows
                                               for the call */
    void *data;
};

int esi_collectives_create(const struct esi_collectives_config *config,
                           struct esi_collectives **ret_analysis);
void esi_collectives_destroy(struct esi_collectives *analysis);

/* Adds a call.  Returns 0; -EINVAL if the call is invalid (a rank out of range, a stop
 * before its start, not a collective; it is counted as such); -EEXIST if this rank's
 * part was already present; -EPROTO if its instance is a different operation or has
 * another root; -ESTALE if its instance was given up; or -ENOMEM. O(1) on average; the
 * last part of an instance O(size log size). */
int esi_collectives_add(struct esi_collectives *analysis,
                        const struct esi_collective_call *call);
/* Marks an operation as using an instrumented tree.  Uses only key, size, instance,
 * version and exit_ns (the time of the observation) of `call`. Must be called before
 * the operation's last part is added; later calls have no effect.  Returns 0, -EINVAL
 * or -ENOMEM. O(1) on average. */
int esi_collectives_add_tree(struct esi_collectives *analysis,
                             const struct esi_collective_call *call);
/* Gives up instances that have been incomplete for too long.  Everything recorded
 * before `now_ns` must have been added. */
void esi_collectives_expire(struct esi_collectives *analysis, uint64_t now_ns);
/* Gives up all incomplete instances. */
void esi_collectives_finish(struct esi_collectives *analysis);

/* Returns the counts so far. */
void esi_collectives_counts(const struct esi_collectives *analysis,
                            struct esi_collectives_counts *ret_counts);

#endif
