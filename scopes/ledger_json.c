/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * ledger_json.c - a ledger as tables of numbers.
 *
 * One list of columns per table is used for writing and reading: a column is a member
 * of the table's struct, with its range.
 */
#include "config.h"

#include "scopes/ledger_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/tuple.h"

/* A member of a row. */
struct ledger_column {
    size_t offset;
    size_t bytes; /* 1, 2, 4 or 8 */
    bool is_signed;
    uint64_t limit; /* maximum if unsigned; 0: limited by its bytes only */
};

#define UNSIGNED(type, member)                                                         \
    {                                                                                  \
        offsetof(struct type, member), sizeof((struct type){0}.member), false, 0       \
    }
#define SIGNED(type, member)                                                           \
    {                                                                                  \
        offsetof(struct type, member), sizeof((struct type){0}.member), true, 0        \
    }
#define LIMITED(type, member, limit)                                                   \
    {                                                                                  \
        offsetof(struct type, member), sizeof((struct type){0}.member), false, limit   \
    }

static const struct ledger_column request_columns[] = {
    UNSIGNED(esi_ledger_request, handle),
    UNSIGNED(esi_ledger_request, start),
    UNSIGNED(esi_ledger_request, site),
    UNSIGNED(esi_ledger_request, operation),
    UNSIGNED(esi_ledger_request, communicator),
    UNSIGNED(esi_ledger_request, sequence),
    SIGNED(esi_ledger_request, peer),
    SIGNED(esi_ledger_request, tag),
    UNSIGNED(esi_ledger_request, bytes),
    LIMITED(esi_ledger_request, kind, ESI_LEDGER_PAIR),
    LIMITED(esi_ledger_request, persistent, 1),
    LIMITED(esi_ledger_request, active, 1),
    LIMITED(esi_ledger_request, partitioned, 1),
};

static const struct ledger_column channel_columns[] = {
    UNSIGNED(esi_ledger_channel, communicator),
    LIMITED(esi_ledger_channel, received, 1),
    LIMITED(esi_ledger_channel, doubtful, 1),
    SIGNED(esi_ledger_channel, peer),
    SIGNED(esi_ledger_channel, tag),
    UNSIGNED(esi_ledger_channel, count),
};

static const struct ledger_column instance_columns[] = {
    UNSIGNED(esi_ledger_instance, communicator),
    UNSIGNED(esi_ledger_instance, operation),
    UNSIGNED(esi_ledger_instance, instance),
    SIGNED(esi_ledger_instance, root),
    UNSIGNED(esi_ledger_instance, hash),
};

static const struct ledger_column epoch_columns[] = {
    UNSIGNED(esi_ledger_epoch, communicator),
    LIMITED(esi_ledger_epoch, kind, ESI_LEDGER_POST),
    LIMITED(esi_ledger_epoch, granted, 1),
    SIGNED(esi_ledger_epoch, window),
    SIGNED(esi_ledger_epoch, peer),
    UNSIGNED(esi_ledger_epoch, number),
};

static const struct ledger_column epoch_count_columns[] = {
    UNSIGNED(esi_ledger_epoch_count, communicator),
    SIGNED(esi_ledger_epoch_count, window),
    SIGNED(esi_ledger_epoch_count, peer),
    UNSIGNED(esi_ledger_epoch_count, posted),
    UNSIGNED(esi_ledger_epoch_count, started),
    UNSIGNED(esi_ledger_epoch_count, completed),
};

static const struct ledger_column wait_columns[] = {
    SIGNED(esi_ledger_wait, thread),
    LIMITED(esi_ledger_wait, kind, ESI_LEDGER_WAIT_POLL),
    UNSIGNED(esi_ledger_wait, count),
    LIMITED(esi_ledger_wait, others, 1),
};

/* A table: the location of the rows in the ledger, and their columns. */
struct ledger_table {
    const char *name;
    size_t rows; /* offset of the pointer */
    size_t count;
    size_t capacity;
    size_t row_bytes;
    const struct ledger_column *columns;
    size_t column_count;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TABLE(name, member, singular, columns)                                         \
    {                                                                                  \
        name, offsetof(struct esi_ledger, member),                                     \
            offsetof(struct esi_ledger, singular##_count),                             \
            offsetof(struct esi_ledger, singular##_capacity),                          \
            sizeof *((struct esi_ledger){0}.member), columns, COUNT(columns)           \
    }

static const struct ledger_table tables[] = {
    TABLE("requests", requests, request, request_columns),
    TABLE("channels", channels, channel, channel_columns),
    TABLE("collectives", instances, instance, instance_columns),
    TABLE("epochs", epochs, epoch, epoch_columns),
    TABLE("epoch_counts", epoch_counts, epoch_count, epoch_count_columns),
};

static const char *const object_names[ESI_LEDGER_OBJECTS] = {
    [ESI_LEDGER_COMMUNICATORS] = "communicators",
    [ESI_LEDGER_WINDOWS] = "windows",
    [ESI_LEDGER_FILES] = "files",
    [ESI_LEDGER_TYPES] = "types",
    [ESI_LEDGER_GROUPS] = "groups",
    [ESI_LEDGER_OPERATORS] = "operators",
};

/* --- One number ------------------------------------------------------------------- */

static uint64_t column_load(const struct ledger_column *column, const char *row)
{
    uint8_t small;
    uint16_t half;
    uint32_t word;
    uint64_t value;

    switch (column->bytes) {
    case 1:
        memcpy(&small, row + column->offset, sizeof small);
        return small;
    case 2:
        memcpy(&half, row + column->offset, sizeof half);
        return half;
    case 4:
        memcpy(&word, row + column->offset, sizeof word);
        return word;
    default:
        memcpy(&value, row + column->offset, sizeof value);
        return value;
    }
}

/* A handle may use all 64 bits; it is written as a signed number, which JSON can hold
 * here. */
static void column_write(const struct ledger_column *column,
                         const char *row,
                         struct esi_json_out *out)
{
    uint64_t value = column_load(column, row);

    esi_json_out_signed(out, NULL,
                        column->is_signed ? (int32_t)(uint32_t)value : (int64_t)value);
}

static bool column_fits(const struct ledger_column *column, int64_t number)
{
    if (column->bytes == 8)
        return true;
    if (column->is_signed)
        return number >= INT32_MIN && number <= INT32_MAX;
    if (number < 0 || number > (int64_t)(UINT64_MAX >> (64 - 8 * column->bytes)))
        return false;
    return column->limit == 0 || (uint64_t)number <= column->limit;
}

static void column_store(const struct ledger_column *column, char *row, int64_t number)
{
    uint8_t small = (uint8_t)number;
    uint16_t half = (uint16_t)number;
    uint32_t word = (uint32_t)number;

    switch (column->bytes) {
    case 1:
        memcpy(row + column->offset, &small, sizeof small);
        break;
    case 2:
        memcpy(row + column->offset, &half, sizeof half);
        break;
    case 4:
        memcpy(row + column->offset, &word, sizeof word);
        break;
    default:
        memcpy(row + column->offset, &number, sizeof number);
        break;
    }
}

/* --- Writing ---------------------------------------------------------------------- */

static void write_row(const struct ledger_column *columns,
                      size_t count,
                      const void *row,
                      struct esi_json_out *out)
{
    for (size_t i = 0; i < count; i++)
        column_write(&columns[i], row, out);
}

static void write_table(const struct ledger_table *table,
                        const struct esi_ledger *ledger,
                        struct esi_json_out *out)
{
    const char *rows;
    size_t count;

    memcpy(&rows, (const char *)ledger + table->rows, sizeof rows);
    memcpy(&count, (const char *)ledger + table->count, sizeof count);
    esi_json_out_begin_array(out, table->name);
    for (size_t i = 0; i < count; i++)
        write_row(table->columns, table->column_count, rows + i * table->row_bytes,
                  out);
    esi_json_out_end(out);
}

static void write_wait(const struct esi_ledger_wait *wait, struct esi_json_out *out)
{
    esi_json_out_begin_array(out, NULL);
    write_row(wait_columns, COUNT(wait_columns), wait, out);
    for (uint32_t i = 0; i < wait->known; i++)
        esi_json_out_signed(out, NULL, (int64_t)wait->handles[i]);
    esi_json_out_end(out);
}

void esi_ledger_json_write(const struct esi_ledger *ledger, struct esi_json_out *out)
{
    for (size_t i = 0; i < COUNT(tables); i++)
        write_table(&tables[i], ledger, out);
    esi_json_out_begin_array(out, "waits");
    for (size_t i = 0; i < ledger->wait_count; i++)
        write_wait(&ledger->waits[i], out);
    esi_json_out_end(out);
    esi_json_out_begin_object(out, "unfreed");
    for (int i = 0; i < ESI_LEDGER_OBJECTS; i++)
        esi_json_out_unsigned(out, object_names[i],
                              esi_json_bounded(ledger->unfreed[i]));
    esi_json_out_end(out);
    esi_json_out_unsigned(out, "changes", esi_json_bounded(ledger->changes));
    esi_json_out_unsigned(out, "error_class", ledger->error_class);
    esi_json_out_unsigned(out, "error_operation", ledger->error_operation);
    esi_json_out_string(out, "error_text", ledger->error_text);
    esi_json_out_bool(out, "concurrent", ledger->concurrent);
    esi_json_out_signed(out, "others", ledger->others);
    esi_json_out_unsigned(out, "others_counted",
                          esi_json_bounded(ledger->others_counted));
    esi_json_out_bool(out, "partial", ledger->partial);
}

/* --- Reading ---------------------------------------------------------------------- */

/* Reads a row from the items of a list, starting at `first`. */
static bool read_row(const struct ledger_column *columns,
                     size_t count,
                     const struct es_member *list,
                     size_t first,
                     void *row)
{
    int64_t number;

    for (size_t i = 0; i < count; i++) {
        if (!esi_member_number(esi_member_at(list, first + i), &number) ||
            !column_fits(&columns[i], number))
            return false;
        column_store(&columns[i], row, number);
    }
    return true;
}

static int read_table(const struct ledger_table *table,
                      const struct es_member *object,
                      struct es_error *error,
                      struct esi_ledger *ledger)
{
    const struct es_member *list = esi_member_find(object, table->name);
    size_t numbers = esi_member_count(list);
    size_t count = numbers / table->column_count;
    char *rows;

    if (numbers == 0)
        return 0;
    rows = calloc(count + 1, table->row_bytes);
    if (rows == NULL)
        return -ENOMEM;
    memcpy((char *)ledger + table->rows, &rows, sizeof rows);
    memcpy((char *)ledger + table->capacity, &(size_t){count + 1}, sizeof count);
    if (numbers % table->column_count != 0)
        return es_error_set(error, -EINVAL, "\"%s\" does not consist of whole rows",
                            table->name);
    for (size_t i = 0; i < count; i++)
        if (!read_row(table->columns, table->column_count, list,
                      i * table->column_count, rows + i * table->row_bytes))
            return es_error_set(error, -EINVAL,
                                "row %zu of \"%s\" has impossible values", i,
                                table->name);
    memcpy((char *)ledger + table->count, &count, sizeof count);
    return 0;
}

static bool read_wait(const struct es_member *list, struct esi_ledger_wait *wait)
{
    size_t count = esi_member_count(list);
    int64_t number;

    if (count < COUNT(wait_columns) ||
        count > COUNT(wait_columns) + ESI_LEDGER_WAIT_HANDLES ||
        !read_row(wait_columns, COUNT(wait_columns), list, 0, wait))
        return false;
    wait->known = (uint32_t)(count - COUNT(wait_columns));
    for (uint32_t i = 0; i < wait->known; i++) {
        if (!esi_member_number(esi_member_at(list, COUNT(wait_columns) + i), &number))
            return false;
        wait->handles[i] = (uint64_t)number;
    }
    return wait->known <= wait->count;
}

static int read_waits(const struct es_member *object,
                      struct es_error *error,
                      struct esi_ledger *ledger)
{
    const struct es_member *list = esi_member_find(object, "waits");
    size_t count = esi_member_count(list);

    if (count == 0)
        return 0;
    ledger->waits = calloc(count, sizeof *ledger->waits);
    if (ledger->waits == NULL)
        return -ENOMEM;
    ledger->wait_capacity = count;
    for (size_t i = 0; i < count; i++)
        if (!read_wait(esi_member_at(list, i), &ledger->waits[i]))
            return es_error_set(error, -EINVAL, "wait %zu has impossible values", i);
    ledger->wait_count = count;
    return 0;
}

static void read_rest(const struct es_member *object, struct esi_ledger *ledger)
{
    const struct es_member *unfreed = esi_member_find(object, "unfreed");

    for (int i = 0; i < ESI_LEDGER_OBJECTS; i++)
        ledger->unfreed[i] = esi_member_counter(unfreed, object_names[i]);
    ledger->changes = esi_member_counter(object, "changes");
    ledger->error_class =
        (uint32_t)esi_member_integer_within(object, "error_class", 0, UINT32_MAX, 0);
    ledger->error_operation = (uint16_t)esi_member_integer_within(
        object, "error_operation", 0, UINT16_MAX, 0);
    snprintf(ledger->error_text, sizeof ledger->error_text, "%s",
             esi_member_text_or(object, "error_text", ""));
    ledger->concurrent = esi_member_boolean_or(object, "concurrent", false);
    ledger->others =
        (int)esi_member_integer_within(object, "others", -1, INT32_MAX, -1);
    ledger->others_counted = esi_member_counter(object, "others_counted");
    ledger->partial = esi_member_boolean_or(object, "partial", false);
}

int esi_ledger_json_read(const struct es_member *object,
                         struct es_error *error,
                         struct esi_ledger *ret_ledger)
{
    struct esi_ledger ledger = {.partial = false};
    int rc = 0;

    for (size_t i = 0; i < COUNT(tables) && rc == 0; i++)
        rc = read_table(&tables[i], object, error, &ledger);
    if (rc == 0)
        rc = read_waits(object, error, &ledger);
    if (rc < 0) {
        esi_ledger_fini(&ledger);
        return rc;
    }
    read_rest(object, &ledger);
    *ret_ledger = ledger;
    return 0;
}
