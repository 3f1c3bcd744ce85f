/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * dump_archive DIR - prints what our reader finds, for comparison with other readers:
 * time, operation, rank and start of each tuple, "lost N of rank R" for each loss, then
 * operations that were open at the end, and a line about the run.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "eventspace/operation.h"
#include "monitors/archive/archive_read.h"

static void print_item(const struct esi_archive_tables *tables,
                       const struct esi_archive_item *item)
{
    const struct esi_archive_element *element = &tables->elements[item->element];
    int rank = tables->processes[element->process].rank;

    if (item->lost > 0)
        printf("lost %" PRIu64 " of rank %d\n", item->lost, rank);
    else
        printf("%" PRIu64 " %s %d %" PRIu64 "\n", item->tuple.stop,
               es_operation_name(item->tuple.operation), rank, item->tuple.start);
}

static int dump(struct esi_archive_reader *reader, struct es_error *error)
{
    const struct esi_archive_tables *tables = esi_archive_tables(reader);
    struct esi_archive_merge *merge;
    struct esi_archive_item item;
    int result = esi_archive_merge_create(reader, error, &merge);

    if (result < 0)
        return result;
    while ((result = esi_archive_merge_next(merge, &item, error)) > 0)
        print_item(tables, &item);
    esi_archive_merge_destroy(merge);
    for (size_t i = 0; i < tables->open_count; i++)
        printf("open %s\n", es_operation_name(tables->open[i].tuple.operation));
    printf("run %s, %zu hosts, %zu processes, %s\n", tables->facts.run,
           tables->host_count, tables->process_count,
           tables->facts.ended_ns ? "ended" : "not ended");
    return result;
}

int main(int argc, char **argv)
{
    struct esi_archive_reader *reader;
    struct es_error error = {.text = ""};
    char text[1024];
    int result;

    if (argc != 2)
        return 2;
    result = esi_archive_open(argv[1], &error, &reader);
    if (result == 0) {
        result = dump(reader, &error);
        esi_archive_read_close(reader);
    }
    if (result < 0)
        fprintf(stderr, "%s\n", es_error_format(&error, text, sizeof text));
    return result < 0;
}
