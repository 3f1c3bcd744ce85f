/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Each allocation fails in turn while a set is read and written: the call returns
 * -ENOMEM, and nothing leaks.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/eventset/set_read.h"
#include "monitors/eventset/set_write.h"
#include "tests/failing.h"
#include "tests/eventset/made_set.h"
#include "tests/suites.h"

/* --- What is tried ---------------------------------------------------------------- */

static char folder[64];
static char *text; /* a set with references to earlier and later events */
static size_t text_length;

static int read_text(struct es_set_sink sink)
{
    struct esi_set_read_config config;
    struct es_error error = {.text = ""};
    FILE *stream = fmemopen(text, text_length, "r");
    int code;

    assert_non_null(stream);
    esi_set_read_config_init(&config, sink);
    code = esi_set_read_stream(stream, "input", &config, &error);
    fclose(stream);
    return code;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    (void)data, (void)trace, (void)name;
    return 0;
}

static int count_event(void *data, const struct es_set_event *event)
{
    (void)event;
    ++*(uint64_t *)data;
    return 0;
}

static int try_read(void)
{
    uint64_t events = 0;

    return read_text((struct es_set_sink){take_trace, count_event, &events});
}

static int try_write(void)
{
    struct esi_set_write *write;
    struct es_error error = {.text = ""};
    char path[80];
    int code;

    snprintf(path, sizeof path, "%s/set", folder);
    code = esi_set_write_open(path, &error, &write);
    if (code < 0) {
        assert_string_not_equal(error.text, "");
        return code;
    }
    code = read_text(esi_set_write_sink(write));
    if (code < 0)
        esi_set_write_destroy(write);
    else
        code = esi_set_write_close(write, &error);
    assert_int_equal(access(path, F_OK), code < 0 ? -1 : 0);
    unlink(path);
    return code;
}

static void reading_survives(void **state)
{
    (void)state;
    failing_each(try_read, 40);
}

static void writing_survives(void **state)
{
    (void)state;
    failing_each(try_write, 20);
}

static int make_text(void **state)
{
    struct made_config config = {
        .shape = MADE_MANY_PARTNERS, .seed = 7, .traces = 5, .events = 90};
    struct made_computation *made = made_computation_create(&config);
    uint64_t draw;
    uint32_t *order;
    FILE *stream = open_memstream(&text, &text_length);

    (void)state;
    draw = 7;
    order = made_set_order(made, MADE_ORDER_TRACES, &draw);
    made_set_write(made, order, true, stream);
    fclose(stream);
    free(order);
    made_computation_destroy(made);
    snprintf(folder, sizeof folder, "/tmp/eventspace-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int free_text(void **state)
{
    (void)state;
    free(text);
    return rmdir(folder); /* fails if it is not empty */
}

SUITE(test_set_allocation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_survives),
        cmocka_unit_test(writing_survives),
    };

    return cmocka_run_group_tests(tests, make_text, free_text);
}
