/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The analysis of collective operations (paper, section 5.3): from what each rank did
 * to what each operation lost, and because of whom.
 *
 *   es_collectives_create(&config, &analysis);
 *   for each tuple of class collective:  es_collectives_add(analysis, &call);
 *   now and then:                        es_collectives_settle(analysis, now_ns);
 *   at the end:                          es_collectives_finish(analysis);
 *
 * An *instance* is one operation on one communicator, by all its members.  It is
 * complete when all of them have been seen, and is then given to config.on_instance and
 * entered into the statistics.  Instances that stay incomplete (lost tuples, a rank
 * that hangs) are given up when they are `patience_ns` older than the newest, or too
 * many: counted, given with what is known, and kept out of the statistics.  Memory:
 * open instances times members, and one set of statistics a (communicator, operation,
 * tree version).
 *
 * Who is to blame: in an operation in which all wait for all, everybody waits for the
 * last to enter, so its waiting peers' time is its debt; in one from the root, members
 * wait for the root; in one to the root, the root waits for the last.  See
 * docs/collectives.md, "What is lost".
 *
 *   one analysis is one thread's at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_H
#define ES_MONITORS_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One rank's part in an operation: one tuple, converted. */
struct es_collective_call {
    uint64_t key[2];          /* of the communicator, run-wide */
    const char *communicator; /* its name; borrowed for the call */
    uint16_t operation;       /* code; large-count and nonblocking forms as they are */
    uint32_t instance;        /* number on the communicator */
    int size;                 /* members */
    int rank;                 /* in the communicator */
    int world_rank;
    int root;       /* in the communicator; -1 = none */
    uint32_t bytes; /* as the tuple says */
    uint32_t
        version; /* of the tree; 0 = the MPI library's own algorithm, or not known */
    uint64_t enter_ns; /* run time */
    uint64_t exit_ns;
    uint64_t error_ns; /* bound of both */
};

struct es_collective_arrival {
    bool known;
    int world_rank;
    uint64_t enter_ns;
    uint64_t exit_ns;
    uint64_t wait_ns; /* lost waiting for others; 0 for whom all waited */
};

/* One operation of all members.  All spans are in ns. */
struct es_collective_instance {
    uint64_t key[2];
    const char *communicator;
    uint16_t operation;
    uint32_t instance;
    uint32_t version;
    int size;
    int known; /* members that were seen; < size: incomplete */
    int root;
    uint32_t bytes;
    const struct es_collective_arrival *arrivals; /* by rank in the communicator */
    const int *order;        /* ranks in order of entering; `known` of them */
    int last;                /* rank that entered last */
    uint64_t first_enter_ns; /* run time */
    uint64_t last_enter_ns;
    uint64_t last_exit_ns;
    uint64_t spread_ns; /* last enter - first enter */
    uint64_t lead_ns;   /* last enter - last but one: what the last alone is late */
    uint64_t lost_ns;   /* sum of all waits */
    int culprit;        /* rank that the others waited for; -1 = nobody */
    uint64_t tree_ns;   /* last exit - last enter (root-to-all: - the root's enter) */
    uint64_t departure_ns; /* last exit - first exit */
    double imbalance;  /* of the work since the operation before: slowest / mean - 1;
                          negative = not known */
    uint64_t error_ns; /* bound of the clocks behind all this */
    unsigned repaired; /* times that clocks made impossible and that were moved within
                          their bound */
};

struct es_collectives;

typedef void (*es_collective_instance_fn)(
    void *data,
    const struct es_collective_instance *instance);

struct es_collectives_config {
    size_t max_open;                       /* instances; 0 = 65536 */
    uint64_t patience_ns;                  /* 0 = 10 s */
    es_collective_instance_fn on_instance; /* may be NULL; borrows during the call */
    void *data;
};

int es_collectives_create(const struct es_collectives_config *config,
                          struct es_collectives **ret_analysis);
void es_collectives_destroy(struct es_collectives *analysis);

/* 0; -EINVAL: the call makes no sense (a rank out of range, a time before its start),
 * and is counted as such; -EEXIST: this rank's part was there already; -ENOMEM. */
int es_collectives_add(struct es_collectives *analysis,
                       const struct es_collective_call *call);
/* Gives up what has been incomplete for too long. */
void es_collectives_settle(struct es_collectives *analysis, uint64_t now_ns);
/* Gives up all that is incomplete. */
void es_collectives_finish(struct es_collectives *analysis);

#endif
