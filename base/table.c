/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tables of text for people: aligned columns, cut to the terminal's width. */
#include "config.h"

#include "base/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/array.h"
#include "base/plain.h"

enum { GAP = 2 }; /* blanks between columns */

struct es_table {
    const struct esi_text_table_column *columns; /* borrowed */
    size_t column_count;
    char **cells; /* owned, row by row */
    size_t cell_count;
    size_t cell_room;
    bool incomplete; /* there was no memory for a cell */
};

int esi_text_table_create(const struct esi_text_table_column *columns,
                          size_t column_count,
                          struct es_table **ret_table)
{
    struct es_table *table = calloc(1, sizeof *table);

    if (!table)
        return -ENOMEM;
    table->columns = columns;
    table->column_count = column_count;
    *ret_table = table;
    return 0;
}

void esi_text_table_clear(struct es_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    table->cell_count = 0;
    table->incomplete = false;
}

void esi_text_table_destroy(struct es_table *table)
{
    int saved = errno;

    if (!table)
        return;
    esi_text_table_clear(table);
    free(table->cells);
    free(table);
    errno = saved;
}

void esi_text_table_cell(struct es_table *table, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0 || table->incomplete ||
        ESI_ARRAY_RESERVE(table->cells, table->cell_room, table->cell_count + 1) < 0) {
        if (length >= 0)
            free(text);
        /* What follows would stand in the wrong column. */
        table->incomplete = true;
        return;
    }
    char *plain = esi_plain_is(text) ? text : esi_plain_duplicate(text);
    if (plain != text)
        free(text);
    if (!plain)
        table->incomplete = true;
    else
        table->cells[table->cell_count++] = plain;
}

size_t esi_text_table_row_count(const struct es_table *table)
{
    return table->cell_count / table->column_count;
}

/*
 * Takes one character off `*text`: returns its bytes and stores its width on the
 * screen. Bytes that are no character in this locale count one each.
 */
static size_t next_character(const char *text, mbstate_t *state, size_t *ret_width)
{
    wchar_t character;
    size_t bytes = mbrtowc(&character, text, MB_CUR_MAX, state);

    if (bytes == (size_t)-1 || bytes == (size_t)-2) {
        memset(state, 0, sizeof *state);
        *ret_width = 1;
        return 1;
    }
    int width = wcwidth(character);
    *ret_width = width < 0 ? 1 : (size_t)width;
    return bytes;
}

/* Bytes of `text` that fit into `limit` columns of the screen, and the columns they
 * take. */
static size_t table_fit(const char *text, size_t limit, size_t *ret_width)
{
    mbstate_t state = {0};
    size_t bytes = 0, width = 0, one;

    while (text[bytes]) {
        size_t step = next_character(text + bytes, &state, &one);
        if (width + one > limit)
            break;
        bytes += step;
        width += one;
    }
    *ret_width = width;
    return bytes;
}

size_t esi_text_table_text_width(const char *text)
{
    size_t width;

    table_fit(text, SIZE_MAX, &width);
    return width;
}

static const char *cell_at(const struct es_table *table, size_t row, size_t column)
{
    return table->cells[row * table->column_count + column];
}

static size_t natural_width(const struct es_table *table, size_t column)
{
    size_t widest = esi_text_table_text_width(table->columns[column].title);

    for (size_t row = 0; row < esi_text_table_row_count(table); row++) {
        size_t width = esi_text_table_text_width(cell_at(table, row, column));
        if (width > widest)
            widest = width;
    }
    return widest;
}

/* Takes characters from the widest column that has some to give, one at a time. */
static void table_narrow(const struct es_table *table,
                         size_t *widths,
                         size_t total,
                         size_t limit)
{
    while (total > limit) {
        size_t chosen = table->column_count;
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].minimum && widths[i] > table->columns[i].minimum &&
                (chosen == table->column_count || widths[i] > widths[chosen]))
                chosen = i;
        if (chosen == table->column_count)
            return;
        widths[chosen]--;
        total--;
    }
}

static void print_blanks(FILE *stream, size_t count)
{
    while (count-- > 0)
        fputc(' ', stream);
}

/* A text that is cut ends in '~'. */
static void print_cell(const struct es_table *table,
                       FILE *stream,
                       const char *text,
                       size_t column,
                       size_t room)
{
    bool last = column + 1 == table->column_count;
    size_t width;
    size_t bytes = table_fit(text, room, &width);
    bool cut = text[bytes] != '\0' && room > 0;

    if (cut) {
        bytes = table_fit(text, room - 1, &width);
        width++;
    }
    if (table->columns[column].alignment == ES_TABLE_RIGHT)
        print_blanks(stream, room - width);
    fwrite(text, 1, bytes, stream);
    if (cut)
        fputc('~', stream);
    if (last) {
        fputc('\n', stream);
        return;
    }
    if (table->columns[column].alignment == ES_TABLE_LEFT)
        print_blanks(stream, room - width);
    print_blanks(stream, GAP);
}

int esi_text_table_print(const struct es_table *table, FILE *stream, size_t width)
{
    size_t *widths = calloc(table->column_count, sizeof *widths);
    size_t total = GAP * (table->column_count - 1);

    if (!widths)
        return -ENOMEM;
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = natural_width(table, i);
        total += widths[i];
    }
    if (width > 0)
        table_narrow(table, widths, total, width);
    for (size_t i = 0; i < table->column_count; i++)
        print_cell(table, stream, table->columns[i].title, i, widths[i]);
    for (size_t row = 0; row < esi_text_table_row_count(table); row++)
        for (size_t i = 0; i < table->column_count; i++)
            print_cell(table, stream, cell_at(table, row, i), i, widths[i]);
    free(widths);
    if (table->incomplete)
        return -ENOMEM;
    return ferror(stream) ? -EIO : 0;
}

size_t esi_text_table_width(FILE *stream)
{
    struct winsize size;
    int descriptor = fileno(stream);

    if (descriptor < 0 || !isatty(descriptor))
        return 0;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}
