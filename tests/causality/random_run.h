/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random computations with a known order: processes of two threads exchange messages,
 * take part in collective operations and access each other's windows. Also the tuples
 * that a collector would write, with their elements and times of publication.
 */
#ifndef ES_TESTS_CAUSALITY_RANDOM_RUN_H
#define ES_TESTS_CAUSALITY_RANDOM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/tuple.h"
#include "tests/causality/made_stream.h"

enum {
    RANDOM_PROCESSES = 5, /* at most */
    RANDOM_THREADS = 2,   /* of each */
    RANDOM_ELEMENTS = 3,  /* of each thread, at most */
    RANDOM_TAGS = 2,
    RANDOM_PLACES = RANDOM_PROCESSES * RANDOM_THREADS,
};

struct random_event {
    int place; /* process * RANDOM_THREADS + thread */
    uint64_t time;
    uint32_t tuple; /* number, equal to its bytes */
    uint32_t other; /* other tuple of the same event; 0 = none */
    bool second;    /* exit or receive, of a tuple with two events */
    size_t unit;    /* first half of a sync; else itself */
};

struct random_tuple {
    struct es_tuple tuple;
    int place;
    int element;      /* of the thread */
    uint64_t publish; /* time */
};

struct random_run {
    uint64_t random;
    int processes;
    int elements;
    bool holds_back;             /* some receives are published late */
    struct random_event *events; /* owned, as is the next */
    size_t event_count;
    struct random_tuple *tuples;
    size_t tuple_count;
    struct edge {
        size_t from;
        size_t to;
    } * edges; /* owned */
    size_t edge_count;
    uint64_t now[RANDOM_PLACES];
    struct random_pending {
        size_t send; /* event */
        int source;
        int destination;
        int tag;
        uint32_t sequence;
        bool synchronous; /* complete, so its receive was posted before */
    } * pending;          /* owned; messages not yet received, in order */
    size_t pending_count;
    uint32_t sent[RANDOM_PROCESSES][RANDOM_PROCESSES][RANDOM_TAGS];
    uint32_t received[RANDOM_PROCESSES][RANDOM_PROCESSES][RANDOM_TAGS];
    uint32_t instances;
    uint32_t fences;
    uint32_t posts[RANDOM_PROCESSES][RANDOM_PROCESSES];
    uint32_t exposures[RANDOM_PROCESSES]; /* posts */
    uint32_t accesses[RANDOM_PROCESSES];  /* starts */
    struct random_outstanding {
        uint16_t operation;
        uint32_t instance;
        int root;
        uint64_t starts[RANDOM_PROCESSES];
        size_t enters[RANDOM_PROCESSES]; /* events */
        bool left[RANDOM_PROCESSES];
    } * outstanding; /* owned; nonblocking operations */
    size_t outstanding_count;
};

/* Creates a computation of this number of steps. */
void random_run_make(struct random_run *run, uint64_t seed, int steps, bool holds_back);
void random_run_fini(struct random_run *run);

/* Computes happened-before of the events. */
void random_run_relate(const struct random_run *run,
                       struct made_relation *ret_relation);

#endif
