/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One description of a record makes a table, JSON Lines and CSV. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows.h"
#include "tests/suites.h"

struct process {
    int rank;
    const char *host;
    uint64_t bytes;
    double share;
    bool alive;
};

static const struct process processes[] = {
    {0, "alpha", 1536, 0.5, true},
    {-1, "be,ta", UINT64_MAX, 0.25, false},
    {2, NULL, 0, 0, true},
};

static void describe(struct esi_row *row, const void *record)
{
    const struct process *process = record;
    struct esi_json_out *json = esi_row_json(row);
    char text[32];

    if (process->rank >= 0)
        esi_row_signed(row, "rank", "RANK", process->rank);
    else
        esi_row_none(row, "rank", "RANK");
    esi_row_text(row, "host", "HOST", process->host);
    esi_row_unsigned(row, "bytes", NULL, process->bytes);
    snprintf(text, sizeof text, "%.1f %%", process->share * 100);
    esi_row_quantity(row, "SHARE", text);
    esi_row_real(row, "share", NULL, process->share);
    esi_row_bool(row, "alive", "ALIVE", process->alive);
    if (json && process->alive)
        esi_json_out_signed(json, "extra", 1);
}

/* Caller frees. */
static char *print(enum esi_rows_format format, bool with_begin)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    struct esi_rows rows;

    assert_non_null(stream);
    esi_rows_init(&rows, format, stream, describe);
    if (with_begin)
        assert_int_equal(esi_rows_begin(&rows, &(struct process){0}), 0);
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++)
        esi_rows_add(&rows, &processes[i]);
    assert_int_equal(esi_rows_finish(&rows), 0);
    fclose(stream);
    return text;
}

static void assert_printed(enum esi_rows_format format,
                           bool with_begin,
                           const char *expected)
{
    char *text = print(format, with_begin);

    assert_string_equal(text, expected);
    free(text);
}

static void a_table_has_what_has_a_heading(void **state)
{
    (void)state;
    assert_printed(ESI_ROWS_TABLE, true,
                   "RANK  HOST    SHARE  ALIVE\n"
                   "   0  alpha  50.0 %  yes\n"
                   "   -  be,ta  25.0 %  no\n"
                   "   2  -       0.0 %  yes\n");
}

static void json_has_what_has_a_name(void **state)
{
    const char *expected =
        "{\"rank\":0,\"host\":\"alpha\",\"bytes\":1536,\"share\":0.5,"
        "\"alive\":true,\"extra\":1}\n"
        "{\"rank\":null,\"host\":\"be,ta\",\"bytes\":18446744073709551615,"
        "\"share\":0.25,\"alive\":false}\n"
        "{\"rank\":2,\"host\":null,\"bytes\":0,\"share\":0,"
        "\"alive\":true,\"extra\":1}\n";

    (void)state;
    assert_printed(ESI_ROWS_JSON, true, expected);
    assert_printed(ESI_ROWS_JSON, false, expected);
}

static void csv_has_the_same_and_names_once(void **state)
{
    (void)state;
    assert_printed(ESI_ROWS_CSV, true,
                   "rank,host,bytes,share,alive\r\n"
                   "0,alpha,1536,0.5,true\r\n"
                   ",\"be,ta\",18446744073709551615,0.25,false\r\n"
                   "2,,0,0,true\r\n");
    assert_printed(ESI_ROWS_CSV, false,
                   "0,alpha,1536,0.5,true\r\n"
                   ",\"be,ta\",18446744073709551615,0.25,false\r\n"
                   "2,,0,0,true\r\n");
}

static void describe_many(struct esi_row *row, const void *record)
{
    (void)record;
    for (int i = 0; i < 2 * ESI_ROWS_COLUMNS; i++)
        esi_row_signed(row, "number", "N", i);
}

static void a_table_of_too_many_columns_is_cut(void **state)
{
    struct esi_rows rows;
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    (void)state;
    assert_non_null(stream);
    esi_rows_init(&rows, ESI_ROWS_TABLE, stream, describe_many);
    assert_int_equal(esi_rows_begin(&rows, NULL), 0);
    esi_rows_add(&rows, NULL);
    assert_int_equal(esi_rows_finish(&rows), 0);
    fclose(stream);
    assert_non_null(strstr(text, "  31\n"));
    assert_null(strstr(text, "32"));
    free(text);
}

SUITE(test_rows)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_what_has_a_heading),
        cmocka_unit_test(json_has_what_has_a_name),
        cmocka_unit_test(csv_has_the_same_and_names_once),
        cmocka_unit_test(a_table_of_too_many_columns_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
