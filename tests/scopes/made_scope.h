/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A scope over a run that the test makes itself: what tests of scopes begin with. */
#ifndef ES_TESTS_MADE_SCOPE_H
#define ES_TESTS_MADE_SCOPE_H

#include "eventspace/scope.h"
#include "tests/scopes/made_run.h"

struct made_scope {
    struct made_run made;
    struct es_run *run;     /* NULL until made_scope_open() */
    struct es_scope *scope; /* likewise */
};

/* For cmocka: *state becomes a struct made_scope over an empty run, and is freed. */
int made_scope_set_up(void **state);
int made_scope_tear_down(void **state);

/* Opens the run and a scope over it. */
void made_scope_open(struct made_scope *scope, const struct es_scope_config *config);

/* The scope's batch, until the next pull. */
const struct es_batch *made_scope_pull(struct made_scope *scope, unsigned flags);

#endif
