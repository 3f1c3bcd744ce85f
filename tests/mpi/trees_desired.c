/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * trees_desired RUN TEXT   sets the desired tree rules in all processes of a run on
 *                          this host
 * trees_desired RUN        prints the trees that were in force: rank, communicator,
 *                          version, first instance, name, rule
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "eventspace/run.h"
#include "tuplespace/tree_control.h"

static int wish(const struct es_run *run, const char *text)
{
    size_t count = es_run_segment_count(run);

    for (size_t i = 0; i < count; i++) {
        int version = esi_segment_view_desired(es_run_segment(run, i), text);

        if (version < 0) {
            fprintf(stderr, "trees_desired: %s\n", strerror(-version));
            return 1;
        }
    }
    printf("%zu processes\n", count);
    return count == 0;
}

static void print_log(const struct es_segment_view *segment)
{
    static struct esi_tree_log_entry entries[ES_TREE_LOG_ENTRIES];
    struct es_segment_info info;
    size_t count = esi_segment_view_tree_log(segment, entries, ES_TREE_LOG_ENTRIES);

    es_segment_view_info(segment, &info);
    for (size_t i = 0; i < count; i++)
        printf("%d\t%u\t%u\t%u\t%s\t%s\n", info.rank, entries[i].communicator,
               entries[i].version, entries[i].first_instance, entries[i].name,
               entries[i].text);
}

int main(int argc, char **argv)
{
    struct es_error error = {.line = 0};
    struct es_run *run;
    int result = 0;

    if (argc < 2 || es_run_open(argv[1], &error, &run) < 0) {
        fprintf(stderr, "trees_desired: %s\n", error.text);
        return 2;
    }
    if (argc > 2)
        result = wish(run, argv[2]);
    else
        for (size_t i = 0; i < es_run_segment_count(run); i++)
            print_log(es_run_segment(run, i));
    es_run_close(run);
    return result;
}
