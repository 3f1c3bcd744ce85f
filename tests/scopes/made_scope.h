/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A scope over a run created by the test; the fixture of tests of scopes. */
#ifndef ES_TESTS_MADE_SCOPE_H
#define ES_TESTS_MADE_SCOPE_H

#include "eventspace/scope.h"
#include "tests/scopes/made_run.h"

struct made_scope {
    struct made_run made;
    struct es_run *run;     /* NULL until made_scope_open() */
    struct es_scope *scope; /* likewise */
};

/* cmocka fixtures: *state becomes a struct made_scope over an empty run; frees it. */
int made_scope_set_up(void **state);
int made_scope_tear_down(void **state);

/* Opens the run and a scope over it. */
void made_scope_open(struct made_scope *scope, const struct es_scope_config *config);

/* The batch of a pull, valid until the next pull. */
const struct es_batch *made_scope_pull(struct made_scope *scope, unsigned flags);

#endif
