/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tables are aligned, and only the columns that allow it are cut. */
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
    {"RANK", ES_TABLE_RIGHT, 0, 0},
    {"NAME", ES_TABLE_LEFT, 4, 0},
    {"BYTES", ES_TABLE_RIGHT, 0, 0},
};

static void add_row(struct es_table *table, int rank, const char *name, long bytes)
{
    esi_text_table_cell(table, "%d", rank);
    esi_text_table_cell(table, "%s", name);
    esi_text_table_cell(table, "%ld", bytes);
}

/* Returns the printed table; caller frees. */
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

static void prose_goes_on_in_the_next_line(void **state)
{
    static const struct esi_text_table_column two[] = {{"RUN", ES_TABLE_LEFT, 0, 0},
                                                       {"ENDED", ES_TABLE_PROSE, 8, 0}};
    struct es_table *table;

    (void)state;
    assert_int_equal(esi_text_table_create(two, 2, &table), 0);
    esi_text_table_cell(table, "flow");
    esi_text_table_cell(table, "rank 0 was killed by SIGSEGV");
    esi_text_table_cell(table, "ring");
    esi_text_table_cell(table, "incomprehensibly");
    assert_printed(table, 0,
                   "RUN   ENDED\n"
                   "flow  rank 0 was killed by SIGSEGV\n"
                   "ring  incomprehensibly\n");
    assert_printed(table, 19,
                   "RUN   ENDED\n"
                   "flow  rank 0 was\n"
                   "      killed by\n"
                   "      SIGSEGV\n"
                   "ring  incomprehensi\n"
                   "      bly\n");
    esi_text_table_destroy(table);
}

/* The same width, and each line by itself. */
static void a_tone_is_a_colour_where_there_are_any(void **state)
{
    static const struct esi_text_table_column two[] = {{"STATE", ES_TABLE_RIGHT, 4, 0},
                                                       {"ENDED", ES_TABLE_PROSE, 8, 0}};
    static const char plain[] = " STATE  ENDED\n"
                                "  dead  rank 0\n"
                                "        is dead\n"
                                "lost+~  dead\n";
    struct es_table *table;

    (void)state;
    assert_int_equal(esi_text_table_create(two, 2, &table), 0);
    esi_text_table_tone(table, ESI_TONE_BAD);
    esi_text_table_cell(table, "dead");
    esi_text_table_tone(table, ESI_TONE_WORST);
    esi_text_table_cell(table, "rank 0 is dead");
    esi_text_table_tone(table, ESI_TONE_DOUBT);
    esi_text_table_cell(table, "lost+found");
    esi_text_table_cell(table, "dead");
    assert_printed(table, 16, plain);
    esi_text_table_set_colours(true);
    assert_printed(table, 16,
                   " STATE  ENDED\n"
                   "  \033[31mdead\033[0m  \033[1;31mrank 0\033[0m\n"
                   "        \033[1;31mis dead\033[0m\n"
                   "\033[33mlost+~\033[0m  dead\n");
    esi_text_table_set_colours(false);
    assert_printed(table, 16, plain);
    esi_text_table_destroy(table);
}

static void a_row_that_is_not_complete_is_not_printed(void **state)
{
    struct es_table *table;

    (void)state;
    assert_int_equal(esi_text_table_create(columns, 3, &table), 0);
    esi_text_table_cell(table, "%d", 7);
    assert_printed(table, 0, "RANK  NAME  BYTES\n");
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
    add_row(table, 2, "\xff\xfe", 3); /* not UTF-8 */
    assert_printed(table, 0,
                   "RANK  NAME      BYTES\n"
                   "   1  \xc3\xa5\xc3\xa4\xc3\xb6           2\n"
                   "   2  \\xff\\xfe      3\n");
    esi_text_table_destroy(table);
    setlocale(LC_CTYPE, "C");
}

static const struct esi_text_table_column minor_columns[] = {
    {"COUNT", ES_TABLE_RIGHT, 0, 2},
    {"NAME", ES_TABLE_LEFT, 4, 0},
    {"MEAN", ES_TABLE_RIGHT, 0, 1},
    {"MAX", ES_TABLE_RIGHT, 0, 2},
};

static void minor_columns_go_when_texts_are_short(void **state)
{
    static const struct {
        size_t width;
        const char *expected;
    } cases[] = {
        {31, "COUNT  NAME           MEAN  MAX\n"
             "    1  MPI_Allreduce     2    3\n"},
        {30, "COUNT  NAME          MEAN  MAX\n"
             "    1  MPI_Allredu~     2    3\n"},
        {22, "COUNT  NAME  MEAN  MAX\n"
             "    1  MPI~     2    3\n"},
        {21, "COUNT  NAME      MEAN\n"
             "    1  MPI_All~     2\n"},
        {16, "NAME        MEAN\n"
             "MPI_Allre~     2\n"},
        {9, "NAME\n"
            "MPI_Allr~\n"},
        {1, "NAME\n"
            "MPI~\n"},
    };
    struct es_table *table;

    (void)state;
    assert_int_equal(esi_text_table_create(minor_columns, 4, &table), 0);
    esi_text_table_cell(table, "1");
    esi_text_table_cell(table, "MPI_Allreduce");
    esi_text_table_cell(table, "2");
    esi_text_table_cell(table, "3");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_printed(table, cases[i].width, cases[i].expected);
    assert_non_null(strstr(esi_text_table_left_out(), "MAX, COUNT, MEAN"));
    esi_text_table_destroy(table);
}

static void a_line_is_cut_and_a_sentence_goes_on(void **state)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    (void)state;
    assert_non_null(stream);
    esi_text_line_print(stream, 0, "%s\n", "a line");
    esi_text_line_print(stream, 6, "%s", "a line");
    esi_text_line_print(stream, 5, "%s", "a line");
    esi_text_prose_print(stream, "any %s", "width");
    fclose(stream);
    assert_string_equal(text, "a line\\n\na line\na li~\nany width\n");
    free(text);
}

/* Prints to a file; its width is that in the environment. */
static void assert_prose(const char *columns_text,
                         const char *sentence,
                         const char *expected)
{
    FILE *stream = tmpfile();
    char text[128] = "";
    size_t size;

    assert_non_null(stream);
    assert_int_equal(setenv("COLUMNS", columns_text, 1), 0);
    esi_text_prose_print(stream, "  %s", sentence);
    unsetenv("COLUMNS");
    rewind(stream);
    size = fread(text, 1, sizeof text - 1, stream);
    text[size] = '\0';
    fclose(stream);
    assert_string_equal(text, expected);
}

static void assert_sentence(const char *columns_text, const char *expected)
{
    assert_prose(columns_text, "rank 3 holds up a_word_of_some_length", expected);
}

static void a_number_stays_with_its_unit(void **state)
{
    (void)state;
    assert_prose("22", "it holds up 1.30 MiB, 12 % of it",
                 "  it holds up\n      1.30 MiB, 12 %\n      of it\n");
    assert_prose("20", "after 350 ms (1.25 s) of 8 ranks",
                 "  after 350 ms\n      (1.25 s) of 8\n      ranks\n");
    assert_prose("6", "12.5 MiB or 3 ms", "  12.5 MiB\n      or\n      3 ms\n");
    assert_prose("11", "up to 12 messages", "  up to 12\n      messages\n");
}

static void sentences_break_between_words(void **state)
{
    (void)state;
    assert_sentence("80", "  rank 3 holds up a_word_of_some_length\n");
    assert_sentence("none", "  rank 3 holds up a_word_of_some_length\n");
    assert_sentence("17", "  rank 3 holds up\n      a_word_of_some_length\n");
    assert_sentence("16", "  rank 3 holds\n      up\n      a_word_of_some_length\n");
    assert_sentence("1", "  rank\n      3\n      holds\n      up\n"
                         "      a_word_of_some_length\n");
}

static void a_file_has_the_width_of_the_environment(void **state)
{
    static const struct {
        const char *columns;
        size_t width;
    } cases[] = {{"72", 72}, {"0", 0}, {"-3", 0}, {"", 0}, {"72x", 0}, {"x", 0}};
    FILE *stream = tmpfile();

    (void)state;
    assert_non_null(stream);
    unsetenv("COLUMNS");
    assert_int_equal(esi_text_table_width(stream), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(setenv("COLUMNS", cases[i].columns, 1), 0);
        assert_int_equal(esi_text_table_width(stream), cases[i].width);
    }
    unsetenv("COLUMNS");
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
        cmocka_unit_test(prose_goes_on_in_the_next_line),
        cmocka_unit_test(a_tone_is_a_colour_where_there_are_any),
        cmocka_unit_test(a_row_that_is_not_complete_is_not_printed),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(many_rows_find_room),
        cmocka_unit_test(width_is_counted_in_characters_not_bytes),
        cmocka_unit_test(minor_columns_go_when_texts_are_short),
        cmocka_unit_test(a_line_is_cut_and_a_sentence_goes_on),
        cmocka_unit_test(a_number_stays_with_its_unit),
        cmocka_unit_test(sentences_break_between_words),
        cmocka_unit_test(a_file_has_the_width_of_the_environment),
        cmocka_unit_test(nothing_can_be_destroyed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
