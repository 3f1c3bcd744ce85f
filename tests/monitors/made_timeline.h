/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Simulates MPI programs in virtual time: each rank runs a list of steps and waits
 * where MPI would.  Produces the tuples that a collector would publish, and the facts
 * needed by a reference: calls with everything they waited for, messages and collective
 * operations.
 *
 *   made_timeline_init(&timeline, 2);
 *   made_timeline_step(&timeline, 0, (struct made_step){MADE_COMPUTE, .ns = 5000});
 *   made_timeline_step(&timeline, 0, (struct made_step){MADE_STEP_SEND, .peer = 1});
 *   made_timeline_step(&timeline, 1, (struct made_step){MADE_STEP_RECV, .peer = 0});
 *   made_timeline_run(&timeline);
 *   made_timeline_tell(&timeline, &listener);
 */
#ifndef ES_TESTS_MONITORS_MADE_TIMELINE_H
#define ES_TESTS_MONITORS_MADE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/causality/causality.h"

enum { TIMELINE_RANKS = 8, TIMELINE_LINES = 64, TIMELINE_TAGS = 4 };

enum made_step_kind {
    MADE_COMPUTE,
    MADE_STEP_SEND, /* with `rendezvous` it lasts until the receive is posted */
    MADE_STEP_SSEND,
    MADE_STEP_RECV,
    MADE_STEP_ISEND,
    MADE_STEP_IRECV,
    MADE_STEP_WAITALL,  /* for all open requests */
    MADE_STEP_SENDRECV, /* to `peer`, from `from` */
    MADE_STEP_BARRIER,
    MADE_STEP_ALLREDUCE,
    MADE_STEP_BCAST,
    MADE_STEP_REDUCE,
    MADE_STEP_SCAN,
    MADE_STEP_IBARRIER,
    MADE_STEP_INIT, /* the first call of a rank: nothing is known before it */
};

struct made_step {
    enum made_step_kind kind;
    uint64_t ns; /* time of computing; of a call its time without waits, 0 = 1000 */
    int line;    /* of the call */
    int peer;    /* or root */
    int from;
    int tag;
    bool rendezvous;
};

/* An event that a call waited for: of `rank`, at `ns`. */
struct made_need {
    int rank;
    uint64_t ns;
};

struct made_timed_call {
    const char *operation;
    int line;
    uint64_t begin, end;
    struct made_need *needs; /* owned */
    size_t need_count;
};

/* Includes messages from the root of a broadcast and to the root of a reduction. */
struct made_timed_message {
    int from, to, tag;
    uint32_t sequence;
    bool sent, posted, received;
    bool is_collective;
    uint64_t sent_ns, posted_ns, received_ns;
};

/* A collective operation of all ranks. */
struct made_meeting {
    enum made_step_kind kind;
    int root;
    bool entered[TIMELINE_RANKS], left[TIMELINE_RANKS];
    uint64_t enter_ns[TIMELINE_RANKS], leave_ns[TIMELINE_RANKS];
};

struct made_timed_tuple {
    struct es_tuple tuple;
    int rank;
    int line;
    size_t number;
};

/* Relates a call, or an open request, to a message or a collective operation. */
struct made_tie {
    enum { MADE_TIE_SEND, MADE_TIE_RECEIVE, MADE_TIE_MEETING } kind;
    size_t index; /* of a message or a meeting */
    size_t call;  /* number of the call that waited; SIZE_MAX = open */
    uint64_t start;
    int line;
    bool rendezvous;
};

struct made_timed_rank {
    struct made_step *steps; /* owned, as are the next */
    size_t step_count, next;
    struct made_timed_call *calls;
    size_t call_count;
    struct made_tie *ties;
    size_t tie_count;
    bool inside; /* step `next` has begun, at `begin` */
    uint64_t begin;
    uint64_t now;
    uint32_t instances;
    /* May be set before made_timeline_tell() is called. */
    const char *host;  /* "made" */
    int64_t offset_ns; /* how far its clock is ahead */
    uint64_t error_ns;
};

struct made_timeline {
    int ranks;
    uint64_t latency_ns;
    size_t advance_tuples;   /* between two advances of causality; 0 = 16 */
    struct es_set_sink sink; /* receives the events, too; both functions or none */
    bool attributes;         /* whether these have attributes */
    struct made_timed_rank of[TIMELINE_RANKS];
    struct made_timed_message *messages; /* owned, as are the next */
    size_t message_count;
    struct made_meeting *meetings;
    size_t meeting_count;
    struct made_timed_tuple *tuples; /* in the order of publication */
    size_t tuple_count;
    char lines[TIMELINE_LINES][16]; /* "made.c:7" */
};

void made_timeline_init(struct made_timeline *timeline, int ranks);
void made_timeline_fini(struct made_timeline *timeline);

void made_timeline_step(struct made_timeline *timeline,
                        int rank,
                        struct made_step step);
/* Adds the same step to all ranks. */
void made_timeline_step_all(struct made_timeline *timeline, struct made_step step);

/* Adds the tuple of a call that no kind of step covers. */
void made_timeline_tuple(struct made_timeline *timeline,
                         int rank,
                         const char *operation,
                         struct es_tuple tuple);

/* Runs all ranks to their ends.  Fails if they hang. */
void made_timeline_run(struct made_timeline *timeline);

/* Passes the tuples to a causality analysis that reports to `listener`. */
void made_timeline_tell(struct made_timeline *timeline,
                        const struct esi_causal_listener *listener);

#endif
