/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ShiViz logs are read and written: the order of the events is that of their clocks. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/eventset/formats/export.h"
#include "monitors/order/order.h"
#include "monitors/eventset/formats/shiviz_read.h"
#include "tests/order/made_computation.h"
#include "tests/suites.h"

/* The result of reading: an order, and a line of text for each event. */
struct reading {
    struct es_order *order;
    struct es_set_sink sink;
    struct esi_shiviz_config config;
    struct esi_shiviz_statistics statistics;
    struct es_error error;
    char names[64][32];
    uint32_t traces;
    char *words; /* "NAME:INDEX kind type|text partners attributes\n" */
    size_t words_length;
    FILE *stream;
    uint32_t heads[64][4096]; /* [trace][k]: index of event k of the log, from 1 */
    uint32_t counts[64];
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct reading *reading = data;

    assert_int_equal(trace, reading->traces);
    assert_true(trace < 64);
    snprintf(reading->names[trace], sizeof reading->names[trace], "%s", name);
    reading->traces++;
    return reading->sink.trace(reading->sink.data, trace, name);
}

static bool is_second_half(const struct es_set_event *event)
{
    for (size_t i = 0; i < event->attribute_count; i++)
        if (strcmp(event->attributes[i].name, "half") == 0)
            return strcmp(event->attributes[i].text, "send") == 0;
    return false;
}

static int take_event(void *data, const struct es_set_event *event)
{
    static const char *const kinds[] = {"unary", "send", "receive", "sync"};
    struct reading *reading = data;
    uint32_t trace = event->id.trace;

    fprintf(reading->stream, "%s:%u %s %s|%s", reading->names[trace], event->id.index,
            kinds[event->kind], event->type, event->text);
    for (uint32_t i = 0; i < event->partner_count; i++)
        fprintf(reading->stream, " <%s:%u", reading->names[event->partners[i].trace],
                event->partners[i].index);
    for (size_t i = 0; i < event->attribute_count; i++)
        fprintf(reading->stream, " %s=%s", event->attributes[i].name,
                event->attributes[i].text);
    fputc('\n', reading->stream);
    if (!is_second_half(event)) {
        assert_true(reading->counts[trace] < 4095);
        reading->heads[trace][++reading->counts[trace]] = event->id.index;
    }
    return reading->sink.event(reading->sink.data, event);
}

static struct reading *start_reading(void)
{
    struct reading *reading = calloc(1, sizeof *reading);
    struct esi_order_config config = {.store = "dense"};

    assert_non_null(reading);
    assert_int_equal(esi_order_create(&config, NULL, &reading->order), 0);
    reading->sink = es_order_sink(reading->order);
    reading->stream = open_memstream(&reading->words, &reading->words_length);
    assert_non_null(reading->stream);
    reading->config.sink =
        (struct es_set_sink){.trace = take_trace, .event = take_event, .data = reading};
    return reading;
}

static void end_reading(struct reading *reading)
{
    fclose(reading->stream);
    free(reading->words);
    es_order_destroy(reading->order);
    free(reading);
}

static int read_log(struct reading *reading, const char *text)
{
    int result = esi_shiviz_read_text(text, strlen(text), "log", &reading->config,
                                      &reading->statistics, &reading->error);

    fflush(reading->stream);
    return result;
}

/* --- What is read ----------------------------------------------------------------- */

static void clocks_become_messages(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    assert_int_equal(read_log(reading, "start\na {\"a\":1}\n"
                                       "hello\na {\"a\":2}\n"
                                       "hears\nb {\"b\":1, \"a\":2}\n"
                                       "alone\nb {\"b\":2, \"a\":2}\n"),
                     0);
    assert_string_equal(reading->words, "a:1 unary |start\n"
                                        "a:2 send |hello\n"
                                        "b:1 receive |hears <a:2\n"
                                        "b:2 unary |alone\n");
    assert_int_equal(reading->statistics.log_events, 4);
    assert_int_equal(reading->statistics.traces, 2);
    end_reading(reading);
}

static void an_event_that_receives_and_sends_becomes_two(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    assert_int_equal(read_log(reading, "x\na {\"a\":1}\n"
                                       "y\nb {\"a\":1,\"b\":1}\n"
                                       "z\nc {\"a\":1,\"b\":1,\"c\":1}\n"),
                     0);
    assert_string_equal(reading->words, "a:1 send |x\n"
                                        "b:1 receive |y <a:1 half=receive\n"
                                        "b:2 send |y half=send\n"
                                        "c:1 receive |z <b:2\n");
    assert_int_equal(reading->statistics.split_events, 1);
    assert_int_equal(reading->statistics.events, 4);
    end_reading(reading);
}

static void only_immediate_predecessors_are_named(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    /* d knows a through b, and c directly. */
    assert_int_equal(read_log(reading, "1\na {\"a\":1}\n"
                                       "2\nc {\"c\":1}\n"
                                       "3\nb {\"a\":1,\"b\":1}\n"
                                       "4\nd {\"a\":1,\"b\":1,\"c\":1,\"d\":1}\n"),
                     0);
    assert_non_null(strstr(reading->words, "d:1 receive |4 <c:1 <b:2\n"));
    end_reading(reading);
}

static void events_may_stand_anywhere_in_the_log(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    assert_int_equal(read_log(reading, "last\nb {\"b\":2,\"a\":2}\n"
                                       "second\na {\"a\":2}\n"
                                       "first\nb {\"b\":1}\n"
                                       "one\na {\"a\":1}\n"),
                     0);
    assert_string_equal(reading->words, "b:1 unary |first\n"
                                        "a:1 unary |one\n"
                                        "a:2 send |second\n"
                                        "b:2 receive |last <a:2\n");
    end_reading(reading);
}

static void groups_become_type_text_and_attributes(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    reading->config.regex = "^(?<date>\\d+) (?<type>\\w+) (?<event>(?<verb>\\w+).*) @"
                            "(?<host>\\S+) (?<clock>{.*})$";
    assert_int_equal(read_log(reading, "2014 INFO opens it @n {\"n\":1}\r\n"
                                       "noise\n"
                                       "2015 WARN shuts @n {\"n\":2,\"m\":0}\r\n"),
                     0);
    assert_string_equal(reading->words, "n:1 unary INFO|opens it date=2014 verb=opens\n"
                                        "n:2 unary WARN|shuts date=2015 verb=shuts\n");
    end_reading(reading);
}

static void executions_are_apart(void **state)
{
    static const char log[] = "=== one ===\nx\na {\"a\":1}\n"
                              "=== two ===\ny\na {\"a\":1}\nz\nb {\"b\":1,\"a\":1}\n";
    struct reading *reading = start_reading();

    (void)state;
    reading->config.delimiter = "^=== (?<trace>\\w+) ===$";
    assert_int_equal(read_log(reading, log), 0);
    assert_string_equal(reading->words, "one/a:1 unary |x\n"
                                        "two/a:1 send |y\n"
                                        "two/b:1 receive |z <two/a:1\n");
    assert_int_equal(reading->statistics.executions, 2);
    end_reading(reading);

    reading = start_reading();
    reading->config.delimiter = "^===.*$";
    assert_int_equal(read_log(reading, log), 0);
    assert_non_null(strstr(reading->words, "1/a:1 unary |x\n2/a:1 send |y\n"));
    end_reading(reading);
}

static void a_header_has_the_expressions(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    reading->config.header = true;
    assert_int_equal(read_log(reading, "(?<host>\\w+) (?<event>\\w+) (?<clock>{.*})\n"
                                       "^-+$\n"
                                       "a x {\"a\":1}\n"
                                       "----\n"
                                       "a y {\"a\":1}\n"),
                     0);
    assert_string_equal(reading->words, "1/a:1 unary |x\n2/a:1 unary |y\n");
    end_reading(reading);

    reading = start_reading();
    reading->config.header = true;
    assert_int_equal(read_log(reading, "\n\nx\na {\"a\":1}\n"), 0);
    assert_string_equal(reading->words, "a:1 unary |x\n");
    end_reading(reading);
}

/* TLC prints the states of a model with escaped quotes. */
static void clocks_with_escaped_quotes_are_read(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    reading->config.regex =
        "^State [0-9]+: <(?<event>\\w+) .*>\\n/\\\\ Host = (?<host>\\w+)\\n"
        "/\\\\ Clock = \"(?<clock>.*)\"$";
    assert_int_equal(read_log(reading,
                              "State 1: <Init line 3>\n/\\ clock = (n1 :> 0)\n\n"
                              "State 2: <Send line 9>\n/\\ Host = n1\n"
                              "/\\ Clock = \"{\\\"n1\\\":1,\\\"n2\\\":0}\"\n\n"
                              "State 3: <Receive line 12>\n/\\ Host = n2\n"
                              "/\\ Clock = \"{\\\"n1\\\":1,\\\"n2\\\":1}\"\n"),
                     0);
    assert_string_equal(reading->words, "n1:1 send |Send\n"
                                        "n2:1 receive |Receive <n1:1\n");
    end_reading(reading);
}

/* A clock that is valid JSON is not changed. */
static void names_of_hosts_may_hold_quotes(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    reading->config.regex = "(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})";
    assert_int_equal(read_log(reading, "x\na\"b {\"a\\\"b\":1}\ny\nc {\\\"c\\\":1}\n"),
                     0);
    assert_string_equal(reading->words, "a\"b:1 unary |x\nc:1 unary |y\n");
    end_reading(reading);
}

/* --- What is refused -------------------------------------------------------------- */

static const struct {
    const char *log;
    const char *regex; /* NULL = that of ShiViz */
    int line;
    const char *words;
} faults[] = {
    {"", NULL, 0, "finds no event"},
    {"nothing here\n", NULL, 1, "finds no event"},
    {"x\na {\"a\":2}\n", NULL, 2, "says 2, and the log has 1"},
    {"x\na {\"a\":1}\ny\na {\"a\":3}\n", NULL, 4, "says 3, and the log has 2"},
    {"x\na {\"a\":1}\ny\na {\"a\":1}\n", NULL, 4, "occurs twice, first in line 2"},
    {"x\na {\"b\":1}\n", NULL, 2, "has no entry of that host"},
    {"x\na {\"a\":0}\n", NULL, 2, "has no entry of that host"},
    {"x\na {\"a\":1,\"b\":1}\n", NULL, 2,
     "names host 'b', which has no events here; put the logs of all hosts into one "
     "file"},
    {"x\na {\"a\":1}\ny\na {\"a\":2,\"b\":1,\"c\":3,\"d\":1}\n", NULL, 4,
     "names host 'b', which has no events here (likewise 2 more); put the logs"},
    {"x\na {\"a\":1,\"b\":2}\ny\nb {\"b\":1}\n", NULL, 2,
     "knows 2 events of host 'b', and the log has 1"},
    {"x\na {\"a\":1,\"b\":1}\ny\nb {\"b\":1,\"a\":1}\n", NULL, 2,
     "each before the other"},
    {"x\na {\"a\":1}\ny\nb {\"b\":1,\"a\":1}\nz\nb {\"b\":2}\n", NULL, 6,
     "knows 0 events of host 'a', and event 1 of host 'b' before it (line 4) knows 1"},
    {"x\na {\"a\":1}\ny\nb {\"b\":1,\"a\":1}\nz\nc {\"b\":1,\"c\":1}\n", NULL, 6,
     "knows 0 events of host 'a'"},
    {"x\na {\"a\":1\ny\n", NULL, 1, "finds no event"},
    {"x\na {\"a\" 1}\n", NULL, 2, "the clock is not JSON"},
    {"x\na {\\\"a\\\" 1}\n", NULL, 2,
     "the clock is not JSON: a name in quotes or '}' expected near"},
    {"x\na {\\\"a\\\":1,\\\"a\\\":1}\n", NULL, 2, "the clock is not JSON"},
    {"x\na {\"a\\u0000\":1}\n", NULL, 2, "\\u0000 is not allowed in a member's name"},
    {"x\na {\"a\":1.5}\n", NULL, 2, "entry of host 'a' is not a number of events"},
    {"x\na {\"a\":-1}\n", NULL, 2, "entry of host 'a' is not a number of events"},
    {"x\na {\"a\":4294967296}\n", NULL, 2, "is not a number of events"},
    {"x\na {\"a\":1,\"a\":1}\n", NULL, 2, "the clock is not JSON"},
    {"x\na {}\n", NULL, 2, "not a JSON object of hosts"},
    {"x\n\xff {\"a\":1}\n", NULL, 2, "not UTF-8"},
    {"x\n", "(?<host>.*) (?<event>.*)", 0, "no group (?<clock>...)"},
    {"x\n", "(?<host>.*", 0, "regular expression: missing closing parenthesis"},
    {"x\n", "(?=a\\K)", 0, "is not allowed in lookarounds, at character"},
    {"\x1f\x8b\x08 and so on", NULL, 0, "is compressed with gzip; unpack it first"},
    {"\xff\xfex", NULL, 0, "byte order mark (BOM) of UTF-16"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
     "(?<host>(a+)+)(?<event>(a+)+)(?<clock>(a+)+)[!?]", 1, "takes too long"},
};

static void what_is_wrong_is_said_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct reading *reading = start_reading();

        reading->config.regex = faults[i].regex;
        assert_int_equal(read_log(reading, faults[i].log), -EINVAL);
        if (!strstr(reading->error.text, faults[i].words) ||
            (faults[i].line && faults[i].line != reading->error.line))
            fail_msg("case %zu: line %d, %s", i, reading->error.line,
                     reading->error.text);
        end_reading(reading);
    }
}

static void a_byte_zero_is_refused(void **state)
{
    static const char log[] = "x\na {\"a\":1}\n\0";
    struct reading *reading = start_reading();

    (void)state;
    assert_int_equal(esi_shiviz_read_text(log, sizeof log - 1, "log", &reading->config,
                                          NULL, &reading->error),
                     -EINVAL);
    assert_int_equal(reading->error.line, 3);
    end_reading(reading);
}

/* --- Round trips ------------------------------------------------------------------ */

/* Returns the log of a computation; caller frees. */
static char *export_log(const struct made_computation *made, uint64_t seed)
{
    char path[] = "/tmp/test_shiviz.XXXXXX";
    int descriptor = mkstemp(path);
    struct esi_export_config config = {.format = "shiviz", .path = path};
    uint32_t *extension = made_computation_extension(made, seed);
    struct esi_export *export;
    struct es_set_sink sink;
    char *text = NULL;
    size_t size = 0;
    FILE *file;

    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(esi_export_create(&config, NULL, &export), 0);
    sink = esi_export_sink(export);
    assert_int_equal(made_computation_stream(made, extension, &sink), 0);
    assert_int_equal(esi_export_finish(export, NULL), 0);
    esi_export_destroy(export);
    free(extension);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    unlink(path);
    return text;
}

/* Returns the events of the log (two lines each) in random order.  Caller frees. */
static char *shuffle(const char *log, uint64_t seed)
{
    const char *starts[20000];
    size_t lengths[20000];
    uint32_t count = 0;
    uint64_t draw;
    char *out = malloc(strlen(log) + 1);
    char *next = out;

    assert_non_null(out);
    while (*log) {
        const char *end = strchr(strchr(log, '\n') + 1, '\n') + 1;

        assert_true(count < 20000);
        starts[count] = log;
        lengths[count++] = (size_t)(end - log);
        log = end;
    }
    draw = seed;
    while (count > 0) {
        uint32_t at = random_below(&draw, count);

        memcpy(next, starts[at], lengths[at]);
        next += lengths[at];
        starts[at] = starts[--count];
        lengths[at] = lengths[count];
    }
    *next = '\0';
    return out;
}

/* Returns the trace that was read for a trace of the computation, by the name that
 * made_computation_stream() gives it. */
static uint32_t find_trace(const struct reading *reading, uint32_t made_trace)
{
    char name[16];

    snprintf(name, sizeof name, "P%u", made_trace);
    for (uint32_t i = 0; i < reading->traces; i++)
        if (strcmp(reading->names[i], name) == 0)
            return i;
    fail_msg("no trace %s", name);
    return 0;
}

static struct es_event_id read_id(const struct reading *reading, struct es_event_id id)
{
    uint32_t trace = find_trace(reading, id.trace);

    assert_true(id.index <= reading->counts[trace]);
    return (struct es_event_id){trace, reading->heads[trace][id.index]};
}

static void compare_all_pairs(const struct made_computation *made,
                              const struct reading *reading)
{
    for (uint32_t i = 0; i < made->count; i++)
        for (uint32_t j = 0; j < made->count; j++) {
            struct es_event_id a = made->events[i].id;
            struct es_event_id b = made->events[j].id;
            int said = i == j ? 0
                              : es_order_precedes(reading->order, read_id(reading, a),
                                                  read_id(reading, b));

            if (said != (i != j && made_precedes(made, a, b)))
                fail_msg("%s: %u:%u and %u:%u", made_computation_name(made), a.trace,
                         a.index, b.trace, b.index);
        }
}

static void round_trip(const struct made_config *config)
{
    struct made_computation *made = made_computation_create(config);
    char *log = export_log(made, config->seed);
    char *shuffled = shuffle(log, config->seed + 1);
    const char *const logs[] = {log, shuffled};

    for (size_t i = 0; i < 2; i++) {
        struct reading *reading = start_reading();

        if (read_log(reading, logs[i]) != 0)
            fail_msg("%s: line %d: %s", made_computation_name(made),
                     reading->error.line, reading->error.text);
        assert_int_equal(reading->statistics.log_events, made->count);
        compare_all_pairs(made, reading);
        end_reading(reading);
    }
    free(log);
    free(shuffled);
    made_computation_destroy(made);
}

static void what_is_written_and_read_again_has_the_same_order(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned shape = 0; shape < MADE_SHAPES; shape++)
        for (unsigned i = 0; i < 6; i++) {
            struct made_config config = {
                .shape = (enum made_shape)shape,
                .seed = seed + 100 * shape + i,
                .traces = 2 + 3 * i,
                .events = 120,
                .is_sparse = i % 2,
                .is_lossy = i % 3 == 2,
            };

            round_trip(&config);
        }
}

static int give_event(const struct es_set_sink *sink,
                      uint32_t trace,
                      uint32_t index,
                      const char *type,
                      const char *text)
{
    struct es_set_event event = {
        .id = {trace, index}, .kind = ES_EVENT_UNARY, .type = type, .text = text};

    return sink->event(sink->data, &event);
}

static void names_and_texts_fit_the_format(void **state)
{
    static const char *const names[] = {
        "", "two words", "two_words", "t\xc3\xa4g", "quote\"", "bad\xff", "trace0"};
    char path[] = "/tmp/test_shiviz.XXXXXX";
    struct esi_export_config config = {.format = "shiviz", .path = path};
    struct reading *reading = start_reading();
    struct esi_export *export;
    struct es_set_sink sink;

    (void)state;
    close(mkstemp(path));
    assert_int_equal(esi_export_create(&config, NULL, &export), 0);
    sink = esi_export_sink(export);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(sink.trace(sink.data, i, names[i]), 0);
        assert_int_equal(give_event(&sink, i, 1, i ? "t" : "", i ? "a\nb\r" : ""), 0);
    }
    assert_int_equal(esi_export_finish(export, NULL), 0);
    esi_export_destroy(export);
    assert_int_equal(
        esi_shiviz_read_file(path, &reading->config, NULL, &reading->error), 0);
    fflush(reading->stream);
    assert_string_equal(reading->words, "trace0:1 unary |unary\n"
                                        "two_words:1 unary |t a b \n"
                                        "two_words_2:1 unary |t a b \n"
                                        "t\xc3\xa4g:1 unary |t a b \n"
                                        "quote\":1 unary |t a b \n"
                                        "bad_:1 unary |t a b \n"
                                        "trace0_6:1 unary |t a b \n");
    unlink(path);
    end_reading(reading);
}

static void a_file_that_is_not_there_is_told(void **state)
{
    struct reading *reading = start_reading();

    (void)state;
    assert_int_equal(esi_shiviz_read_file("/nowhere/at/all", &reading->config, NULL,
                                          &reading->error),
                     -ENOENT);
    assert_string_equal(reading->error.source, "/nowhere/at/all");
    end_reading(reading);
}

SUITE(test_shiviz)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_become_messages),
        cmocka_unit_test(an_event_that_receives_and_sends_becomes_two),
        cmocka_unit_test(only_immediate_predecessors_are_named),
        cmocka_unit_test(events_may_stand_anywhere_in_the_log),
        cmocka_unit_test(groups_become_type_text_and_attributes),
        cmocka_unit_test(executions_are_apart),
        cmocka_unit_test(a_header_has_the_expressions),
        cmocka_unit_test(clocks_with_escaped_quotes_are_read),
        cmocka_unit_test(names_of_hosts_may_hold_quotes),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(a_byte_zero_is_refused),
        cmocka_unit_test(what_is_written_and_read_again_has_the_same_order),
        cmocka_unit_test(names_and_texts_fit_the_format),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
