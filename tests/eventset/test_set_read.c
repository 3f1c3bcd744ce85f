/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets in files: each folder of tests/data/event_set, and random ones.
 *
 *   input      a file
 *   error      the error, if the file is wrong, or
 *   expected   the set written again in canonical order
 *
 * UPDATE_GOLDEN=1 writes the last two: check the changes.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitors/eventset/set_line.h"
#include "monitors/eventset/set_read.h"
#include "monitors/eventset/set_write.h"
#include "tests/eventset/made_set.h"
#include "tests/suites.h"
#include "tests/text_file.h"

static char folder[64]; /* temporary files of this test */

/* --- Files ------------------------------------------------------------------------ */

static const char *own_path(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Reads a file and writes it again. */
static int rewrite(const char *from, const char *to, struct es_error *error)
{
    struct esi_set_read_config config;
    struct esi_set_write *write;
    int code;

    assert_int_equal(esi_set_write_open(to, error, &write), 0);
    esi_set_read_config_init(&config, esi_set_write_sink(write));
    code = esi_set_read_file(from, &config, error);
    if (code == 0)
        return esi_set_write_close(write, error);
    esi_set_write_destroy(write);
    return code;
}

/* --- Golden data ------------------------------------------------------------------ */

/* Formats an error; the name of the file is without its folder. */
static void format_error(struct es_error *error, char *out, size_t size)
{
    const char *slash = strrchr(error->source, '/');

    if (slash)
        memmove(error->source, slash + 1, strlen(slash));
    es_error_format(error, out, size - 1);
    strcat(out, "\n");
}

static int skip_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

static void run_case(const char *name)
{
    const char *top = getenv("top_srcdir");
    struct es_error error = {.text = ""};
    char input[512], golden[512], text[1024];
    int code;

    snprintf(input, sizeof input, "%s/tests/data/event_set/%s/input", top ? top : ".",
             name);
    code = rewrite(input, own_path("out"), &error);
    snprintf(golden, sizeof golden, "%s/tests/data/event_set/%s/%s", top ? top : ".",
             name, code < 0 ? "error" : "expected");
    if (code < 0) {
        assert_int_equal(code, -EINVAL);
        assert_true(access(own_path("out"), F_OK) < 0);
        format_error(&error, text, sizeof text);
        text_file_compare(golden, text);
        assert_int_equal(strncmp(name, "error_", 6), 0);
        return;
    }
    char *written = text_file_read(own_path("out"));
    assert_non_null(written);
    text_file_compare(golden, written);
    free(written);
    /* Writing the output again does not change it. */
    assert_int_equal(rewrite(own_path("out"), own_path("out"), &error), 0);
    written = text_file_read(own_path("out"));
    text_file_compare(golden, written);
    free(written);
    unlink(own_path("out"));
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void files_are_read_or_refused_with_reason(void **state)
{
    const char *top = getenv("top_srcdir");
    struct dirent **entries;
    char path[512];
    int count;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/data/event_set", top ? top : ".");
    count = scandir(path, &entries, is_visible, alphasort);
    assert_true(count > 50);
    for (int i = 0; i < count; i++) {
        run_case(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* --- Random sets ------------------------------------------------------------------ */

/* The expected events. */
struct expected {
    const struct made_computation *made;
    const uint32_t *order;
    uint32_t given;
};

static int take_event(void *data, const struct es_set_event *event)
{
    struct expected *expected = data;
    const struct made_computation *made = expected->made;

    if (!made_set_is(made, expected->order[expected->given], event))
        fail_msg("%s: event %u of trace %u at place %u", made_computation_name(made),
                 event->id.index, event->id.trace, expected->given);
    expected->given++;
    return 0;
}

static void read_made(const struct made_computation *made,
                      const uint32_t *order,
                      bool lists_partners)
{
    struct esi_set_read_config config;
    struct es_error error = {.text = ""};
    uint32_t *canonical = made_set_canonical(made, order);
    struct expected expected = {.made = made, .order = canonical};
    FILE *stream = fopen(own_path("in"), "we");

    assert_non_null(stream);
    made_set_write(made, order, lists_partners, stream);
    assert_int_equal(fclose(stream), 0);
    esi_set_read_config_init(&config,
                             (struct es_set_sink){skip_trace, take_event, &expected});
    if (esi_set_read_file(own_path("in"), &config, &error) < 0)
        fail_msg("%s: line %d: %s", made_computation_name(made), error.line,
                 error.text);
    assert_int_equal(expected.given, made->count);
    free(canonical);
}

static void random_sets_come_out_as_they_went_in(void **state)
{
    enum { ROUNDS = 10 };
    uint64_t seed = random_seed();
    uint64_t draw;

    (void)state;
    draw = seed;
    for (unsigned round = 0; round < ROUNDS * MADE_SHAPES; round++) {
        struct made_computation *made = made_set_computation(seed, round, 100, &draw);

        for (unsigned i = 0; i < 2 * MADE_ORDERS; i++) {
            uint32_t *order =
                made_set_order(made, (enum made_order)(i % MADE_ORDERS), &draw);
            read_made(made, order, i % 2);
            free(order);
        }
        made_computation_destroy(made);
    }
    unlink(own_path("in"));
}

/* --- Particulars ------------------------------------------------------------------ */

static void a_file_that_is_not_there_is_said_so(void **state)
{
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(rewrite(own_path("nothing"), own_path("out"), &error), -ENOENT);
    assert_string_equal(error.text, "No such file or directory");
    assert_int_equal(error.line, 0);
    error.text[0] = '\0';
    assert_int_equal(rewrite(folder, own_path("out"), &error), -EISDIR);
    assert_string_equal(error.text, "Is a directory");
}

static int refuse_event(void *data, const struct es_set_event *event)
{
    (void)data;
    return event->id.index == 2 ? -ENOSPC : 0;
}

static void the_sinks_refusal_ends_the_reading(void **state)
{
    static const char text[] =
        "{\"format\":\"eventspace-events\",\"version\":1,\"traces\":[\"A\"]}\n"
        "{\"trace\":0,\"index\":1}\n{\"trace\":0,\"index\":2}\nnonsense\n";
    struct esi_set_read_config config;
    struct es_error error = {.text = ""};

    (void)state;
    text_file_write(own_path("in"), text);
    esi_set_read_config_init(&config,
                             (struct es_set_sink){skip_trace, refuse_event, NULL});
    assert_int_equal(esi_set_read_file(own_path("in"), &config, &error), -ENOSPC);
    assert_string_equal(error.text, ""); /* the sink reports its error itself */
    unlink(own_path("in"));
}

static int count_attributes(void *data, const struct es_set_event *event)
{
    *(size_t *)data += event->attribute_count;
    return 0;
}

static void attributes_may_be_left_out(void **state)
{
    struct esi_set_read_config config;
    size_t count = 0;

    (void)state;
    text_file_write(
        own_path("in"),
        "{\"format\":\"eventspace-events\",\"version\":1,\"traces\":[\"A\"]}\n"
        "{\"trace\":0,\"index\":1,\"attributes\":{\"a\":\"1\",\"b\":\"\"}}\n");
    esi_set_read_config_init(
        &config, (struct es_set_sink){skip_trace, count_attributes, &count});
    assert_int_equal(esi_set_read_file(own_path("in"), &config, NULL), 0);
    assert_int_equal(count, 2);
    config.attributes = false;
    assert_int_equal(esi_set_read_file(own_path("in"), &config, NULL), 0);
    assert_int_equal(count, 2);
    unlink(own_path("in"));
}

/* A line that is longer than any initial buffer. */
static void lines_may_be_long(void **state)
{
    enum { BYTES = 3 << 20 };
    struct es_error error = {.text = ""};
    FILE *stream = fopen(own_path("in"), "we");

    (void)state;
    assert_non_null(stream);
    fputs("{\"format\":\"eventspace-events\",\"version\":1,\"traces\":[\"A\"]}\n",
          stream);
    for (int index = 1; index <= 3; index++) {
        fprintf(stream, "{\"trace\":0,\"index\":%d,\"text\":\"", index);
        for (int i = 0; index == 2 && i < BYTES; i++)
            putc('x', stream);
        fputs("\"}\n", stream);
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(rewrite(own_path("in"), own_path("in"), &error), 0);
    unlink(own_path("in"));
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/eventspace-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if it is not empty */
}

static void numbers_are_written_in_one_way(void **state)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"-0", false, 0},
        {"00", false, 0},
        {"01", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        char out[ES_SET_NUMBER_LENGTH];
        int64_t number = 0;

        assert_int_equal(esi_set_number_parse(cases[i].text, length, &number),
                         cases[i].is_number);
        if (!cases[i].is_number)
            continue;
        assert_true(number == cases[i].number);
        assert_int_equal(esi_set_number_format(number, out), length);
        assert_string_equal(out, cases[i].text);
    }
}

SUITE(test_set_read)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_in_one_way),
        cmocka_unit_test(files_are_read_or_refused_with_reason),
        cmocka_unit_test(random_sets_come_out_as_they_went_in),
        cmocka_unit_test(a_file_that_is_not_there_is_said_so),
        cmocka_unit_test(the_sinks_refusal_ends_the_reading),
        cmocka_unit_test(attributes_may_be_left_out),
        cmocka_unit_test(lines_may_be_long),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
