/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tables and sentences for people, fitted to the width of the terminal. */
#include "config.h"

#include "base/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/array.h"
#include "base/plain.h"

enum {
    GAP = 2,    /* spaces between columns */
    INDENT = 4, /* of the further lines of a sentence */
    MOST_COLUMNS = 100000,
};

/* Process-wide: how the user wants tables, and which columns were omitted. */
static bool is_wide;
static bool has_colours;
static int terminal = -1; /* represents all streams */
static char left_out[256];

struct table_cell {
    char *text; /* owned */
    enum esi_tone tone;
};

struct es_table {
    const struct esi_text_table_column *columns; /* borrowed */
    size_t column_count;
    enum esi_tone tone;       /* of the next cell */
    struct table_cell *cells; /* owned, row by row */
    size_t cell_count;
    size_t cell_room;
    bool incomplete; /* out of memory for a cell */
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

void esi_text_table_destroy(struct es_table *table)
{
    int saved = errno;

    if (!table)
        return;
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table);
    errno = saved;
}

/* Formats a text with escapes.  The caller frees it; NULL if out of memory.  Most cells
 * are plain texts, which need no formatting. */
static char *format_plain(const char *format, va_list arguments)
{
    char *text;

    if (strcmp(format, "%s") == 0) {
        const char *whole = va_arg(arguments, const char *);

        return esi_plain_is(whole) ? strdup(whole) : esi_plain_duplicate(whole);
    }
    if (vasprintf(&text, format, arguments) < 0)
        return NULL;
    if (esi_plain_is(text))
        return text;
    char *plain = esi_plain_duplicate(text);
    free(text);
    return plain;
}

void esi_text_table_tone(struct es_table *table, enum esi_tone tone)
{
    table->tone = tone;
}

void esi_text_table_cell_list(struct es_table *table,
                              const char *format,
                              va_list arguments)
{
    char *text = table->incomplete ? NULL : format_plain(format, arguments);

    if (!text ||
        ESI_ARRAY_RESERVE(table->cells, table->cell_room, table->cell_count + 1) < 0) {
        free(text);
        /* Further cells would be in the wrong column. */
        table->incomplete = true;
        return;
    }
    table->cells[table->cell_count++] = (struct table_cell){text, table->tone};
    table->tone = ESI_TONE_PLAIN;
}

void esi_text_table_cell(struct es_table *table, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    esi_text_table_cell_list(table, format, arguments);
    va_end(arguments);
}

/* Number of complete rows. */
static size_t count_rows(const struct es_table *table)
{
    return table->cell_count / table->column_count;
}

/*
 * Removes one character from `*text`: returns its bytes and stores its width on the
 * screen.  Bytes that are not characters in this locale have width 1 each.
 */
static size_t next_character(const char *text, mbstate_t *state, size_t *ret_width)
{
    wchar_t character;
    size_t bytes;

    if (*text >= ' ' && *text <= '~' && mbsinit(state)) {
        *ret_width = 1;
        return 1;
    }
    bytes = mbrtowc(&character, text, MB_CUR_MAX, state);
    if (bytes == (size_t)-1 || bytes == (size_t)-2) {
        memset(state, 0, sizeof *state);
        *ret_width = 1;
        return 1;
    }
    int width = wcwidth(character);
    *ret_width = width < 0 ? 1 : (size_t)width;
    return bytes;
}

/* Number of bytes of `text` that fit into `limit` columns of the screen, and the
 * columns they occupy. */
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

static const struct table_cell *cell_at(const struct es_table *table,
                                        size_t row,
                                        size_t column)
{
    return &table->cells[row * table->column_count + column];
}

static size_t natural_width(const struct es_table *table, size_t column)
{
    size_t widest = esi_text_table_text_width(table->columns[column].title);

    for (size_t row = 0; row < count_rows(table); row++) {
        size_t width = esi_text_table_text_width(cell_at(table, row, column)->text);
        if (width > widest)
            widest = width;
    }
    return widest;
}

/* How a column is printed: its width, and whether it is present. */
struct column_fit {
    size_t width;
    bool is_out;
};

static size_t least_width(const struct esi_text_table_column *column, size_t natural)
{
    return column->minimum && column->minimum < natural ? column->minimum : natural;
}

/* Width of all present columns with gaps; `least`: truncated as far as allowed. */
static size_t total_width(const struct es_table *table,
                          const struct column_fit *fits,
                          bool least)
{
    size_t total = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (fits[i].is_out)
            continue;
        total += total > 0 ? GAP : 0;
        total += least ? least_width(&table->columns[i], fits[i].width) : fits[i].width;
    }
    return total;
}

/* The column to omit first: the least important, among equals the last; the number of
 * columns if none may be omitted. */
static size_t find_minor(const struct es_table *table, const struct column_fit *fits)
{
    size_t chosen = table->column_count;
    unsigned most = 1;

    for (size_t i = 0; i < table->column_count; i++)
        if (!fits[i].is_out && table->columns[i].minor >= most) {
            most = table->columns[i].minor;
            chosen = i;
        }
    return chosen;
}

/* Remembers a title for esi_text_table_left_out(), once. */
static void remember_left_out(const char *title)
{
    const char *place = strstr(left_out, title);
    size_t length = strlen(left_out), size = strlen(title);

    for (; place; place = strstr(place + 1, title))
        if ((place == left_out || place[-1] == ' ') &&
            (place[size] == ',' || place[size] == '\0'))
            return;
    if (length + size + 3 <= sizeof left_out)
        snprintf(left_out + length, sizeof left_out - length, "%s%s",
                 length > 0 ? ", " : "", title);
}

/* Omits columns if all texts are as short as allowed. */
static void leave_columns_out(const struct es_table *table,
                              struct column_fit *fits,
                              size_t limit)
{
    while (total_width(table, fits, true) > limit) {
        size_t chosen = find_minor(table, fits);

        if (chosen == table->column_count)
            break;
        fits[chosen].is_out = true;
    }
    for (size_t i = 0; i < table->column_count; i++)
        if (fits[i].is_out)
            remember_left_out(table->columns[i].title);
}

/* Takes characters from the widest column that can be narrowed, one at a time. */
static void table_narrow(const struct es_table *table,
                         struct column_fit *fits,
                         size_t limit)
{
    for (size_t total = total_width(table, fits, false); total > limit; total--) {
        size_t chosen = table->column_count;

        for (size_t i = 0; i < table->column_count; i++)
            if (!fits[i].is_out && table->columns[i].minimum &&
                fits[i].width > table->columns[i].minimum &&
                (chosen == table->column_count || fits[i].width > fits[chosen].width))
                chosen = i;
        if (chosen == table->column_count)
            return;
        fits[chosen].width--;
    }
}

static void print_blanks(FILE *stream, size_t count)
{
    static const char blanks[] = "                                ";
    const size_t most = sizeof blanks - 1;

    for (; count > most; count -= most)
        fwrite(blanks, 1, most, stream);
    fwrite(blanks, 1, count, stream);
}

/* Prints `bytes` of a text in its colour, and a mark if it is truncated there. */
static void print_toned(FILE *stream,
                        enum esi_tone tone,
                        const char *text,
                        size_t bytes,
                        bool is_cut)
{
    static const char *const colours[] = {[ESI_TONE_PLAIN] = "",
                                          [ESI_TONE_DOUBT] = "\033[33m",
                                          [ESI_TONE_BAD] = "\033[31m",
                                          [ESI_TONE_WORST] = "\033[1;31m"};
    bool is_coloured = has_colours && tone != ESI_TONE_PLAIN && bytes > 0;

    if (is_coloured)
        fputs(colours[tone], stream);
    fwrite(text, 1, bytes, stream);
    if (is_cut)
        fputc('~', stream);
    if (is_coloured)
        fputs("\033[0m", stream);
}

/* Prints what fits into `room`; a truncated text ends in '~'.  Returns its width. */
static size_t print_cut(FILE *stream,
                        struct table_cell cell,
                        size_t room,
                        size_t indent)
{
    size_t width;
    size_t bytes = table_fit(cell.text, room, &width);
    bool is_cut = cell.text[bytes] != '\0' && room > 0;

    if (is_cut) {
        bytes = table_fit(cell.text, room - 1, &width);
        width++;
    }
    print_blanks(stream, indent > width ? indent - width : 0);
    print_toned(stream, cell.tone, cell.text, bytes, is_cut);
    return width;
}

/* `behind` is the number of spaces that end the previous cell. */
static size_t print_cell(const struct esi_text_table_column *column,
                         FILE *stream,
                         struct table_cell cell,
                         size_t room,
                         size_t behind)
{
    bool is_right = column->alignment == ES_TABLE_RIGHT;
    size_t width;

    print_blanks(stream, behind);
    width = print_cut(stream, cell, room, is_right ? room : 0);
    return is_right ? GAP : room - width + GAP;
}

/* Returns whether a word is a unit, such as "ms" or "%", possibly followed by
 * punctuation. */
static bool is_unit(const char *word)
{
    static const char *const units[] = {"ns", "us",  "ms",  "s",   "min", "h",
                                        "B",  "KiB", "MiB", "GiB", "TiB", "%"};
    size_t length = strcspn(word, " ,;:.()/");

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == length && strncmp(word, units[i], length) == 0)
            return true;
    return false;
}

/* Returns whether the space at `at` separates a number from its unit: "1.30 MiB". */
static bool parts_quantity(const char *text, size_t at)
{
    return at > 0 && isdigit((unsigned char)text[at - 1]) && is_unit(text + at + 1);
}

/* Number of bytes of `text` for a line of at most `width`: up to a space, or one word;
 * a number with its unit is one word. */
static size_t find_break(const char *text, size_t width)
{
    size_t taken;
    size_t most = table_fit(text, width, &taken);
    size_t at = most;

    if (text[most] == '\0')
        return most;
    while (at > 0 && (text[at] != ' ' || parts_quantity(text, at)))
        at--;
    if (at > 0)
        return at;
    at = most + strcspn(text + most, " ");
    while (text[at] && parts_quantity(text, at))
        at += 1 + strcspn(text + at + 1, " ");
    return at;
}

/* Prints a cell whose further lines begin at `start`.  Words that are too long are
 * split. */
static void print_prose(FILE *stream, struct table_cell cell, size_t room, size_t start)
{
    const char *text = cell.text;

    for (size_t bytes, most, width; *text; text += bytes) {
        bytes = find_break(text, room);
        most = table_fit(text, room, &width);
        if (most > 0 && bytes > most)
            bytes = most;
        print_toned(stream, cell.tone, text, bytes, false);
        bytes += strspn(text + bytes, " ");
        if (text[bytes]) {
            fputc('\n', stream);
            print_blanks(stream, start);
        }
    }
}

/* `row` is SIZE_MAX for the titles. */
static void print_row(const struct es_table *table,
                      const struct column_fit *fits,
                      FILE *stream,
                      size_t row)
{
    size_t behind = 0, start = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        const struct esi_text_table_column *column = &table->columns[i];
        struct table_cell cell = row == SIZE_MAX
                                     ? (struct table_cell){(char *)column->title, 0}
                                     : *cell_at(table, row, i);

        if (fits[i].is_out)
            continue;
        if (column->alignment == ES_TABLE_PROSE) {
            print_blanks(stream, behind);
            print_prose(stream, cell, fits[i].width, start);
            break;
        }
        behind = print_cell(column, stream, cell, fits[i].width, behind);
        start += fits[i].width + GAP;
    }
    fputc('\n', stream);
}

int esi_text_table_print(const struct es_table *table, FILE *stream, size_t width)
{
    struct column_fit *fits = calloc(table->column_count, sizeof *fits);

    if (!fits)
        return -ENOMEM;
    for (size_t i = 0; i < table->column_count; i++)
        fits[i].width = natural_width(table, i);
    if (width > 0) {
        leave_columns_out(table, fits, width);
        table_narrow(table, fits, width);
    }
    print_row(table, fits, stream, SIZE_MAX);
    for (size_t row = 0; row < count_rows(table); row++)
        print_row(table, fits, stream, row);
    free(fits);
    if (table->incomplete)
        return -ENOMEM;
    return ferror(stream) ? -EIO : 0;
}

const char *esi_text_table_left_out(void)
{
    return left_out;
}

/* --- Lines and sentences ---------------------------------------------------------- */

void esi_text_line_print(FILE *stream, size_t width, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = format_plain(format, arguments);
    va_end(arguments);
    if (!text)
        return;
    print_cut(stream, (struct table_cell){text, ESI_TONE_PLAIN},
              width > 0 ? width : SIZE_MAX, 0);
    fputc('\n', stream);
    free(text);
}

static void print_lines(FILE *stream,
                        enum esi_tone tone,
                        const char *text,
                        size_t width)
{
    size_t lead = strspn(text, " ");
    size_t indent = lead;

    text += lead;
    do {
        size_t bytes = find_break(text, indent < width ? width - indent : 1);

        print_blanks(stream, indent);
        print_toned(stream, tone, text, bytes, false);
        fputc('\n', stream);
        text += bytes;
        text += strspn(text, " ");
        indent = lead + INDENT;
    } while (*text);
}

static void print_sentence(FILE *stream,
                           enum esi_tone tone,
                           const char *format,
                           va_list arguments)
{
    size_t width = esi_text_table_width(stream);
    char *text = format_plain(format, arguments);

    if (text)
        print_lines(stream, tone, text, width > 0 ? width : SIZE_MAX);
    free(text);
}

void esi_text_prose_print(FILE *stream, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_sentence(stream, ESI_TONE_PLAIN, format, arguments);
    va_end(arguments);
}

void esi_text_tone_print(FILE *stream, enum esi_tone tone, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_sentence(stream, tone, format, arguments);
    va_end(arguments);
}

/* --- Width ------------------------------------------------------------------------ */

void esi_text_table_set_terminal(int descriptor)
{
    terminal = descriptor;
}

void esi_text_table_set_colours(bool wanted)
{
    has_colours = wanted;
}

void esi_text_table_set_wide(void)
{
    is_wide = true;
}

/* The width from the shell's environment: 0 if not set or not a number. */
static size_t width_of_environment(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    long width = text ? strtol(text, &end, 10) : 0;

    return width > 0 && width <= MOST_COLUMNS && *end == '\0' ? (size_t)width : 0;
}

size_t esi_text_table_width(FILE *stream)
{
    struct winsize size;
    int descriptor = terminal >= 0 ? terminal : fileno(stream);

    if (is_wide || descriptor < 0)
        return 0;
    if (!isatty(descriptor))
        return width_of_environment();
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}
