/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Prints the collective trees in force. */
#include "config.h"

#include "cli/tree_show.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "base/rows.h"
#include "tuplespace/plan/tree_rules.h"

#define ANY_BYTES "0-"

/* "allreduce,ibcast", or one word for all of them.  Returns `out`. */
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

/* A tree in force and its run. */
struct tree_record {
    const struct esi_tree_row *tree;
    const char *run;
};

/* For JSON only. */
static void describe_rule(struct esi_row *row, const struct esi_tree_row *tree)
{
    struct esi_tree_rule bytes;

    esi_tree_rule_init(&bytes, ES_TREE_LIBRARY);
    esi_tree_rule_parse_bytes(tree->bytes, NULL, &bytes);
    esi_row_text(row, "rule", NULL, tree->name);
    esi_row_begin_array(row, "operations");
    for (uint32_t bit = 1; bit <= ES_TREE_ALL; bit <<= 1)
        if ((tree->operations & bit) != 0)
            esi_row_text(row, NULL, NULL, esi_tree_operation_name(bit));
    esi_row_end(row);
    esi_row_unsigned(row, "min_bytes", NULL, bytes.min_bytes);
    if (bytes.max_bytes != UINT64_MAX)
        esi_row_unsigned(row, "max_bytes", NULL, bytes.max_bytes);
    esi_row_signed(row, "since", NULL, tree->since);
}

static void describe_tree(struct esi_row *row, const void *record)
{
    const struct tree_record *shown = record;
    const struct esi_tree_row *tree = shown->tree;
    bool is_rule = tree->has_rule;
    bool is_behind = tree->alive && tree->size > 1 && tree->wish != tree->version;
    char operations[160];

    esi_row_text(row, "type", NULL, "tree");
    esi_row_text(row, "run", NULL, shown->run);
    esi_row_words(row, "COMMUNICATOR", 12, "%s", name_of(tree));
    esi_row_text(row, "communicator", NULL, tree->communicator);
    esi_row_signed(esi_row_minor(row, 5), "size", "RANKS", tree->size);
    esi_row_signed(row, "rank", NULL, tree->rank);
    esi_row_words(esi_row_minor(esi_row_if(row, is_rule), 1), "OPERATIONS", 10, "%s",
                  format_operations(tree->operations, operations, sizeof operations));
    esi_row_words(esi_row_minor(esi_row_if(row, is_rule), 2), "BYTES", 0, "%s",
                  strcmp(tree->bytes, ANY_BYTES) == 0 ? "any" : tree->bytes);
    esi_row_long_text(row, "tree", "TREE", 12, is_rule ? tree->tree : "library");
    esi_row_words(esi_row_minor(esi_row_if(row, is_rule && tree->name[0]), 6), "RULE",
                  8, "%s", tree->name);
    if (is_rule && esi_row_is_json(row))
        describe_rule(row, tree);
    esi_row_words(esi_row_minor(row, 3), "VERSION", 0, "%" PRIu32 "%s", tree->version,
                  is_behind ? " (waits)" : "");
    esi_row_signed(esi_row_minor(esi_row_if(row, is_rule), 4), NULL, "SINCE",
                   tree->since);
    esi_row_unsigned(row, "version", NULL, tree->version);
    esi_row_unsigned(row, "wish", NULL, tree->wish);
}

int esi_tree_show(const struct esi_tree_rows *trees,
                  const char *run,
                  enum esi_format format)
{
    const struct esi_tree_row none = {.size = 0};
    struct esi_rows rows;

    esi_rows_init(&rows, esi_format_rows(format), stdout, describe_tree);
    int code = esi_rows_begin(&rows, &(struct tree_record){&none, run});
    if (code < 0)
        return code;
    for (size_t i = 0; i < trees->count; i++)
        if (trees->rows[i].size > 1 || trees->rows[i].has_rule)
            esi_rows_add(&rows, &(struct tree_record){&trees->rows[i], run});
    return esi_rows_finish(&rows);
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

void esi_tree_list(const struct esi_tree_rows *trees,
                   const char *run,
                   enum esi_format format)
{
    for (size_t i = 0; i < trees->count; i++) {
        const struct tree_record record = {&trees->rows[i], run};
        if (!is_tree(record.tree))
            continue;
        if (format == ES_FORMAT_JSON)
            esi_rows_print_json(stdout, describe_tree, &record);
        else
            print_line(record.tree);
    }
}
