/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Records that are printed, from one description of their fields. */
#include "config.h"

#include "base/rows.h"

#include <errno.h>
#include <inttypes.h>

#include "base/plain.h"

enum row_goal {
    ROW_COLUMNS, /* the headings */
    ROW_CELLS,
    ROW_MEMBERS, /* of a JSON object */
    ROW_NAMES,   /* the first line of CSV */
    ROW_VALUES,
};

struct esi_row {
    struct esi_rows *rows;
    enum row_goal goal;
    size_t count; /* of fields so far */
};

/* --- Fields ----------------------------------------------------------------------- */

static void add_column(struct esi_row *row,
                       const char *heading,
                       enum esi_text_table_alignment alignment,
                       size_t minimum)
{
    if (row->count < ESI_ROWS_COLUMNS)
        row->rows->columns[row->count] =
            (struct esi_text_table_column){heading, alignment, minimum};
}

/* Does what needs no value.  Whether the value is wanted. */
static bool begin_field(struct esi_row *row,
                        const char *name,
                        const char *heading,
                        enum esi_text_table_alignment alignment,
                        size_t minimum)
{
    bool is_table = row->goal == ROW_COLUMNS || row->goal == ROW_CELLS;
    FILE *stream = row->rows->stream;

    if (is_table ? !heading || row->count == ESI_ROWS_COLUMNS : !name)
        return false;
    if (row->goal == ROW_COLUMNS)
        add_column(row, heading, alignment, minimum);
    else if ((row->goal == ROW_NAMES || row->goal == ROW_VALUES) && row->count > 0)
        fputc(',', stream);
    if (row->goal == ROW_NAMES)
        fputs(name, stream);
    row->count++;
    return row->goal != ROW_COLUMNS && row->goal != ROW_NAMES;
}

void esi_row_long_text(struct esi_row *row,
                       const char *name,
                       const char *heading,
                       size_t minimum,
                       const char *text)
{
    if (!begin_field(row, name, heading, ES_TABLE_LEFT, minimum))
        return;
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, "%s", text ? text : "-");
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_string(&row->rows->json, name, text);
    else if (text)
        esi_csv_text(row->rows->stream, text);
}

void esi_row_quantity(struct esi_row *row, const char *heading, const char *text)
{
    if (begin_field(row, NULL, heading, ES_TABLE_RIGHT, 0))
        esi_text_table_cell(row->rows->table, "%s", text);
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
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, "%" PRId64, number);
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
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, "%" PRIu64, number);
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_unsigned(&row->rows->json, name, number);
    else
        fprintf(row->rows->stream, "%" PRIu64, number);
}

void esi_row_real(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  double number)
{
    if (!begin_field(row, name, heading, ES_TABLE_RIGHT, 0))
        return;
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, "%g", number);
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
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, truth ? "yes" : "no");
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_bool(&row->rows->json, name, truth);
    else
        fputs(truth ? "true" : "false", row->rows->stream);
}

void esi_row_none(struct esi_row *row, const char *name, const char *heading)
{
    if (!begin_field(row, name, heading, ES_TABLE_LEFT, 0))
        return;
    if (row->goal == ROW_CELLS)
        esi_text_table_cell(row->rows->table, "-");
    else if (row->goal == ROW_MEMBERS)
        esi_json_out_null(&row->rows->json, name);
}

struct esi_json_out *esi_row_json(struct esi_row *row)
{
    return row->goal == ROW_MEMBERS ? &row->rows->json : NULL;
}

/* --- Rows ------------------------------------------------------------------------- */

/* Returns how many fields there are for it. */
static size_t rows_describe(struct esi_rows *rows,
                            enum row_goal goal,
                            const void *record)
{
    struct esi_row row = {rows, goal, 0};

    rows->describe(&row, record);
    return row.count;
}

void esi_rows_init(struct esi_rows *rows,
                   enum esi_rows_format format,
                   FILE *stream,
                   esi_row_describe *function)
{
    *rows = (struct esi_rows){
        .format = format,
        .stream = stream,
        .describe = function,
    };
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
