/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records that are printed: one function describes a record's fields in their order,
 * and a table for people, JSON Lines and CSV are made of it.
 *
 *     static void describe(struct esi_row *row, const void *record)
 *     {
 *         const struct process *process = record;
 *
 *         esi_row_signed(row, "rank", "RANK", process->rank);
 *         esi_row_text(row, "host", "HOST", process->host);
 *         esi_row_unsigned(row, "bytes", NULL, process->bytes);
 *         esi_row_quantity(row, "MEMORY", format_bytes(process->bytes, text));
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
/* A field without a value: null in JSON, empty in CSV, "-" in the table. */
void esi_row_none(struct esi_row *row, const char *name, const char *heading);
/* A text in the table that may be cut down to `minimum` characters; the same in JSON
 * and CSV, where it is never cut. */
void esi_row_long_text(struct esi_row *row,
                       const char *name,
                       const char *heading,
                       size_t minimum,
                       const char *text);
/* A number with its unit, or in words: in the table only, to the right. */
void esi_row_quantity(struct esi_row *row, const char *heading, const char *text);
/* Where JSON goes that no field can say (arrays, objects, members that only some
 * records have); NULL: this is no JSON. */
struct esi_json_out *esi_row_json(struct esi_row *row);

/* --- For those who print ---------------------------------------------------------- */

enum esi_rows_format {
    ESI_ROWS_TABLE,
    ESI_ROWS_JSON,
    ESI_ROWS_CSV,
};

enum { ESI_ROWS_COLUMNS = 32 }; /* of a table at most; more are left out */

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
 * nothing for JSON.  `empty` is a record without values.  0, or -ENOMEM. */
int esi_rows_begin(struct esi_rows *rows, const void *empty);
/* A line of JSON or CSV is written at once, a table by esi_rows_finish(). */
void esi_rows_add(struct esi_rows *rows, const void *record);
/* Prints the table, as wide as the terminal is, and frees.  0, -ENOMEM when a cell was
 * lost, or -EIO. */
int esi_rows_finish(struct esi_rows *rows);

#endif
