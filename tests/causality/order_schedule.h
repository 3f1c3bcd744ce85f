/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random schedules of MPI operations that cannot deadlock.
 *
 * All ranks make the same schedule from one seed, a list of steps, and each does its
 * parts in the order of the list.  A step needs of other ranks only what belongs to it
 * or to steps before it, whichever message a receive with wildcards takes; so, by
 * induction, every step is done.
 *
 * Where several ranks may send to one receive, a message of a later step may come first
 * and take it.  So a barrier follows whatever waits for such a message to be received.
 *
 * Receives that could take the same message are of one *class*, and all ask for the
 * same: source and tag, or a wildcard in their place.  Then in each class the n-th
 * posted receive is matched once n messages were sent, whatever they are.
 */
#ifndef ES_TESTS_ORDER_SCHEDULE_H
#define ES_TESTS_ORDER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS_MAX = 8, TAGS = 4, SLOTS = 24 };

/* Communicators, and what receives on them ask for. */
enum comm {
    COMM_WORLD,    /* exact; any source for the last tag */
    COMM_WILD,     /* any source, any tag */
    COMM_REVERSED, /* ranks the other way round; any tag */
    COMM_HALF,     /* those of one parity; exact */
    COMM_BETWEEN,  /* an intercommunicator between the two halves; exact */
    COMM_GRID,     /* a ring with a topology; any source */
    COMM_GRAPH,    /* a random graph; any tag */
    COMMS
};

enum step_kind {
    STEP_SEND,     /* `rank` sends to `peer` */
    STEP_RECEIVE,  /* `rank` receives, from `peer` unless that is -1 */
    STEP_PAIR,     /* both, where the send may wait for the receive */
    STEP_EXCHANGE, /* `rank` and `peer` send each other a message at once */
    STEP_TOGETHER, /* all members of `comm` of `rank` do a collective operation */
    STEP_FINISH,   /* `rank` completes what is in `slots` */
    STEP_POLL,     /* `rank` looks once whether anything is complete */
    STEP_CANCEL,   /* `rank` cancels a receive, from `peer`, that cannot be matched */
    STEP_FENCE,    /* all, on the window */
    STEP_EPOCH     /* `slots`: bit (origin * RANKS_MAX + target): who puts where */
};

enum send_form {
    SEND_BLOCKING,
    SEND_SYNCHRONOUS,
    SEND_BUFFERED,
    SEND_LATER, /* from here on with a request */
    SEND_SYNCHRONOUS_LATER,
    SEND_BUFFERED_LATER,
    SEND_PERSISTENT,
    SEND_FORMS
};

enum receive_form {
    RECEIVE_BLOCKING,
    RECEIVE_PROBED,
    RECEIVE_MATCHED,
    RECEIVE_POLLED,
    RECEIVE_LATER, /* from here on with a request */
    RECEIVE_PERSISTENT,
    RECEIVE_FORMS
};

enum collective {
    COLLECTIVE_BARRIER,
    COLLECTIVE_BCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_ALLTOALL,
    COLLECTIVE_SCAN,
    COLLECTIVE_EXSCAN,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_NEIGHBOURS,
    COLLECTIVE_DUPLICATE,
    COLLECTIVES
};

enum way { WAY_BLOCKING, WAY_LATER, WAY_PERSISTENT, WAYS };

enum finish_form {
    FINISH_WAIT,
    FINISH_WAITALL,
    FINISH_WAITANY,
    FINISH_WAITSOME,
    FINISH_TEST,
    FINISH_TESTALL,
    FINISH_TESTANY,
    FINISH_TESTSOME,
    FINISH_FORMS
};

struct step {
    enum step_kind kind;
    int rank; /* of the world, as all ranks here */
    int peer;
    enum comm comm;
    int tag;             /* -1 = any */
    int form;            /* enum send_form, collective or finish_form */
    int other_form;      /* of the receive of a pair, enum receive_form; enum way */
    int id;              /* of the message or the operation, in the whole run */
    int root;            /* world rank */
    int slot[RANKS_MAX]; /* of `rank` and peer, or by rank; -1 = none */
    uint64_t slots;
};

struct schedule {
    struct step *steps;
    size_t count;
    size_t room;
    int ids; /* of messages and operations */
};

/* Whether `a` can send to `b` on the communicator. */
bool schedule_are_connected(enum comm comm, int a, int b);
bool schedule_is_member(enum comm comm, int of, int rank);
/* What receives of a step's message ask for; -1 = any. */
int schedule_asked_source(const struct step *of);
int schedule_asked_tag(const struct step *of);
/* Whether `to` hears from `from` in COMM_GRAPH. */
bool schedule_has_edge(uint64_t seed, int size, int from, int to);

/* Makes a schedule of about `length` steps; false without memory.  The caller frees
 * `steps`. */
bool schedule_make(uint64_t seed, int size, int length, struct schedule *ret_schedule);

#endif
