/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tables of text for people: aligned columns, fitted to the terminal's width; lines and
 * sentences that are.
 *
 *     static const struct esi_text_table_column columns[] = {
 *         {"RANK", ES_TABLE_RIGHT, 0, 0}, {"OPERATION", ES_TABLE_LEFT, 12, 0}};
 *
 *     esi_text_table_create(columns, 2, &table);
 *     esi_text_table_cell(table, "%d", rank);
 *     esi_text_table_cell(table, "%s", name);       the last column's cell ends the row
 *     esi_text_table_print(table, stdout, esi_text_table_width(stdout));
 *     esi_text_table_destroy(table);
 */
#ifndef ES_BASE_TABLE_H
#define ES_BASE_TABLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct es_table;

enum esi_text_table_alignment {
    ES_TABLE_LEFT,
    ES_TABLE_RIGHT,
    ES_TABLE_PROSE, /* of the last column: sentences, which go on in the next line */
};

struct esi_text_table_column {
    const char *title;
    enum esi_text_table_alignment alignment;
    /* Where the table is too wide this column may be cut down to so many characters; 0
     * = never. */
    size_t minimum;
    /* Where it is still too wide columns are left out: the greatest first, of equals
     * the last; 0 = never. */
    unsigned minor;
};

/* `columns` is borrowed for the table's life.  0, or -ENOMEM. */
int esi_text_table_create(const struct esi_text_table_column *columns,
                          size_t column_count,
                          struct es_table **ret_table);

/* Accepts NULL. */
void esi_text_table_destroy(struct es_table *table);

/* Appends a cell, row by row.  What a terminal would obey is escaped (plain.h).
 * Without memory the cell stays away and esi_text_table_print() says so. */
void esi_text_table_cell(struct es_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void esi_text_table_cell_list(struct es_table *table,
                              const char *format,
                              va_list arguments) __attribute__((format(printf, 2, 0)));

/* Prints titles and complete rows; columns that may be cut or left out are, until lines
 * fit into `width` characters (0 = any width).  0, -ENOMEM when a cell was lost, or
 * -EIO. */
int esi_text_table_print(const struct es_table *table, FILE *stream, size_t width);

/* Titles of the columns that this process's tables had no room for: "P95, MAX"; "" =
 * all found room.  Of the thread that prints. */
const char *esi_text_table_left_out(void);

/* Prints a line of text with escapes, cut to `width` characters (0 = any width), and
 * its end.  Nothing without memory. */
void esi_text_line_print(FILE *stream, size_t width, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a sentence with escapes and its line's end.  Where it is wider than the
 * terminal it goes on in further lines, which are indented; words stay whole.  Nothing
 * without memory. */
void esi_text_prose_print(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Columns of the screen that a text takes. */
size_t esi_text_table_text_width(const char *text);

/* Characters in a line of the terminal behind `stream`.  Where there is none, what
 * COLUMNS in the environment says of a file or a pipe; 0 = any width. */
size_t esi_text_table_width(FILE *stream);

/* What is printed into memory, or a file in its place, is for the terminal at this
 * descriptor; -1 = no longer.  Borrowed. */
void esi_text_table_set_terminal(int descriptor);

/* From now on all widths are 0: nothing is cut or left out. */
void esi_text_table_set_wide(void);

#endif
