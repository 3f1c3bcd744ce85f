/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tables of an archive are parsed; errors are reported with their lines. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/archive/archive_tables.h"
#include "tests/suites.h"

#define FACTS                                                                          \
    "{\"type\":\"archive\",\"format\":\"eventspace-archive\",\"version\":1,"           \
    "\"run\":\"r\",\"begun_ns\":1,\"ended_ns\":0,\"tuples\":0,\"lost\":0,"             \
    "\"missed\":0,\"error\":\"\"}\n"
#define HOST                                                                           \
    "{\"type\":\"host\",\"number\":0,\"name\":\"h\","                                  \
    "\"uuid\":\"00112233445566778899aabbccddeeff\"}\n"
#define CLOCK                                                                          \
    "{\"kind\":1,\"frequency_hz\":1,\"frequency_error_ppb\":0,\"base_ticks\":0,"       \
    "\"base_realtime_ns\":0,\"base_monotonic_ns\":0,\"base_error_ns\":0}"
#define PROCESS_WITH(members)                                                          \
    "{\"type\":\"process\",\"number\":0,\"host\":0,\"rank\":0,\"size\":1,\"pid\":1,"   \
    "\"program\":\"p\",\"state\":\"running\"," members                                 \
    "\"exit_code\":-1,\"signal\":0,\"ended_realtime_ns\":0,\"clock\":" CLOCK "}\n"
#define PROCESS PROCESS_WITH("")
#define EARLY_PROCESS PROCESS_WITH("\"before_mpi\":true,")

struct fault {
    const char *text;
    int line;
    const char *words;
};

static const struct fault faults[] = {
    {"", 1, "empty"},
    {"\n", 1, "JSON"},
    {"{\"type\":\"archive\"", 1, "JSON"},
    {"{}\n", 1, "type"},
    {HOST, 1, "first line"},
    {FACTS FACTS, 2, "second line"},
    {"{\"type\":\"archive\",\"format\":\"else\"}\n", 1, "format"},
    {"{\"type\":\"archive\",\"format\":\"eventspace-archive\",\"version\":2}\n", 1,
     "newer"},
    {FACTS "[]\n", 2, "object"},
    {FACTS "{\"type\":\"host\",\"number\":1}\n", 2, "next one"},
    {FACTS "{\"type\":\"host\",\"number\":0,\"name\":\"h\",\"uuid\":\"0011\"}\n", 2,
     "hexadecimal"},
    {FACTS HOST "{\"type\":\"host\",\"number\":1,\"name\":\"h\","
                "\"uuid\":\"00112233445566778899aabbccddeeff\"}\n",
     3, "an earlier line has a host"},
    {FACTS PROCESS, 2, "host"},
    {FACTS HOST "{\"type\":\"process\",\"number\":0,\"host\":0,\"rank\":\"0\"}\n", 3,
     "rank"},
    {FACTS HOST "{\"type\":\"process\",\"number\":0,\"host\":0,\"rank\":2147483647,"
                "\"size\":-1}\n",
     3, "rank"},
    {FACTS HOST "{\"type\":\"process\",\"number\":0,\"host\":0,\"rank\":4,\"size\":4,"
                "\"pid\":1}\n",
     3, "'rank' is not below 'size'"},
    {FACTS HOST PROCESS_WITH("\"before_mpi\":1,"), 3, "before_mpi"},
    {FACTS HOST EARLY_PROCESS "{\"type\":\"element\",\"number\":0,\"process\":0}\n", 4,
     "had not called MPI"},
    {FACTS HOST PROCESS "{\"type\":\"element\",\"number\":0,\"process\":1}\n", 4,
     "process"},
    {FACTS HOST PROCESS
     "{\"type\":\"communicator\",\"process\":0,\"index\":1,\"key\":\"\"}\n",
     4, "index"},
    {FACTS HOST PROCESS "{\"type\":\"open\",\"element\":0}\n", 4, "element"},
    {FACTS "{\"type\":\"group\",\"key\":\"00112233445566778899aabbccddeeff\","
           "\"first\":0}\n",
     2, "world"},
};

static void faults_are_told_with_their_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct esi_archive_tables tables = {.hosts = NULL};
        struct es_error error = {.text = ""};
        int result;

        result = esi_archive_tables_read(&tables, faults[i].text,
                                         strlen(faults[i].text), "file", &error);
        print_message("# %d: %s\n", error.line, error.text);
        assert_int_equal(result, -EINVAL);
        assert_string_equal(error.source, "file");
        assert_int_equal(error.line, faults[i].line);
        assert_true(error.column > 0);
        assert_non_null(strstr(error.text, faults[i].words));
        esi_archive_tables_fini(&tables);
    }
}

static void lines_of_other_types_are_passed_over(void **state)
{
    static const char text[] = FACTS HOST "{\"type\":\"of a later version\"}\n" PROCESS;
    struct esi_archive_tables tables = {.hosts = NULL};

    (void)state;
    assert_int_equal(esi_archive_tables_read(&tables, text, strlen(text), "file", NULL),
                     0);
    assert_int_equal(tables.process_count, 1);
    assert_int_equal(tables.hosts[0].uuid[15], 0xff);
    esi_archive_tables_fini(&tables);
}

/* Tables that are read and written again have the same text. */
static void reading_and_writing_are_inverse(void **state)
{
    static const char *const texts[] = {FACTS HOST PROCESS, FACTS HOST EARLY_PROCESS};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct esi_archive_tables tables = {.hosts = NULL};
        char *written;
        size_t size;
        FILE *stream = open_memstream(&written, &size);

        assert_non_null(stream);
        assert_int_equal(
            esi_archive_tables_read(&tables, texts[i], strlen(texts[i]), "file", NULL),
            0);
        esi_archive_tables_write(&tables, stream);
        fclose(stream);
        assert_string_equal(written, texts[i]);
        free(written);
        esi_archive_tables_fini(&tables);
    }
}

SUITE(test_archive_tables)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_told_with_their_lines),
        cmocka_unit_test(lines_of_other_types_are_passed_over),
        cmocka_unit_test(reading_and_writing_are_inverse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
