/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
#include "config.h"

#include "tests/scopes/made_scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

int made_scope_set_up(void **state)
{
    struct made_scope *scope = calloc(1, sizeof *scope);

    assert_non_null(scope);
    made_run_begin(&scope->made);
    *state = scope;
    return 0;
}

int made_scope_tear_down(void **state)
{
    struct made_scope *scope = *state;

    es_scope_close(scope->scope);
    es_run_close(scope->run);
    made_run_end(&scope->made);
    free(scope);
    return 0;
}

void made_scope_open(struct made_scope *scope, const struct es_scope_config *config)
{
    struct es_error error = {.text = ""};

    assert_int_equal(es_run_open(scope->made.name, &error, &scope->run), 0);
    if (es_scope_open(scope->run, config, &error, &scope->scope) != 0)
        fail_msg("%s", error.text);
}

const struct es_batch *made_scope_pull(struct made_scope *scope, unsigned flags)
{
    const struct es_batch *batch;

    assert_int_equal(es_scope_pull(scope->scope, flags, &batch), 0);
    return batch;
}
