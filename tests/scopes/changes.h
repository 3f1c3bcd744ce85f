/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The sequence test: threads write numbered tuples as fast as they can into elements
 * that block or are large enough.  Between pulls the scope that reads them is
 * reconfigured at random, and pulls are repeated at random.  Each number of each
 * element must be delivered exactly once and in order.
 */
#ifndef ES_TESTS_CHANGES_H
#define ES_TESTS_CHANGES_H

#include <pthread.h>

#include "eventspace/scope.h"
#include "tests/scopes/made_run.h"

enum { CHANGES_WRITERS = 8 };

struct changes_writer {
    struct esi_writer *writer;
    int first; /* number of the first tuple of this round */
    int end;
    enum es_clock_kind clock;
    pthread_t thread;
};

struct changes {
    const struct made_run *made;
    int tuples;     /* minimum that each writer writes */
    unsigned least; /* minimum number of changes */
    bool block;     /* writers wait for the scope */
    bool through_server;
    bool toggle; /* through_server is changed, too */
    struct changes_writer writers[CHANGES_WRITERS];
    size_t writer_count;
};

void changes_add_writer(struct changes *changes, struct esi_writer *writer);

/* Runs the test over all elements of `run`, each with one writer, through `servers`
 * unless it is NULL.  Prints the seed; ES_TEST_SEED sets it. */
void changes_run(struct changes *changes,
                 struct es_run *run,
                 struct es_servers *servers);

#endif
