/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tables of text for people: aligned columns, cut to the terminal's width.
 *
 *     static const struct esi_text_table_column columns[] = {
 *         {"RANK", ES_TABLE_RIGHT, 0}, {"OPERATION", ES_TABLE_LEFT, 12}};
 *
 *     esi_text_table_create(columns, 2, &table);
 *     esi_text_table_cell(table, "%d", rank);
 *     esi_text_table_cell(table, "%s", name);       the last column's cell ends the row
 *     esi_text_table_print(table, stdout, esi_text_table_width(stdout));
 *     esi_text_table_destroy(table);
 */
#ifndef ES_BASE_TABLE_H
#define ES_BASE_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct es_table;

enum esi_text_table_alignment {
    ES_TABLE_LEFT,
    ES_TABLE_RIGHT,
};

struct esi_text_table_column {
    const char *title;
    enum esi_text_table_alignment alignment;
    /* Where the table is too wide this column may be cut down to so many characters; 0
     * = never. */
    size_t minimum;
};

/* `columns` is borrowed for the table's life.  0, or -ENOMEM. */
int esi_text_table_create(const struct esi_text_table_column *columns,
                          size_t column_count,
                          struct es_table **ret_table);

/* Accepts NULL. */
void esi_text_table_destroy(struct es_table *table);

/* Appends a cell, row by row.  What a terminal would obey is
 * escaped (plain.h).  Without memory the cell
 * stays away and esi_text_table_print() says so. */
void esi_text_table_cell(struct es_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Rows that are complete. */
size_t esi_text_table_row_count(const struct es_table *table);

/* Forgets the rows, keeps the columns. */
void esi_text_table_clear(struct es_table *table);

/* Prints titles and complete rows; columns that may be cut are, until lines fit into
 * `width` characters (0 = any width).  0, -ENOMEM when a cell was lost, or -EIO. */
int esi_text_table_print(const struct es_table *table, FILE *stream, size_t width);

/* Columns of the screen that a text takes. */
size_t esi_text_table_text_width(const char *text);

/* Characters in a line of the terminal behind `stream`; 0 when it is none. */
size_t esi_text_table_width(FILE *stream);

#endif
