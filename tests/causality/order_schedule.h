/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random schedules of MPI operations that cannot deadlock.
 *
 * All ranks create the same schedule, a list of steps, from one seed; each rank
 * executes its parts in the order of the list.  A step depends only on its own parts
 * and on previous steps of other ranks, whichever message a wildcard receive matches.
 * So, by induction, each step completes.
 *
 * If several ranks may send to one receive, a message of a later step may arrive first
 * and match it.  Therefore a barrier follows each operation that waits until such a
 * message is received.
 *
 * Receives that could match the same message form a *class*; all have the same source
 * and tag, or the same wildcards.  So the n-th posted receive of a class is matched
 * when n messages have been sent, whichever they are.
 */
#ifndef ES_TESTS_ORDER_SCHEDULE_H
#define ES_TESTS_ORDER_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS_MAX = 8, TAGS = 4, SLOTS = 24 };

/* Communicators, and the source and tag of receives on them. */
enum comm {
    COMM_WORLD,    /* exact source and tag; any source for the last tag */
    COMM_WILD,     /* any source, any tag */
    COMM_REVERSED, /* ranks in reverse order; any tag */
    COMM_HALF,     /* ranks of one parity; exact source and tag */
    COMM_BETWEEN,  /* an intercommunicator between the halves; exact */
    COMM_GRID,     /* a ring with a topology; any source */
    COMM_GRAPH,    /* a random graph; any tag */
    COMMS
};

enum step_kind {
    STEP_SEND,     /* `rank` sends to `peer` */
    STEP_RECEIVE,  /* `rank` receives, from `peer` unless that is -1 */
    STEP_PAIR,     /* both; the send may wait for the receive */
    STEP_EXCHANGE, /* `rank` and `peer` send each other a message */
    STEP_TOGETHER, /* a collective operation on the `comm` of `rank` */
    STEP_FINISH,   /* `rank` completes the requests in `slots` */
    STEP_POLL,     /* `rank` tests once for completed requests */
    STEP_CANCEL,   /* `rank` cancels an unmatched receive from `peer` */
    STEP_FENCE,    /* a fence of all ranks */
    STEP_EPOCH     /* puts; bit (origin * RANKS_MAX + target) of `slots` */
};

enum send_form {
    SEND_BLOCKING,
    SEND_SYNCHRONOUS,
    SEND_BUFFERED,
    SEND_LATER, /* this and the next forms have a request */
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
    RECEIVE_LATER, /* this and the next forms have a request */
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
    int rank; /* ranks are world ranks */
    int peer;
    enum comm comm;
    int tag;             /* -1 = any */
    int form;            /* enum send_form, collective or finish_form */
    int other_form;      /* enum receive_form of a pair, or enum way */
    int id;              /* unique number of the message or operation */
    int root;            /* world rank */
    int slot[RANKS_MAX]; /* request: [0], or by rank; -1 = none */
    uint64_t slots;
};

struct schedule {
    struct step *steps;
    size_t count;
    size_t room;
    int ids; /* number of messages and operations */
};

/* Whether `a` can send to `b` on the communicator. */
bool schedule_are_connected(enum comm comm, int a, int b);
bool schedule_is_member(enum comm comm, int of, int rank);
/* Source and tag of receives that match a step's message; -1 = any. */
int schedule_asked_source(const struct step *of);
int schedule_asked_tag(const struct step *of);
/* Whether COMM_GRAPH has an edge from `from` to `to`. */
bool schedule_has_edge(uint64_t seed, int size, int from, int to);

/* Creates a schedule of about `length` steps. Returns false without memory.  The caller
 * frees `steps`. */
bool schedule_make(uint64_t seed, int size, int length, struct schedule *ret_schedule);

#endif
