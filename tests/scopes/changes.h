/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The sequence test: threads write numbered tuples as fast as they can into elements,
 * set to block or large enough, while a scope that reads them is changed at random
 * between pulls, and pulls are repeated at random.  Each number of each element must
 * come exactly once and in order.
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
    int tuples;     /* that each writer writes, at least */
    unsigned least; /* changes before the writers may stop */
    bool block;     /* writers wait for the scope */
    bool through_server;
    bool toggle; /* this is changed, too */
    struct changes_writer writers[CHANGES_WRITERS];
    size_t writer_count;
};

void changes_add_writer(struct changes *changes, struct esi_writer *writer);

/* Runs it over all elements of `run`, of which each is one writer's; through `servers`
 * unless NULL.  The seed is printed; EVENTSPACE_TEST_SEED repeats one. */
void changes_run(struct changes *changes,
                 struct es_run *run,
                 struct es_servers *servers);

#endif
