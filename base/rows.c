/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Printing of records, from one description of their fields. */
#include "config.h"

#include "base/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "base/plain.h"
#include "base/quantity.h"

enum row_goal {
    ROW_COLUMNS, /* the headings */
    ROW_CELLS,
    ROW_LINES,   /* one line each with heading and value */
    ROW_MEMBERS, /* of a JSON object */
    ROW_NAMES,   /* the first line of CSV */
    ROW_VALUES,
};

struct esi_row {
    struct esi_rows *rows;
    enum row_goal goal;
    size_t count;   /* number of fields so far */
    bool is_absent; /* the next field has no value */
    unsigned minor; /* of the column of the next field */
    enum esi_tone tone;
};

/* --- Fields ----------------------------------------------------------------------- */

/* Returns whether the next field has a value. */
static bool take_presence(struct esi_row *row)
{
    bool is_present = !row->is_absent;

    row->is_absent = false;
    return is_present;
}

static bool is_wanted(const struct esi_row *row, const char *name, const char *heading)
{
    switch (row->goal) {
    case ROW_COLUMNS:
    case ROW_CELLS:
        return heading && row->count < ESI_ROWS_COLUMNS;
    case ROW_LINES:
        return heading;
    case ROW_MEMBERS:
        return name || esi_json_out_is_in_array(&row->rows->json);
    default:
        return name;
    }
}

static void write_absent(struct esi_row *row, const char *name)
{
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, "-");
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_null(&row->rows->json, name);
}

/* Handles a field without its value.  Returns whether the value is needed. */
static bool begin_field(struct esi_row *row,
                        const char *name,
                        const char *heading,
                        enum esi_text_table_alignment alignment,
                        size_t minimum)
{
    bool is_present = take_presence(row);
    unsigned minor = row->minor;
    enum esi_tone tone = row->tone;
    bool has_value = row->goal != ROW_COLUMNS && row->goal != ROW_NAMES;

    row->minor = 0;
    row->tone = ESI_TONE_PLAIN;
    if (!is_wanted(row, name, heading))
        return false;
    if (row->goal == ROW_CELLS && is_present)
        esi_text_table_tone(row->rows->table, tone);
    if (row->goal == ROW_COLUMNS)
        row->rows->columns[row->count] =
            (struct esi_text_table_column){heading, alignment, minimum, minor};
    else if ((row->goal == ROW_NAMES || row->goal == ROW_VALUES) && row->count > 0)
        fputc(',', row->rows->stream);
    if (row->goal == ROW_NAMES)
        fputs(name, row->rows->stream);
    if (has_value && !is_present)
        write_absent(row, name);
    if (row->goal == ROW_LINES && is_present)
        esi_plain_print(row->rows->stream, "%-*s", ESI_ROWS_LABEL, heading);
    row->count++;
    return has_value && is_present;
}

/* Returns whether the field is shown to people. */
static bool is_cell(const struct esi_row *row)
{
    return row->goal == ROW_CELLS || row->goal == ROW_LINES;
}

static void write_cell_list(struct esi_row *row, const char *format, va_list arguments)
{
    if (row->goal == ROW_CELLS) {
        esi_text_table_cell_list(row->rows->table, format, arguments);
        return;
    }
    esi_plain_vprint(row->rows->stream, format, arguments);
    fputc('\n', row->rows->stream);
}

__attribute__((format(printf, 2, 3))) static void write_cell(struct esi_row *row,
                                                             const char *format,
                                                             ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_cell_list(row, format, arguments);
    va_end(arguments);
}

struct esi_row *esi_row_if(struct esi_row *row, bool has_value)
{
    row->is_absent |= !has_value;
    return row;
}

struct esi_row *esi_row_minor(struct esi_row *row, unsigned minor)
{
    row->minor = minor;
    return row;
}

struct esi_row *esi_row_tone(struct esi_row *row, enum esi_tone tone)
{
    row->tone = tone;
    return row;
}

static void write_text(struct esi_row *row,
                       const char *name,
                       const char *heading,
                       enum esi_text_table_alignment alignment,
                       size_t minimum,
                       const char *text)
{
    if (!begin_field(esi_row_if(row, text), name, heading, alignment, minimum))
        return;
    if (is_cell(row))
        write_cell(row, "%s", text);
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_string(&row->rows->json, name, text);
    else
        esi_csv_text(row->rows->stream, text);
}

void esi_row_long_text(struct esi_row *row,
                       const char *name,
                       const char *heading,
                       size_t minimum,
                       const char *text)
{
    write_text(row, name, heading, ES_TABLE_LEFT, minimum, text);
}

void esi_row_prose(struct esi_row *row,
                   const char *name,
                   const char *heading,
                   size_t minimum,
                   const char *text)
{
    write_text(row, name, heading, ES_TABLE_PROSE, minimum, text);
}

void esi_row_words(struct esi_row *row,
                   const char *heading,
                   size_t minimum,
                   const char *format,
                   ...)
{
    va_list arguments;

    if (!begin_field(row, NULL, heading, ES_TABLE_LEFT, minimum))
        return;
    va_start(arguments, format);
    write_cell_list(row, format, arguments);
    va_end(arguments);
}

void esi_row_quantity(struct esi_row *row, const char *heading, const char *format, ...)
{
    va_list arguments;

    if (!begin_field(row, NULL, heading, ES_TABLE_RIGHT, 0))
        return;
    va_start(arguments, format);
    write_cell_list(row, format, arguments);
    va_end(arguments);
}

void esi_row_text(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  const char *text)
{
    esi_row_long_text(row, name, heading, 0, text);
}

void esi_row_signed(struct esi_row *row,
                    const char *name,
                    const char *heading,
                    int64_t number)
{
    if (!begin_field(row, name, heading, ES_TABLE_RIGHT, 0))
        return;
    if (is_cell(row))
        write_cell(row, "%" PRId64, number);
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_signed(&row->rows->json, name, number);
    else
        fprintf(row->rows->stream, "%" PRId64, number);
}

void esi_row_unsigned(struct esi_row *row,
                      const char *name,
                      const char *heading,
                      uint64_t number)
{
    if (!begin_field(row, name, heading, ES_TABLE_RIGHT, 0))
        return;
    if (is_cell(row))
        write_cell(row, "%" PRIu64, number);
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_unsigned(&row->rows->json, name, number);
    else
        fprintf(row->rows->stream, "%" PRIu64, number);
}

void esi_row_time(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  int64_t span_ns)
{
    char words[ESI_QUANTITY_BYTES];

    if (!is_cell(row))
        esi_row_signed(row, name, heading, span_ns);
    else
        esi_row_quantity(row, heading, "%s",
                         esi_quantity_time(words, sizeof words, (double)span_ns));
}

void esi_row_bytes(struct esi_row *row,
                   const char *name,
                   const char *heading,
                   int64_t bytes)
{
    char words[ESI_QUANTITY_BYTES];

    if (!is_cell(row))
        esi_row_signed(row, name, heading, bytes);
    else
        esi_row_quantity(row, heading, "%s",
                         esi_quantity_bytes(words, sizeof words, (double)bytes));
}

void esi_row_real(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  double number)
{
    if (!begin_field(esi_row_if(row, isfinite(number)), name, heading, ES_TABLE_RIGHT,
                     0))
        return;
    if (is_cell(row))
        write_cell(row, "%g", number);
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_real(&row->rows->json, name, number);
    else
        fprintf(row->rows->stream, "%.17g", number);
}

void esi_row_bool(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  bool truth)
{
    if (!begin_field(row, name, heading, ES_TABLE_LEFT, 0))
        return;
    if (is_cell(row))
        write_cell(row, truth ? "yes" : "no");
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_bool(&row->rows->json, name, truth);
    else
        fputs(truth ? "true" : "false", row->rows->stream);
}

void esi_row_key(struct esi_row *row, const char *name, const uint64_t key[2])
{
    char text[33];

    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
    esi_row_text(row, name, NULL, text);
}

void esi_row_none(struct esi_row *row, const char *name, const char *heading)
{
    begin_field(esi_row_if(row, false), name, heading, ES_TABLE_LEFT, 0);
}

bool esi_row_is_json(const struct esi_row *row)
{
    return row->goal == ROW_MEMBERS;
}

void esi_row_raw(struct esi_row *row, const char *name, const char *json)
{
    if (row->goal == ROW_MEMBERS)
        esi_json_out_raw(&row->rows->json, name, json);
}

static bool begin_nested(struct esi_row *row,
                         const char *name,
                         void (*begin)(struct esi_json_out *out, const char *key))
{
    bool is_present = take_presence(row);

    if (row->goal != ROW_MEMBERS)
        return false;
    if (is_present)
        begin(&row->rows->json, name);
    else
        esi_json_out_null(&row->rows->json, name);
    return is_present;
}

bool esi_row_begin_object(struct esi_row *row, const char *name)
{
    return begin_nested(row, name, esi_json_out_begin_object);
}

bool esi_row_begin_array(struct esi_row *row, const char *name)
{
    return begin_nested(row, name, esi_json_out_begin_array);
}

void esi_row_end(struct esi_row *row)
{
    esi_json_out_end(&row->rows->json);
}

/* --- Rows ------------------------------------------------------------------------- */

/* Returns the number of fields. */
static size_t rows_describe(struct esi_rows *rows,
                            enum row_goal goal,
                            const void *record)
{
    struct esi_row row = {.rows = rows, .goal = goal};

    rows->describe(&row, record);
    return row.count;
}

void esi_rows_init(struct esi_rows *rows,
                   enum esi_rows_format format,
                   FILE *stream,
                   esi_row_describe *function)
{
    /* Member by member, because many rows are single lines, and columns are for tables
     * only. */
    rows->format = format;
    rows->stream = stream;
    rows->describe = function;
    rows->table = NULL;
    if (format == ESI_ROWS_JSON)
        esi_json_out_init(&rows->json, stream);
}

int esi_rows_begin(struct esi_rows *rows, const void *empty)
{
    size_t count;

    switch (rows->format) {
    case ESI_ROWS_TABLE:
        count = rows_describe(rows, ROW_COLUMNS, empty);
        return esi_text_table_create(rows->columns, count, &rows->table);
    case ESI_ROWS_CSV:
        rows_describe(rows, ROW_NAMES, empty);
        fputs("\r\n", rows->stream);
        break;
    case ESI_ROWS_JSON:
    case ESI_ROWS_LIST:
        break;
    }
    return 0;
}

void esi_rows_add(struct esi_rows *rows, const void *record)
{
    switch (rows->format) {
    case ESI_ROWS_TABLE:
        rows_describe(rows, ROW_CELLS, record);
        break;
    case ESI_ROWS_LIST:
        rows_describe(rows, ROW_LINES, record);
        break;
    case ESI_ROWS_JSON:
        esi_json_out_begin_object(&rows->json, NULL);
        rows_describe(rows, ROW_MEMBERS, record);
        esi_json_out_end(&rows->json);
        break;
    case ESI_ROWS_CSV:
        rows_describe(rows, ROW_VALUES, record);
        fputs("\r\n", rows->stream);
        break;
    }
}

int esi_rows_finish(struct esi_rows *rows)
{
    int code = 0;

    if (rows->table)
        code = esi_text_table_print(rows->table, rows->stream,
                                    esi_text_table_width(rows->stream));
    else if (ferror(rows->stream))
        code = -EIO;
    esi_text_table_destroy(rows->table);
    rows->table = NULL;
    return code;
}

int esi_rows_print(enum esi_rows_format format,
                   FILE *stream,
                   esi_row_describe *function,
                   const void *record)
{
    struct esi_rows rows;

    esi_rows_init(&rows, format, stream, function);
    esi_rows_add(&rows, record);
    return esi_rows_finish(&rows);
}

int esi_rows_print_json(FILE *stream, esi_row_describe *function, const void *record)
{
    return esi_rows_print(ESI_ROWS_JSON, stream, function, record);
}
