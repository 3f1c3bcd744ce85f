/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One description of a record makes a table, JSON Lines and CSV. */
#include "config.h"

#include <math.h>
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

    esi_row_signed(esi_row_if(row, process->rank >= 0), "rank", "RANK", process->rank);
    esi_row_text(row, "host", "HOST", process->host);
    esi_row_unsigned(row, "bytes", NULL, process->bytes);
    esi_row_quantity(row, "SHARE", "%.1f %%", process->share * 100);
    esi_row_real(row, "share", NULL, process->share);
    esi_row_bool(row, "alive", "ALIVE", process->alive);
    if (esi_row_is_json(row) && process->alive)
        esi_row_signed(row, "extra", NULL, 1);
}

/* Returns the printed rows; caller frees. */
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

static void a_list_has_a_line_for_each_value(void **state)
{
    (void)state;
    assert_printed(ESI_ROWS_LIST, true,
                   "RANK                  0\n"
                   "HOST                  alpha\n"
                   "SHARE                 50.0 %\n"
                   "ALIVE                 yes\n"
                   "HOST                  be,ta\n"
                   "SHARE                 25.0 %\n"
                   "ALIVE                 no\n"
                   "RANK                  2\n"
                   "SHARE                 0.0 %\n"
                   "ALIVE                 yes\n");
}

static void describe_minor(struct esi_row *row, const void *record)
{
    const struct process *process = record;

    esi_row_signed(esi_row_minor(row, 1), "rank", "RANK", process->rank);
    esi_row_text(row, "host", "HOST", process->host);
    esi_row_bool(esi_row_minor(row, 2), "alive", "ALIVE", process->alive);
}

static void a_table_leaves_out_what_is_minor(void **state)
{
    struct esi_rows rows;
    char text[64] = "";
    FILE *stream = tmpfile();

    (void)state;
    assert_non_null(stream);
    assert_int_equal(setenv("COLUMNS", "12", 1), 0);
    esi_rows_init(&rows, ESI_ROWS_TABLE, stream, describe_minor);
    assert_int_equal(esi_rows_begin(&rows, &processes[0]), 0);
    esi_rows_add(&rows, &processes[0]);
    assert_int_equal(esi_rows_finish(&rows), 0);
    unsetenv("COLUMNS");
    rewind(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    assert_string_equal(text, "RANK  HOST\n   0  alpha\n");
    assert_non_null(strstr(esi_text_table_left_out(), "ALIVE"));
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

static void describe_nested(struct esi_row *row, const void *record)
{
    const struct process *process = record;
    const uint64_t key[2] = {1, 255};

    esi_row_words(row, "PROCESS", 0, "%d of %s", process->rank, process->host);
    if (esi_row_begin_object(esi_row_if(row, process->alive), "process")) {
        esi_row_words(row, "NOWHERE", 0, "-");
        esi_row_signed(row, "rank", NULL, process->rank);
        if (esi_row_begin_array(row, "shares")) {
            esi_row_real(row, NULL, NULL, process->share);
            esi_row_real(row, NULL, NULL, (double)INFINITY);
            esi_row_end(row);
        }
        esi_row_end(row);
    }
    esi_row_key(row, "key", key);
    esi_row_bool(esi_row_if(esi_row_if(row, false), true), "none", "NONE", true);
    esi_row_bool(row, "alive", NULL, process->alive);
}

static void assert_nested(enum esi_rows_format format, const char *expected)
{
    struct esi_rows rows;
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    esi_rows_init(&rows, format, stream, describe_nested);
    assert_int_equal(esi_rows_begin(&rows, &processes[0]), 0);
    esi_rows_add(&rows, &processes[0]);
    esi_rows_add(&rows, &processes[1]);
    assert_int_equal(esi_rows_finish(&rows), 0);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void objects_and_arrays_are_in_json_only(void **state)
{
    (void)state;
    assert_nested(ESI_ROWS_JSON, "{\"process\":{\"rank\":0,\"shares\":[0.5,null]},"
                                 "\"key\":\"000000000000000100000000000000ff\","
                                 "\"none\":null,\"alive\":true}\n"
                                 "{\"process\":null,"
                                 "\"key\":\"000000000000000100000000000000ff\","
                                 "\"none\":null,\"alive\":false}\n");
    assert_nested(ESI_ROWS_CSV, "key,none,alive\r\n"
                                "000000000000000100000000000000ff,,true\r\n"
                                "000000000000000100000000000000ff,,false\r\n");
    assert_nested(ESI_ROWS_TABLE, "PROCESS      NONE\n"
                                  "0 of alpha   -\n"
                                  "-1 of be,ta  -\n");
}

SUITE(test_rows)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_what_has_a_heading),
        cmocka_unit_test(json_has_what_has_a_name),
        cmocka_unit_test(csv_has_the_same_and_names_once),
        cmocka_unit_test(a_list_has_a_line_for_each_value),
        cmocka_unit_test(a_table_leaves_out_what_is_minor),
        cmocka_unit_test(a_table_of_too_many_columns_is_cut),
        cmocka_unit_test(objects_and_arrays_are_in_json_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
