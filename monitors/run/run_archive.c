/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_archive.c - fills a model from the tables of an archive. */
#include "config.h"

#include "monitors/run/run_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* World ranks of a group; NULL = it is not listed, or with another size. */
static const int32_t *world_of(const struct esi_archive_tables *tables,
                               const struct esi_archive_communicator *row,
                               bool remote)
{
    const struct esi_archive_group *group =
        esi_archive_tables_group(tables, row, remote);

    return group && group->size == (size_t)(remote ? row->remote_size : row->size)
               ? group->world
               : NULL;
}

static int add_communicators(struct esi_run_model *run,
                             const struct esi_archive_tables *tables,
                             const struct esi_archive_process *row,
                             struct esi_run_process *process)
{
    int result = 0;

    for (size_t i = 0; i < row->communicator_count && result == 0; i++) {
        const struct esi_archive_communicator *of = &row->communicators[i];
        struct esi_run_reported reported = {
            .key = {of->key[0], of->key[1]},
            .name = of->name,
            .rank = of->rank,
            .size = of->size,
            .remote_size = of->remote_size,
            .first = of->first,
            .remote_first = of->remote_first,
            .world = world_of(tables, of, false),
            .remote_world = of->remote_size > 0 ? world_of(tables, of, true) : NULL,
            .freed = of->freed,
        };

        if (of->parent < row->communicator_count)
            memcpy(reported.parent, row->communicators[of->parent].key,
                   sizeof reported.parent);
        result = esi_run_model_set_communicator(run, process, (uint16_t)i, &reported);
    }
    return result;
}

int esi_run_read_archive(struct esi_run_model *run,
                         const struct esi_archive_tables *tables,
                         struct esi_run_process ***ret_processes)
{
    struct esi_run_process **processes =
        calloc(tables->process_count + 1, sizeof *processes);
    int result = processes ? 0 : -ENOMEM;

    for (size_t i = 0; i < tables->process_count && result == 0; i++) {
        const struct esi_archive_process *row = &tables->processes[i];
        const struct esi_run_process config = {
            .host = tables->hosts[row->host].name,
            .rank = row->rank,
            .identity = row->clock.base_ticks ^ (uint64_t)(uint32_t)row->pid << 32,
            .begun_ns = row->clock.base_realtime_ns,
        };

        result = esi_run_model_add_process(run, &config, &processes[i]);
        if (result == 0)
            result = add_communicators(run, tables, row, processes[i]);
    }
    if (result < 0) {
        free(processes);
        return result;
    }
    *ret_processes = processes;
    return 0;
}
