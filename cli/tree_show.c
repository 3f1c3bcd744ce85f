/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The collective trees in force, printed. */
#include "config.h"

#include "cli/tree_show.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "base/table.h"
#include "tuplespace/plan/tree_rules.h"

#define ANY_BYTES "0-"

/* "allreduce,ibcast", or a word where it is all of them.  Returns `out`. */
static const char *format_operations(uint32_t operations, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    if (operations == ES_TREE_ALL || operations == ES_TREE_ALL_BLOCKING) {
        snprintf(out, size, operations == ES_TREE_ALL ? "all" : "blocking");
        return out;
    }
    for (uint32_t bit = 1; bit <= ES_TREE_ALL && used < size; bit <<= 1)
        if ((operations & bit) != 0)
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                                     used > 0 ? "," : "", esi_tree_operation_name(bit));
    return out;
}

static const char *name_of(const struct esi_tree_row *row)
{
    return row->communicator[0] ? row->communicator : "-";
}

static bool is_tree(const struct esi_tree_row *row)
{
    return row->has_rule && strcmp(row->tree, "library") != 0;
}

static void print_row_json(struct esi_json_out *out,
                           const struct esi_tree_row *row,
                           const char *run)
{
    struct esi_tree_rule bytes;

    esi_tree_rule_init(&bytes, ES_TREE_LIBRARY);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", "tree");
    esi_json_out_string(out, "run", run);
    esi_json_out_string(out, "communicator", row->communicator);
    esi_json_out_signed(out, "size", row->size);
    esi_json_out_signed(out, "rank", row->rank);
    esi_json_out_string(out, "tree", row->has_rule ? row->tree : "library");
    if (row->has_rule) {
        esi_json_out_string(out, "rule", row->name);
        esi_json_out_begin_array(out, "operations");
        for (uint32_t bit = 1; bit <= ES_TREE_ALL; bit <<= 1)
            if ((row->operations & bit) != 0)
                esi_json_out_string(out, NULL, esi_tree_operation_name(bit));
        esi_json_out_end(out);
        esi_tree_rule_parse_bytes(row->bytes, NULL, &bytes);
        esi_json_out_unsigned(out, "min_bytes", bytes.min_bytes);
        if (bytes.max_bytes != UINT64_MAX)
            esi_json_out_unsigned(out, "max_bytes", bytes.max_bytes);
        esi_json_out_signed(out, "since", row->since);
    }
    esi_json_out_unsigned(out, "version", row->version);
    esi_json_out_unsigned(out, "wish", row->wish);
    esi_json_out_end(out);
}

static void add_row(struct es_table *table, const struct esi_tree_row *row)
{
    char operations[160];

    esi_text_table_cell(table, "%s", name_of(row));
    esi_text_table_cell(table, "%d", row->size);
    if (!row->has_rule) {
        esi_text_table_cell(table, "-");
        esi_text_table_cell(table, "-");
        esi_text_table_cell(table, "library");
        esi_text_table_cell(table, "-");
    } else {
        esi_text_table_cell(
            table, "%s",
            format_operations(row->operations, operations, sizeof operations));
        esi_text_table_cell(table, "%s",
                            strcmp(row->bytes, ANY_BYTES) == 0 ? "any" : row->bytes);
        esi_text_table_cell(table, "%s", row->tree);
        esi_text_table_cell(table, "%s", row->name[0] ? row->name : "-");
    }
    esi_text_table_cell(
        table, "%" PRIu32 "%s", row->version,
        row->alive && row->size > 1 && row->wish != row->version ? " (waits)" : "");
    if (row->has_rule)
        esi_text_table_cell(table, "%" PRId64, row->since);
    else
        esi_text_table_cell(table, "-");
}

static int show_text(const struct esi_tree_rows *rows)
{
    static const struct esi_text_table_column columns[] = {
        {"COMMUNICATOR", ES_TABLE_LEFT, 12}, {"RANKS", ES_TABLE_RIGHT, 0},
        {"OPERATIONS", ES_TABLE_LEFT, 10},   {"BYTES", ES_TABLE_LEFT, 0},
        {"TREE", ES_TABLE_LEFT, 12},         {"RULE", ES_TABLE_LEFT, 8},
        {"VERSION", ES_TABLE_LEFT, 0},       {"SINCE", ES_TABLE_RIGHT, 0},
    };
    struct es_table *table;
    int code =
        esi_text_table_create(columns, sizeof columns / sizeof columns[0], &table);

    if (code < 0)
        return code;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].size > 1 || rows->rows[i].has_rule)
            add_row(table, &rows->rows[i]);
    code = esi_text_table_print(table, stdout, esi_text_table_width(stdout));
    esi_text_table_destroy(table);
    return code;
}

int esi_tree_show(const struct esi_tree_rows *rows,
                  const char *run,
                  enum esi_format format)
{
    struct esi_json_out out;

    if (format == ES_FORMAT_TEXT)
        return show_text(rows);
    esi_json_out_init(&out, stdout);
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].size > 1 || rows->rows[i].has_rule)
            print_row_json(&out, &rows->rows[i], run);
    return 0;
}

static void print_line(const struct esi_tree_row *row)
{
    char operations[160];

    esi_plain_print(stdout, "%s: %s for %s operations", name_of(row), row->tree,
                    format_operations(row->operations, operations, sizeof operations));
    if (strcmp(row->bytes, ANY_BYTES) != 0)
        esi_plain_print(stdout, " of %s bytes", row->bytes);
    putchar('\n');
}

void esi_tree_list(const struct esi_tree_rows *rows,
                   const char *run,
                   enum esi_format format)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stdout);
    for (size_t i = 0; i < rows->count; i++) {
        const struct esi_tree_row *row = &rows->rows[i];
        if (!is_tree(row))
            continue;
        if (format == ES_FORMAT_JSON)
            print_row_json(&out, row, run);
        else
            print_line(row);
    }
}
