/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Text tables for people, with aligned columns that fit the width of the terminal; and
 * lines and sentences that fit it.
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
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct es_table;

/* What a cell or a sentence says about the program; its colour on terminals. */
enum esi_tone {
    ESI_TONE_PLAIN,
    ESI_TONE_DOUBT,
    ESI_TONE_BAD,
    ESI_TONE_WORST,
};

enum esi_text_table_alignment {
    ES_TABLE_LEFT,
    ES_TABLE_RIGHT,
    ES_TABLE_PROSE, /* last column only: sentences, which are wrapped */
};

struct esi_text_table_column {
    const char *title;
    enum esi_text_table_alignment alignment;
    /* If the table is too wide, this column may be truncated to this many characters; 0
     * for never. */
    size_t minimum;
    /* If it is still too wide, columns are omitted: those with the highest value first,
     * among equals the last; 0 for never. */
    unsigned minor;
};

/* Creates a table.  `columns` is borrowed until it is destroyed.  Returns 0 or
 * -ENOMEM. */
int esi_text_table_create(const struct esi_text_table_column *columns,
                          size_t column_count,
                          struct es_table **ret_table);

/* Frees the table.  Accepts NULL. */
void esi_text_table_destroy(struct es_table *table);

/* Appends a cell, row by row.  Terminal control characters are escaped (plain.h).  If
 * out of memory, the cell is lost and esi_text_table_print() reports it. */
void esi_text_table_tone(struct es_table *table, enum esi_tone tone); /* of the next */
void esi_text_table_cell(struct es_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void esi_text_table_cell_list(struct es_table *table,
                              const char *format,
                              va_list arguments) __attribute__((format(printf, 2, 0)));

/* Prints titles and complete rows, and truncates or omits columns until lines fit into
 * `width` characters (0 for any width).  Returns 0; -ENOMEM if a cell was lost; or
 * -EIO. */
int esi_text_table_print(const struct es_table *table, FILE *stream, size_t width);

/* Titles of the columns omitted from tables of this process, "P95, MAX"; "" if none.
 * For the thread that prints. */
const char *esi_text_table_left_out(void);

/* Prints a line of text with escapes, truncated to `width` characters (0 for any
 * width), and a line break.  Prints nothing if out of memory. */
void esi_text_line_print(FILE *stream, size_t width, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a sentence with escapes and a line break.  If it is wider than the terminal,
 * it is wrapped between words, and further lines are indented.  Prints nothing if out
 * of memory. */
void esi_text_prose_print(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void esi_text_tone_print(FILE *stream, enum esi_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Number of terminal columns that a text occupies. */
size_t esi_text_table_text_width(const char *text);

/* Width of the terminal of `stream` in characters.  For files and pipes, COLUMNS in the
 * environment; 0 for any width. */
size_t esi_text_table_width(FILE *stream);

/* Declares that output to memory or to a temporary file is for the terminal at this
 * descriptor; -1 to reset.  Borrowed. */
void esi_text_table_set_terminal(int descriptor);

/* Makes tones visible, or invisible as they are at first. */
void esi_text_table_set_colours(bool wanted);

/* Makes all widths 0 from now on: nothing is truncated or omitted. */
void esi_text_table_set_wide(void);

#endif
