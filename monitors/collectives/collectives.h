/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The analysis of collective operations (paper, section 5.3): from what each rank did
 * to what each operation lost, and because of whom.
 *
 *   esi_collectives_create(&config, &analysis);
 *   for each tuple of class collective:  esi_collectives_add(analysis, &call);
 *   now and then:                        esi_collectives_expire(analysis, now_ns);
 *   at the end:                          esi_collectives_finish(analysis);
 *
 * An *instance* is one operation on one communicator, by all its members.  It is
 * complete when all of them have been seen, and is then given to config.on_instance.
 * What is missing may come late: a rank that computes for a minute before it joins a
 * broadcast is what this is about.  So an incomplete instance is given up only
 *   - `patience_ns` after its newest part, if a missing rank was seen in a later
 *     operation there: its part is lost;
 *   - after sixty times that, whatever was seen;
 *   - when there are too many: the oldest goes.
 * It is counted, and given with what is known.  Those at the beginning, before the
 * first that was seen of a missing rank, are counted apart: nothing went wrong there.
 * Memory: open instances times members, and a few words for each member of a
 * communicator.  Statistics are collective_statistics.h.
 *
 * Who is to blame: in an operation in which all wait for all, everybody waits for the
 * last to enter, so its waiting peers' time is its debt; in one from the root, members
 * wait for the root; in one to the root, the root waits for the last.  See
 * docs/collectives.md, "What is lost".
 *
 *   one analysis is one thread's at a time.
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
    uint16_t operation;       /* code; large-count and nonblocking forms as they are */
    uint32_t instance;        /* number on the communicator */
    int size;                 /* members */
    int rank;                 /* in the communicator */
    int world_rank;
    int root;          /* in the communicator; -1 = none */
    uint32_t bytes;    /* as the tuple says */
    bool tree;         /* it is known to have gone through an instrumented tree, */
    uint32_t version;  /* of this version of the rules; else 0 */
    uint64_t enter_ns; /* run time */
    uint64_t exit_ns;
    uint64_t error_ns; /* bound of the error of both */
    uint32_t clock; /* number of the clock that was read, such as that of a host: times
                       of the same clock are compared without that error; 0 = none
                       other has read it */
    const char *site; /* where in the program it was called; NULL or "" = not known.
                         Borrowed for as long as anything of the analysis is looked at;
                         equal ones are the same pointer */
};

/* What the processors' counters of one host may be apart, and a reading is late. */
#define ES_SAME_CLOCK_ERROR_NS UINT64_C(100)

struct esi_collective_arrival {
    bool known;
    int world_rank;
    uint64_t enter_ns;
    uint64_t exit_ns;
    uint64_t wait_ns; /* lost waiting for others; 0 for whom all waited */
    uint64_t debt_ns; /* lost by others waiting for it */
    uint64_t work_ns; /* since the operation before on the communicator, where the
                         instance's imbalance is known */
    const char *site; /* as of the call */
};

/* One operation of all members.  All spans are in ns. */
struct esi_collective_instance {
    uint64_t key[2];
    const char *communicator;
    uint16_t operation; /* of the large-count variant that without */
    uint32_t instance;
    bool tree;        /* through an instrumented tree; else the library's algorithm */
    uint32_t version; /* of the rules that the tree was made by; 0 = those of the start,
                         or no tree */
    int size;
    int known; /* members that were seen; < size: incomplete */
    int root;
    uint32_t bytes;      /* the most that a member says */
    unsigned size_class; /* of these (esi_size_class_of()); 0 = not asked for */
    const struct esi_collective_arrival *arrivals; /* by rank in the communicator */
    const int *order;        /* ranks in order of entering; `known` of them */
    int last;                /* rank that entered last */
    int late;                /* ranks that entered so close to the last that clocks
                                cannot tell which was the last; 1: `last` is sure */
    uint64_t first_enter_ns; /* run time */
    uint64_t last_enter_ns;
    uint64_t last_exit_ns;
    uint64_t spread_ns; /* last enter - first enter */
    uint64_t lead_ns;   /* last enter - last but one: what the last alone is late */
    bool waits_known;   /* wait_ns, debt_ns, lost_ns and culprit say something: the
                           instance is complete, blocks, and its order is known */
    uint64_t lost_ns;   /* sum of all waits */
    int culprit;      /* rank that most of it was lost for; -1 = nobody, or not sure */
    uint64_t time_ns; /* last exit - first enter */
    uint64_t tree_ns; /* last exit - last enter (root-to-all: - the root's enter) */
    uint64_t departure_ns; /* last exit - first exit */
    double imbalance;    /* of the work since the operation before: slowest / mean - 1;
                            negative = not known */
    uint64_t error_ns;   /* bound of the error of a span between two ranks' clocks;
                            where all have read the same one ES_SAME_CLOCK_ERROR_NS */
    unsigned repaired;   /* times that clocks made impossible and that were moved within
                            their bound */
    unsigned impossible; /* times that cannot be, by more than the bound: then nobody is
                            to blame */
};

/* What became of what was added. */
struct esi_collectives_counts {
    uint64_t calls;      /* that were taken */
    uint64_t complete;   /* instances */
    uint64_t incomplete; /* given up: a part was lost, or did not come */
    uint64_t beginnings; /* given up: older than what is there of a missing rank */
    uint64_t open;       /* now */
    uint64_t crowded;    /* of the incomplete: there were too many */
    uint64_t invalid;    /* calls that made no sense */
    uint64_t duplicates; /* calls that were there already */
    uint64_t late;       /* calls of instances that had been given up */
    uint64_t mismatched; /* calls of another operation than the instance's */
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
    esi_collective_instance_fn on_instance; /* complete ones, and those that were given
                                              up; may be NULL; borrows for the call */
    void *data;
};

int esi_collectives_create(const struct esi_collectives_config *config,
                           struct esi_collectives **ret_analysis);
void esi_collectives_destroy(struct esi_collectives *analysis);

/* 0; -EINVAL: the call makes no sense (a rank out of range, a time before its start, no
 * collective), and is counted as such; -EEXIST: this rank's part was there already;
 * -EPROTO: its instance is another operation, or of another root; -ESTALE: its instance
 * was given up; -ENOMEM.  O(1) on average; the last part of an instance O(size log
 * size). */
int esi_collectives_add(struct esi_collectives *analysis,
                        const struct esi_collective_call *call);
/* Says of an operation that it goes through an instrumented tree: of `call` only key,
 * size, instance, version and exit_ns (when that was seen) are looked at.  To be said
 * before the operation's last part is added; later it is too late, and no error.  0,
 * -EINVAL or -ENOMEM.  O(1) on average. */
int esi_collectives_add_tree(struct esi_collectives *analysis,
                             const struct esi_collective_call *call);
/* Gives up what has been incomplete for too long: all that happened before `now_ns` has
 * been added as far as it was recorded. */
void esi_collectives_expire(struct esi_collectives *analysis, uint64_t now_ns);
/* Gives up all that is incomplete. */
void esi_collectives_finish(struct esi_collectives *analysis);

/* What was counted up to now. */
void esi_collectives_counts(const struct esi_collectives *analysis,
                            struct esi_collectives_counts *ret_counts);

#endif
