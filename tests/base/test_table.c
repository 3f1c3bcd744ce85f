/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tables are aligned, and cut only where they may be. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/table.h"
#include "tests/suites.h"

static const struct esi_text_table_column columns[] = {
    {"RANK", ES_TABLE_RIGHT, 0},
    {"NAME", ES_TABLE_LEFT, 4},
    {"BYTES", ES_TABLE_RIGHT, 0},
};

static void add_row(struct es_table *table, int rank, const char *name, long bytes)
{
    esi_text_table_cell(table, "%d", rank);
    esi_text_table_cell(table, "%s", name);
    esi_text_table_cell(table, "%ld", bytes);
}

/* Caller frees. */
static char *printed(const struct es_table *table, size_t width)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    assert_int_equal(esi_text_table_print(table, stream, width), 0);
    fclose(stream);
    return text;
}

static void assert_printed(const struct es_table *table,
                           size_t width,
                           const char *expected)
{
    char *text = printed(table, width);

    assert_string_equal(text, expected);
    free(text);
}

static struct es_table *make_table(void)
{
    struct es_table *table;

    assert_int_equal(esi_text_table_create(columns, 3, &table), 0);
    add_row(table, 0, "MPI_Recv", 8);
    add_row(table, 10, "MPI_Allreduce", 1048576);
    return table;
}

static void columns_are_aligned(void **state)
{
    struct es_table *table = make_table();

    (void)state;
    assert_int_equal(esi_text_table_row_count(table), 2);
    assert_printed(table, 0,
                   "RANK  NAME             BYTES\n"
                   "   0  MPI_Recv             8\n"
                   "  10  MPI_Allreduce  1048576\n");
    esi_text_table_destroy(table);
}

static void a_column_that_may_be_cut_is_cut_to_the_width(void **state)
{
    struct es_table *table = make_table();

    (void)state;
    assert_printed(table, 23,
                   "RANK  NAME        BYTES\n"
                   "   0  MPI_Recv        8\n"
                   "  10  MPI_All~  1048576\n");
    esi_text_table_destroy(table);
}

static void no_column_goes_below_its_minimum(void **state)
{
    struct es_table *table = make_table();

    (void)state;
    assert_printed(table, 5,
                   "RANK  NAME    BYTES\n"
                   "   0  MPI~        8\n"
                   "  10  MPI~  1048576\n");
    esi_text_table_destroy(table);
}

static void a_row_that_is_not_complete_is_not_printed(void **state)
{
    struct es_table *table;

    (void)state;
    assert_int_equal(esi_text_table_create(columns, 3, &table), 0);
    esi_text_table_cell(table, "%d", 7);
    assert_int_equal(esi_text_table_row_count(table), 0);
    assert_printed(table, 0, "RANK  NAME  BYTES\n");
    esi_text_table_destroy(table);
}

static void clearing_keeps_the_columns(void **state)
{
    struct es_table *table = make_table();

    (void)state;
    esi_text_table_clear(table);
    add_row(table, 1, "x", 2);
    assert_printed(table, 0, "RANK  NAME  BYTES\n   1  x         2\n");
    esi_text_table_destroy(table);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    struct es_table *table;

    (void)state;
    assert_int_equal(esi_text_table_create(columns, 3, &table), 0);
    add_row(table, 1, "a\x1b[2Jb\nc", 2);
    assert_printed(table, 0, "RANK  NAME        BYTES\n   1  a\\e[2Jb\\nc      2\n");
    esi_text_table_destroy(table);
}

static void many_rows_find_room(void **state)
{
    enum { ROWS = 1000 };
    struct es_table *table;
    size_t lines = 0;

    (void)state;
    assert_int_equal(esi_text_table_create(columns, 3, &table), 0);
    for (int i = 0; i < ROWS; i++)
        add_row(table, i, "x", i);
    assert_int_equal(esi_text_table_row_count(table), ROWS);
    char *text = printed(table, 0);
    for (const char *next = text; (next = strchr(next, '\n')) != NULL; next++)
        lines++;
    assert_int_equal(lines, ROWS + 1);
    free(text);
    esi_text_table_destroy(table);
}

static void width_is_counted_in_characters_not_bytes(void **state)
{
    struct es_table *table;

    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    assert_int_equal(esi_text_table_create(columns, 3, &table), 0);
    add_row(table, 1, "\xc3\xa5\xc3\xa4\xc3\xb6", 2);
    add_row(table, 2, "\xff\xfe", 3); /* no characters at all */
    assert_printed(table, 0,
                   "RANK  NAME      BYTES\n"
                   "   1  \xc3\xa5\xc3\xa4\xc3\xb6           2\n"
                   "   2  \\xff\\xfe      3\n");
    esi_text_table_destroy(table);
    setlocale(LC_CTYPE, "C");
}

static void a_file_has_no_width(void **state)
{
    FILE *stream = tmpfile();

    (void)state;
    assert_non_null(stream);
    assert_int_equal(esi_text_table_width(stream), 0);
    fclose(stream);
}

static void nothing_can_be_destroyed(void **state)
{
    (void)state;
    esi_text_table_destroy(NULL);
}

SUITE(test_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(a_column_that_may_be_cut_is_cut_to_the_width),
        cmocka_unit_test(no_column_goes_below_its_minimum),
        cmocka_unit_test(a_row_that_is_not_complete_is_not_printed),
        cmocka_unit_test(clearing_keeps_the_columns),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(many_rows_find_room),
        cmocka_unit_test(width_is_counted_in_characters_not_bytes),
        cmocka_unit_test(a_file_has_no_width),
        cmocka_unit_test(nothing_can_be_destroyed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
