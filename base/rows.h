/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records that are printed: one function describes a record's fields in their order,
 * and a table or a list for people, JSON Lines and CSV are made of it.
 *
 *     static void describe(struct esi_row *row, const void *record)
 *     {
 *         const struct process *process = record;
 *
 *         esi_row_signed(row, "rank", "RANK", process->rank);
 *         esi_row_text(row, "host", "HOST", process->host);
 *         esi_row_unsigned(row, "bytes", NULL, process->bytes);
 *         esi_row_quantity(row, "MEMORY", "%.1f MiB", process->bytes / 1048576.0);
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
 * A field with a name stands in JSON and CSV, one with a heading in the table: what is
 * shown to people in other words than to programs is two fields.  Numbers stand to the
 * right in a table, texts to the left.
 *
 * A description gives the same fields for each record.  It is called once for an empty
 * record where names or headings are wanted first.  One stream, one thread.
 */
#ifndef ES_BASE_ROWS_H
#define ES_BASE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json_out.h"
#include "base/table.h"

struct esi_row; /* where the fields of one record go */

typedef void esi_row_describe(struct esi_row *row, const void *record);

/* --- For descriptions ------------------------------------------------------------- */

/* Fields; `name` NULL: in the table only, `heading` NULL: in JSON and CSV only.  Both
 * are borrowed and constant. */
void esi_row_text(struct esi_row *row,
                  const char *name,
                  const char *heading,
                  const char *text); /* NULL: as esi_row_none() */
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
/* Of 128 bits, as hexadecimal digits: some readers of JSON do not keep so many. */
void esi_row_key(struct esi_row *row, const char *name, const uint64_t key[2]);
/* A text in the table that may be cut down to `minimum` characters; the same in JSON
 * and CSV, where it is never cut. */
void esi_row_long_text(struct esi_row *row,
                       const char *name,
                       const char *heading,
                       size_t minimum,
                       const char *text);
/* The same of the last column, which is not cut: it goes on in the next line. */
void esi_row_prose(struct esi_row *row,
                   const char *name,
                   const char *heading,
                   size_t minimum,
                   const char *text);
/* In the table only: words, and to the right a number with its unit. */
void esi_row_words(struct esi_row *row,
                   const char *heading,
                   size_t minimum,
                   const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
void esi_row_quantity(struct esi_row *row, const char *heading, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A field without a value: null in JSON, empty in CSV, "-" in the table. */
void esi_row_none(struct esi_row *row, const char *name, const char *heading);
/* The next field has no value unless `has_value`.  Returns `row`. */
struct esi_row *esi_row_if(struct esi_row *row, bool has_value);
/* The next field's column may be left out where a table is too wide, the greatest
 * `minor` first; without this call it is never.  Returns `row`. */
struct esi_row *esi_row_minor(struct esi_row *row, unsigned minor);

/* Objects and arrays, in JSON only.  Whether what is in them is wanted, with
 * esi_row_end() behind it.  In arrays fields have no names. */
bool esi_row_begin_object(struct esi_row *row, const char *name);
bool esi_row_begin_array(struct esi_row *row, const char *name);
void esi_row_end(struct esi_row *row);
/* Whether fields that only some records have may be left out. */
bool esi_row_is_json(const struct esi_row *row);

/* --- For those who print ---------------------------------------------------------- */

enum esi_rows_format {
    ESI_ROWS_TABLE,
    ESI_ROWS_JSON,
    ESI_ROWS_CSV,
    ESI_ROWS_LIST, /* a line for each field with a heading and a value */
};

enum {
    ESI_ROWS_COLUMNS = 32, /* of a table at most; more are left out */
    ESI_ROWS_LABEL = 22,   /* how wide the headings of a list are */
};

/* Caller's memory; its fields are private. */
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
/* Writes the names of CSV, makes the columns of a table (it must be called for one);
 * nothing for JSON or a list.  `empty` is a record without values.  0, or -ENOMEM. */
int esi_rows_begin(struct esi_rows *rows, const void *empty);
/* A line of JSON or CSV is written at once, a table by esi_rows_finish(). */
void esi_rows_add(struct esi_rows *rows, const void *record);
/* Prints the table, as wide as esi_text_table_width() says, and frees.  0, -ENOMEM when
 * a cell was lost, or -EIO. */
int esi_rows_finish(struct esi_rows *rows);

/* One record as a line of JSON, or as a list.  0, or -EIO. */
int esi_rows_print(enum esi_rows_format format,
                   FILE *stream,
                   esi_row_describe *describe,
                   const void *record);
/* The same, of JSON. */
int esi_rows_print_json(FILE *stream, esi_row_describe *describe, const void *record);

#endif
