/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets of many blocks: with any number of threads the sink gets the same events
 * in the same order, and the first of several faults is reported.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "monitors/eventset/set_read.h"
#include "tests/suites.h"

enum { TRACES = 3, EVENTS = 12000, BEHIND = 4 /* lines before the first event */ };

static char path[64];

/* --- Files ------------------------------------------------------------------------ */

/* Writes a line of varying length. Some lines need a full JSON parser, some have only
 * the place of the event. */
static void write_event(FILE *stream, unsigned number)
{
    unsigned trace = number % TRACES, index = number / TRACES + 1;

    fprintf(stream, "{\"trace\":%u,\"index\":%u", trace, index);
    if (number % 5 == 1)
        fprintf(stream, ",\"type\":\"t%u\",\"text\":\"%0*u\"", number % 7, number % 300,
                number);
    else if (number % 11 == 2)
        fprintf(stream, ",\"text\":\"\\u00e9 \\\"%u\\\"\"", number);
    if (number % 3 == 0)
        fprintf(stream, ",\"attributes\":{\"a\":\"%u\",\"b\\u0063\":\"x%u\"}", number,
                number);
    fputs("}\n", stream);
    if (number % 1000 == 7)
        fputs(" \t\n", stream);
}

/* Writes a set with `text` instead of event `fault`, and nonsense instead of a later
 * one. */
static void write_set(unsigned fault, const char *text, unsigned next_fault)
{
    FILE *stream = fopen(path, "we");

    assert_non_null(stream);
    fputs("{\"format\":\"eventspace-events\",\"version\":1,"
          "\"traces\":[\"A\",\"B\",\"C\"]}\n\n\n\n",
          stream);
    for (unsigned number = 0; number < EVENTS; number++)
        if (number == fault)
            fputs(text, stream);
        else if (number == next_fault)
            fputs("nonsense\n", stream);
        else
            write_event(stream, number);
    assert_int_equal(fclose(stream), 0);
}

/* --- Reading ---------------------------------------------------------------------- */

struct taken {
    uint64_t count;
    uint64_t most; /* number of events that the sink accepts */
    uint64_t hash;
};

static void add_text(struct taken *taken, const char *text)
{
    for (; text && *text; text++)
        taken->hash = esi_hash_mix(taken->hash, (unsigned char)*text);
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    (void)data, (void)trace, (void)name;
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct taken *taken = data;

    if (taken->count == taken->most)
        return -ENOSPC;
    taken->count++;
    taken->hash = esi_hash_mix(taken->hash, event->id.trace);
    taken->hash = esi_hash_mix(taken->hash, event->id.index);
    add_text(taken, event->type);
    add_text(taken, event->text);
    for (size_t i = 0; i < event->attribute_count; i++) {
        add_text(taken, event->attributes[i].name);
        add_text(taken, event->attributes[i].text);
        taken->hash = esi_hash_mix(taken->hash, (uint64_t)event->attributes[i].number);
    }
    return 0;
}

static int read_set(unsigned threads,
                    uint64_t most,
                    struct taken *taken,
                    struct es_error *error)
{
    struct esi_set_read_config config;

    *taken = (struct taken){.most = most};
    *error = (struct es_error){.text = ""};
    esi_set_read_config_init(&config,
                             (struct es_set_sink){take_trace, take_event, taken});
    config.threads = threads;
    return esi_set_read_file(path, &config, error);
}

static void threads_change_nothing(void **state)
{
    static const unsigned threads[] = {2, 3, 8};
    struct taken alone, taken;
    struct es_error error;

    (void)state;
    write_set(UINT32_MAX, "", UINT32_MAX);
    assert_int_equal(read_set(1, UINT64_MAX, &alone, &error), 0);
    assert_int_equal(alone.count, EVENTS);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        assert_int_equal(read_set(threads[i], UINT64_MAX, &taken, &error), 0);
        assert_int_equal(taken.count, EVENTS);
        assert_true(taken.hash == alone.hash);
    }
}

/* Returns the line of an event; there are blank lines before it. */
static int line_of(unsigned number)
{
    return (int)(BEHIND + number + 1 + (number + 992) / 1000);
}

static void the_first_fault_is_told(void **state)
{
    enum { FIRST = 10003, SECOND = 10009 };
    struct taken taken;
    struct es_error error;

    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        write_set(FIRST, "{\"trace\":0,\"index\":1}\n", SECOND);
        assert_int_equal(read_set(threads, UINT64_MAX, &taken, &error), -EINVAL);
        assert_int_equal(error.line, line_of(FIRST));
        write_set(FIRST, "{\"trace\":0,\"index\":}\n", SECOND);
        assert_int_equal(read_set(threads, UINT64_MAX, &taken, &error), -EINVAL);
        assert_int_equal(error.line, line_of(FIRST));
        assert_true(error.column > 0);
    }
}

static void a_sink_ends_the_reading(void **state)
{
    struct taken taken;
    struct es_error error;

    (void)state;
    write_set(UINT32_MAX, "", UINT32_MAX);
    for (unsigned threads = 1; threads <= 4; threads++) {
        assert_int_equal(read_set(threads, EVENTS / 2, &taken, &error), -ENOSPC);
        assert_int_equal(taken.count, EVENTS / 2);
    }
}

/* --- A stream that fails ---------------------------------------------------------- */

struct failing_stream {
    FILE *file;
    size_t left; /* bytes before it fails */
};

static ssize_t read_failing(void *data, char *memory, size_t size)
{
    struct failing_stream *stream = data;
    size_t got;

    if (stream->left == 0) {
        errno = EIO;
        return -1;
    }
    got = fread(memory, 1, size < stream->left ? size : stream->left, stream->file);
    stream->left -= got;
    return (ssize_t)got;
}

/* Returns the number of events in complete lines of the first `bytes` of the file. */
static uint64_t count_events(size_t bytes)
{
    FILE *file = fopen(path, "re");
    uint64_t count = 0;
    char *line = NULL;
    size_t capacity = 0, at = 0;
    ssize_t length;

    assert_non_null(file);
    while ((length = getline(&line, &capacity, file)) > 0 &&
           (at += (size_t)length) <= bytes)
        count += strncmp(line, "{\"trace\"", strlen("{\"trace\"")) == 0;
    free(line);
    fclose(file);
    return count;
}

static void what_was_read_before_a_failure_is_given(void **state)
{
    static const size_t lengths[] = {0, 30, 1000, 300000, 700000};

    (void)state;
    write_set(UINT32_MAX, "", UINT32_MAX);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct failing_stream data = {fopen(path, "re"), lengths[i]};
            FILE *stream =
                fopencookie(&data, "r", (cookie_io_functions_t){.read = read_failing});
            struct taken taken = {.most = UINT64_MAX};
            struct esi_set_read_config config;
            struct es_error error = {.text = ""};

            assert_true(data.file && stream);
            esi_set_read_config_init(
                &config, (struct es_set_sink){take_trace, take_event, &taken});
            config.threads = threads;
            assert_int_equal(esi_set_read_stream(stream, "input", &config, &error),
                             -EIO);
            assert_int_equal(taken.count, count_events(lengths[i]));
            fclose(stream);
            fclose(data.file);
        }
}

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/set-blocks-%d", (int)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

SUITE(test_set_blocks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_first_fault_is_told),
        cmocka_unit_test(a_sink_ends_the_reading),
        cmocka_unit_test(what_was_read_before_a_failure_is_given),
    };

    return cmocka_run_group_tests(tests, make_path, remove_file);
}
