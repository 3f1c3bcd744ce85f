/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Printing of records: one function describes the fields of a record, from which tables
 * or lists for people, JSON Lines and CSV are produced.
 *
 *     static void describe(struct esi_row *row, const void *record)
 *     {
 *         const struct process *process = record;
 *
 *         esi_row_signed(row, "rank", "RANK", process->rank);
 *         esi_row_text(row, "host", "HOST", process->host);
 *         esi_row_bytes(row, "bytes", "MEMORY", process->bytes);
 *         esi_row_quantity(row, "LOAD", "%.0f %%", 100 * process->load);
 *         esi_row_real(row, "load", NULL, process->load);
 *         esi_row_signed(esi_row_if(row, process->ended), "code", NULL, process->code);
 *     }
 *
 *     struct esi_rows rows;
 *
 *     esi_rows_init(&rows, ESI_ROWS_TABLE, stdout, describe);
 *     esi_rows_begin(&rows, &(struct process){0});
 *     esi_rows_add(&rows, &process);
 *     esi_rows_finish(&rows);
 *
 * A field with a name appears in JSON and CSV, one with a heading in tables; data that
 * is formatted differently for people is described by two fields.  In tables, numbers
 * are right-aligned and texts left-aligned.
 *
 * A description must produce the same fields for each record.  It is called once with
 * an empty record if names or headings are needed first.  Not thread safe.
 */
#ifndef ES_BASE_ROWS_H
#define ES_BASE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json_out.h"
#include "base/table.h"

struct esi_row; /* receives the fields of one record */

typedef void esi_row_describe(struct esi_row *row, const void *record);

/* --- For descriptions ------------------------------------------------------------- */

/* Fields.  `name` is NULL for tables only, `heading` is NULL for JSON and CSV only.
 * Both are borrowed and constant. */
void esi_row_text(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  const char *text); /* NULL: like esi_row_none() */
void esi_row_signed(struct esi_row *row,
                    const char *name,
                    const char *heading,
                    int64_t number);
void esi_row_unsigned(struct esi_row *row,
                      const char *name,
                      const char *heading,
                      uint64_t number);
void esi_row_real(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  double number);
void esi_row_bool(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  bool truth);
/* A duration and a size: numbers in JSON and CSV; for people with three significant
 * digits and a unit (quantity.h). */
void esi_row_time(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  int64_t span_ns);
void esi_row_bytes(struct esi_row *row,
                   const char *name,
                   const char *heading,
                   int64_t bytes);
/* A number of 128 bits, as hexadecimal digits, because some JSON parsers have less
 * precision. */
void esi_row_key(struct esi_row *row, const char *name, const uint64_t key[2]);
/* A text that tables may truncate to `minimum` characters.  Not truncated in JSON and
 * CSV. */
void esi_row_long_text(struct esi_row *row,
                       const char *name,
                       const char *heading,
                       size_t minimum,
                       const char *text);
/* Like esi_row_long_text(), for the last column, where it is wrapped instead of
 * truncated. */
void esi_row_prose(struct esi_row *row,
                   const char *name,
                   const char *heading,
                   size_t minimum,
                   const char *text);
/* For tables only: a formatted text, and a right-aligned number with its unit. */
void esi_row_words(struct esi_row *row,
                   const char *heading,
                   size_t minimum,
                   const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
void esi_row_quantity(struct esi_row *row, const char *heading, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A field without a value: null in JSON, empty in CSV, "-" in tables. */
void esi_row_none(struct esi_row *row, const char *name, const char *heading);
/* The next field has no value unless `has_value`.  Returns `row`. */
struct esi_row *esi_row_if(struct esi_row *row, bool has_value);
/* The column of the next field may be omitted if a table is too wide, those with the
 * highest `minor` first.  Without this call it is never omitted.  Returns `row`. */
struct esi_row *esi_row_minor(struct esi_row *row, unsigned minor);

/* The next field, if its value is shown to people, has this colour on terminals.
 * Returns `row`. */
struct esi_row *esi_row_tone(struct esi_row *row, enum esi_tone tone);

/* A value that is JSON text, in JSON only. */
void esi_row_raw(struct esi_row *row, const char *name, const char *json);

/* Objects and arrays, in JSON only.  Return whether to describe their contents,
 * followed by esi_row_end().  Fields in arrays have no names. */
bool esi_row_begin_object(struct esi_row *row, const char *name);
bool esi_row_begin_array(struct esi_row *row, const char *name);
void esi_row_end(struct esi_row *row);
/* Returns whether fields that exist in some records only may be omitted. */
bool esi_row_is_json(const struct esi_row *row);

/* --- Output ----------------------------------------------------------------------- */

enum esi_rows_format {
    ESI_ROWS_TABLE,
    ESI_ROWS_JSON,
    ESI_ROWS_CSV,
    ESI_ROWS_LIST, /* one line for each field with a heading and a value */
};

enum {
    ESI_ROWS_COLUMNS = 32, /* maximum number of columns of a table; more are omitted */
    ESI_ROWS_LABEL = 22,   /* width of the headings of a list */
};

/* In caller's memory; its fields are private. */
struct esi_rows {
    enum esi_rows_format format;
    FILE *stream; /* borrowed */
    esi_row_describe *describe;
    struct esi_json_out json;
    struct es_table *table;
    struct esi_text_table_column columns[ESI_ROWS_COLUMNS];
};

void esi_rows_init(struct esi_rows *rows,
                   enum esi_rows_format format,
                   FILE *stream,
                   esi_row_describe *describe);
/* Writes the header line of CSV, or creates the columns of a table, for which it must
 * be called; does nothing for JSON and lists.  `empty` is a record without values.
 * Returns 0 or -ENOMEM. */
int esi_rows_begin(struct esi_rows *rows, const void *empty);
/* Adds a record.  JSON and CSV are written immediately, tables by esi_rows_finish(). */
void esi_rows_add(struct esi_rows *rows, const void *record);
/* Prints the table, with the width of esi_text_table_width(), and frees it.  Returns 0;
 * -ENOMEM if a cell was lost; or -EIO. */
int esi_rows_finish(struct esi_rows *rows);

/* Prints one record as a line of JSON or as a list.  Returns 0 or -EIO. */
int esi_rows_print(enum esi_rows_format format,
                   FILE *stream,
                   esi_row_describe *describe,
                   const void *record);
/* Prints one record as a line of JSON.  Returns 0 or -EIO. */
int esi_rows_print_json(FILE *stream, esi_row_describe *describe, const void *record);

#endif
