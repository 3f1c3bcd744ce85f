/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Event sets in the formats of other tools, compared byte by byte. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/eventset/formats/export.h"
#include "tests/suites.h"

static struct es_event_attribute number(const char *name, int64_t value)
{
    return (struct es_event_attribute){.name = name, .number = value};
}

static int give(const struct es_set_sink *sink, const struct es_set_event *event)
{
    struct es_set_event copy = *event;

    if (!copy.type)
        copy.type = "";
    if (!copy.text)
        copy.text = "";
    return sink->event(sink->data, &copy);
}

/* Events of two ranks: a message, a collective operation, a nonblocking send around a
 * blocking one, and an event that needs quotes. */
static void give_timed(const struct es_set_sink *sink)
{
    const struct es_event_id sent = {0, 1};
    const struct es_event_id entered[] = {{0, 2}, {1, 2}};
    const struct es_event_attribute send[] = {number("start", 1000),
                                              number("stop", 3000),
                                              number("bytes", 8),
                                              {.name = "class", .text = "send"},
                                              {.name = "host", .text = "n,1"}};
    const struct es_event_attribute receive[] = {number("start", 1500),
                                                 number("stop", 4000)};
    const struct es_event_attribute barrier[] = {number("start", 5000),
                                                 number("stop", 9000)};
    const struct es_event_attribute started[] = {number("start", 10000),
                                                 number("stop", 20000)};
    const struct es_event_attribute within[] = {number("start", 11000),
                                                number("stop", 12000)};
    const struct es_event_attribute other[] = {{.name = "mood", .text = "a \"b\""}};

    assert_int_equal(sink->trace(sink->data, 0, "0.0"), 0);
    assert_int_equal(sink->trace(sink->data, 1, "1.0"), 0);
    give(sink, &(struct es_set_event){.id = {0, 1},
                                      .kind = ES_EVENT_SEND,
                                      .type = "MPI_Send",
                                      .attributes = send,
                                      .attribute_count = 5});
    give(sink, &(struct es_set_event){.id = {1, 1},
                                      .kind = ES_EVENT_RECEIVE,
                                      .type = "MPI_Recv",
                                      .partners = &sent,
                                      .partner_count = 1,
                                      .attributes = receive,
                                      .attribute_count = 2});
    for (uint32_t rank = 0; rank < 2; rank++)
        give(sink, &(struct es_set_event){.id = {rank, 2},
                                          .kind = ES_EVENT_SEND,
                                          .type = "MPI_Barrier enter",
                                          .attributes = barrier,
                                          .attribute_count = 2});
    for (uint32_t rank = 0; rank < 2; rank++)
        give(sink, &(struct es_set_event){.id = {rank, 3},
                                          .kind = ES_EVENT_RECEIVE,
                                          .type = "MPI_Barrier exit",
                                          .partners = &entered[1 - rank],
                                          .partner_count = 1,
                                          .attributes = barrier,
                                          .attribute_count = 2});
    give(sink, &(struct es_set_event){.id = {0, 4},
                                      .kind = ES_EVENT_SEND,
                                      .type = "MPI_Isend",
                                      .attributes = started,
                                      .attribute_count = 2});
    give(sink, &(struct es_set_event){.id = {0, 5},
                                      .type = "MPI_Probe",
                                      .attributes = within,
                                      .attribute_count = 2});
    give(sink, &(struct es_set_event){.id = {0, 6},
                                      .text = "two\nlines, \"quoted\"",
                                      .attributes = other,
                                      .attribute_count = 1});
}

/* Events without times: a message, a collective operation that is left at once, and one
 * that is left later. */
static void give_untimed(const struct es_set_sink *sink)
{
    const struct es_event_id sent = {0, 1};

    assert_int_equal(sink->trace(sink->data, 0, "P"), 0);
    assert_int_equal(sink->trace(sink->data, 1, "Q"), 0);
    give(sink, &(struct es_set_event){.id = {1, 1}, .type = "work"});
    give(sink, &(struct es_set_event){
                   .id = {0, 1}, .kind = ES_EVENT_SEND, .type = "a enter"});
    give(sink, &(struct es_set_event){.id = {1, 2},
                                      .kind = ES_EVENT_RECEIVE,
                                      .type = "get",
                                      .partners = &sent,
                                      .partner_count = 1});
    give(sink, &(struct es_set_event){.id = {0, 2}, .type = "a exit"});
    give(sink, &(struct es_set_event){.id = {0, 3}, .type = "b enter"});
    give(sink, &(struct es_set_event){.id = {0, 4}, .type = "work"});
    give(sink, &(struct es_set_event){.id = {0, 5}, .type = "b exit"});
}

static void give_sync(const struct es_set_sink *sink)
{
    const struct es_event_id halves[] = {{0, 1}, {1, 1}};

    assert_int_equal(sink->trace(sink->data, 0, "P \"1\""), 0);
    assert_int_equal(sink->trace(sink->data, 1, "Q"), 0);
    for (uint32_t i = 0; i < 2; i++)
        give(sink, &(struct es_set_event){.id = {i, 1},
                                          .kind = ES_EVENT_SYNC,
                                          .partners = &halves[1 - i],
                                          .partner_count = 1,
                                          .type = i ? "call" : ""});
    give(sink, &(struct es_set_event){.id = {1, 2}, .text = "x\\y"});
}

/* --- Comparing -------------------------------------------------------------------- */

/* Returns the contents of a file; caller frees. */
static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    if (getdelim(&text, &size, '\0', file) < 0 && text)
        text[0] = '\0';
    fclose(file);
    return text;
}

static char *write_export(const char *format,
                          void (*events)(const struct es_set_sink *))
{
    char path[] = "/tmp/test_export.XXXXXX";
    struct esi_export_config config = {.format = format, .path = path};
    struct esi_export *export;
    struct es_set_sink sink;
    char *text;

    close(mkstemp(path));
    assert_int_equal(esi_export_create(&config, NULL, &export), 0);
    sink = esi_export_sink(export);
    events(&sink);
    assert_int_equal(esi_export_finish(export, NULL), 0);
    esi_export_destroy(export);
    text = read_file(path);
    unlink(path);
    return text;
}

static void compare(const char *format,
                    void (*events)(const struct es_set_sink *),
                    const char *expected)
{
    char *text = write_export(format, events);

    assert_string_equal(text, expected);
    free(text);
}

static void csv_has_a_line_for_each_event(void **state)
{
    (void)state;
    compare("csv", give_timed,
            "trace,name,index,kind,type,text,partners,operation,class,rank,host,"
            "communicator,peer,tag,bytes,start,stop,attributes\r\n"
            "0,0.0,1,send,MPI_Send,,,,send,,\"n,1\",,,,8,1000,3000,\r\n"
            "1,1.0,1,receive,MPI_Recv,,0:1,,,,,,,,,1500,4000,\r\n"
            "0,0.0,2,send,MPI_Barrier enter,,,,,,,,,,,5000,9000,\r\n"
            "1,1.0,2,send,MPI_Barrier enter,,,,,,,,,,,5000,9000,\r\n"
            "0,0.0,3,receive,MPI_Barrier exit,,1:2,,,,,,,,,5000,9000,\r\n"
            "1,1.0,3,receive,MPI_Barrier exit,,0:2,,,,,,,,,5000,9000,\r\n"
            "0,0.0,4,send,MPI_Isend,,,,,,,,,,,10000,20000,\r\n"
            "0,0.0,5,unary,MPI_Probe,,,,,,,,,,,11000,12000,\r\n"
            "0,0.0,6,unary,,\"two\\nlines, \"\"quoted\"\"\",,,,,,,,,,,,"
            "\"{\"\"mood\"\":\"\"a \\\"\"b\\\"\"\"\"}\"\r\n");
}

static void dot_has_clusters_and_edges(void **state)
{
    (void)state;
    compare("dot", give_sync,
            "digraph events {\n"
            "  rankdir=LR;\n"
            "  node [shape=box, fontsize=10];\n"
            "  subgraph cluster_0 { label=\"P \\\"1\\\"\"; }\n"
            "  subgraph cluster_1 { label=\"Q\"; }\n"
            "  subgraph cluster_0 { \"0:1\" [label=\"sync\"]; }\n"
            "  subgraph cluster_1 { \"1:1\" [label=\"call\"]; }\n"
            "  \"0:1\" -> \"1:1\" [dir=none, style=bold];\n"
            "  subgraph cluster_1 { \"1:2\" [label=\"unary\\nx\\\\y\"]; }\n"
            "  \"1:1\" -> \"1:2\" [weight=10, color=gray];\n"
            "}\n");
}

static void shiviz_has_clocks_of_what_is_known(void **state)
{
    (void)state;
    compare("shiviz", give_timed,
            "MPI_Send\n0.0 {\"0.0\":1}\n"
            "MPI_Recv\n1.0 {\"1.0\":1,\"0.0\":1}\n"
            "MPI_Barrier enter\n0.0 {\"0.0\":2}\n"
            "MPI_Barrier enter\n1.0 {\"1.0\":2,\"0.0\":1}\n"
            "MPI_Barrier exit\n0.0 {\"0.0\":3,\"1.0\":2}\n"
            "MPI_Barrier exit\n1.0 {\"1.0\":3,\"0.0\":2}\n"
            "MPI_Isend\n0.0 {\"0.0\":4,\"1.0\":2}\n"
            "MPI_Probe\n0.0 {\"0.0\":5,\"1.0\":2}\n"
            "two lines, \"quoted\"\n0.0 {\"0.0\":6,\"1.0\":2}\n");
}

static void halves_of_a_sync_do_not_know_each_other(void **state)
{
    (void)state;
    compare("shiviz", give_sync,
            "sync\nP_\"1\" {\"P_\\\"1\\\"\":1}\n"
            "call\nQ {\"Q\":1}\n"
            "x\\y\nQ {\"Q\":2,\"P_\\\"1\\\"\":1}\n");
}

/* --- Perfetto --------------------------------------------------------------------- */

/* Returns how often `part` occurs in a text. */
static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;

    while ((text = strstr(text, part))) {
        text += strlen(part);
        found++;
    }
    return found;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no %s in %s", part, text);
}

static void chrome_shows_times_since_the_first_event(void **state)
{
    char *text = write_export("chrome", give_timed);

    (void)state;
    has(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    has(text, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"tid\":1,"
              "\"args\":{\"name\":\"rank 0\"}}");
    has(text,
        "{\"ph\":\"X\",\"name\":\"MPI_Send\",\"pid\":2,\"tid\":1,\"cat\":\"send\","
        "\"ts\":0,\"dur\":2,\"args\":{\"index\":1,\"kind\":\"send\","
        "\"attributes\":{\"bytes\":\"8\",\"host\":\"n,1\"}}}");
    has(text,
        "\"name\":\"MPI_Recv\",\"pid\":3,\"tid\":2,\"cat\":\"receive\",\"ts\":0.5,"
        "\"dur\":2.5,");
    has(text, "{\"ph\":\"s\",\"name\":\"message\",\"pid\":2,\"tid\":1,\"cat\":"
              "\"message\",\"id\":1,\"ts\":0}");
    has(text, "{\"ph\":\"f\",\"name\":\"message\",\"pid\":3,\"tid\":2,\"cat\":"
              "\"message\",\"id\":1,\"bp\":\"e\",\"ts\":2.999}");
    has(text, "\n]}\n");
    free(text);
}

static void chrome_shows_a_collective_operation_once(void **state)
{
    char *text = write_export("chrome", give_timed);

    (void)state;
    assert_int_equal(count(text, "\"name\":\"MPI_Barrier\""), 2);
    assert_int_equal(count(text, "\"cat\":\"send\",\"ts\":4,\"dur\":4,"), 2);
    free(text);
}

static void chrome_shows_nonblocking_operations_as_pairs(void **state)
{
    char *text = write_export("chrome", give_timed);

    (void)state;
    has(text, "{\"ph\":\"b\",\"name\":\"MPI_Isend\",\"pid\":2,\"tid\":1,\"cat\":"
              "\"operation\",\"id\":\"0:4\",\"ts\":9}");
    has(text, "{\"ph\":\"e\",\"name\":\"MPI_Isend\",\"pid\":2,\"tid\":1,\"cat\":"
              "\"operation\",\"id\":\"0:4\",\"ts\":19}");
    has(text, "\"name\":\"MPI_Probe\",\"pid\":2,\"tid\":1,\"cat\":\"unary\",\"ts\":10,"
              "\"dur\":1,");
    free(text);
}

static void chrome_makes_logical_time(void **state)
{
    char *text = write_export("chrome", give_untimed);

    (void)state;
    /* The operation is entered at 0 and left a step later; the receive comes after the
     * send. */
    has(text, "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"cat\":\"unary\","
              "\"ts\":0,\"dur\":2,");
    has(text, "\"name\":\"get\",\"pid\":1,\"tid\":2,\"cat\":\"receive\",\"ts\":1,"
              "\"dur\":1,");
    has(text, "{\"ph\":\"b\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"cat\":\"operation\","
              "\"id\":\"0:3\",");
    has(text, "{\"ph\":\"e\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"cat\":\"operation\","
              "\"id\":\"0:3\",");
    assert_int_equal(count(text, "\"name\":\"b\""), 4);
    free(text);
}

/* --- Files ------------------------------------------------------------------------ */

static void a_format_that_is_none_is_refused(void **state)
{
    struct esi_export_config config = {.format = "png", .path = "-"};
    struct es_error error = {.text = ""};
    struct esi_export *export;

    (void)state;
    assert_int_equal(esi_export_create(&config, &error, &export), -EINVAL);
    assert_string_equal(error.text, "'png' is not a format of event sets; expected "
                                    "event-set, shiviz, chrome, perfetto, dot or csv");
}

static void what_is_not_finished_is_not_there(void **state)
{
    static const char *const formats[] = {"event-set", "shiviz", "chrome", "dot",
                                          "csv"};
    char folder[] = "/tmp/test_export.XXXXXX";
    char path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct esi_export_config config = {.format = formats[i], .path = path};
        struct esi_export *export;
        struct es_set_sink sink;

        assert_int_equal(esi_export_create(&config, NULL, &export), 0);
        sink = esi_export_sink(export);
        give_timed(&sink);
        esi_export_destroy(export);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(rmdir(folder), 0); /* fails if it is not empty */
}

static void a_full_disk_is_told(void **state)
{
    static const char *const formats[] = {"shiviz", "chrome", "dot", "csv"};

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct esi_export_config config = {.format = formats[i], .path = "/dev/full"};
        struct es_error error = {.text = ""};
        struct esi_export *export;
        struct es_set_sink sink;

        assert_int_equal(esi_export_create(&config, NULL, &export), 0);
        sink = esi_export_sink(export);
        give_timed(&sink);
        assert_int_equal(esi_export_finish(export, &error), -ENOSPC);
        assert_string_equal(error.source, "/dev/full");
        esi_export_destroy(export);
    }
}

static void the_mode_is_that_of_new_files(void **state)
{
    char folder[] = "/tmp/test_export.XXXXXX";
    char path[64];
    struct esi_export_config config = {.format = "csv", .path = path};
    mode_t mask = umask(027);
    struct esi_export *export;
    struct stat status;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    assert_int_equal(esi_export_create(&config, NULL, &export), 0);
    assert_int_equal(esi_export_finish(export, NULL), 0);
    esi_export_destroy(export);
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    unlink(path);
    rmdir(folder);
}

SUITE(test_export)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_line_for_each_event),
        cmocka_unit_test(dot_has_clusters_and_edges),
        cmocka_unit_test(shiviz_has_clocks_of_what_is_known),
        cmocka_unit_test(halves_of_a_sync_do_not_know_each_other),
        cmocka_unit_test(chrome_shows_times_since_the_first_event),
        cmocka_unit_test(chrome_shows_a_collective_operation_once),
        cmocka_unit_test(chrome_shows_nonblocking_operations_as_pairs),
        cmocka_unit_test(chrome_makes_logical_time),
        cmocka_unit_test(a_format_that_is_none_is_refused),
        cmocka_unit_test(what_is_not_finished_is_not_there),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(the_mode_is_that_of_new_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
