/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_archive.c - converts the processes of an archive to the input of leaks.h. */
#include "config.h"

#include "monitors/latent/leaks_archive.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/archive/archive_records.h"
#include "monitors/sites/sites.h"
#include "tuplespace/process_state.h"

static struct esi_leak_communicator describe_row(
    const struct esi_archive_tables *tables,
    const struct esi_archive_communicator *row)
{
    const struct esi_archive_group *group =
        esi_archive_tables_group(tables, row, row->remote_size > 0);

    return (struct esi_leak_communicator){
        .key = {row->key[0], row->key[1]},
        .name = row->name[0] ? row->name : NULL,
        .rank = row->rank,
        .peers = group ? group->world : NULL,
        .peer_count = group ? group->size : 0,
    };
}

/* `*next` is where the next process's communicators go. */
static struct esi_leak_process describe_recorded(
    const struct esi_archive_tables *tables,
    size_t number,
    const struct esi_archive_records *ledgers,
    struct esi_leak_communicator **next)
{
    const struct esi_archive_process *process = &tables->processes[number];
    bool is_known = number < ledgers->count && ledgers->processes[number].is_known;
    struct esi_leak_process described = {
        .rank = process->rank,
        .finalized = esi_process_state_find(process->state) == ES_PROCESS_FINALIZED,
        .ledger = is_known ? &ledgers->processes[number].ledger : NULL,
        .communicators = *next,
        .communicator_count = process->communicator_count,
    };

    for (size_t i = 0; i < process->communicator_count; i++)
        *(*next)++ = describe_row(tables, &process->communicators[i]);
    return described;
}

static const char *name_site(void *data, size_t process, uint64_t address)
{
    return esi_sites_format_in(data, (int)process, address);
}

static int find_with_ledgers(const struct esi_archive_tables *tables,
                             const struct esi_archive_records *ledgers,
                             struct esi_sites *sites,
                             struct esi_leaks *ret_leaks)
{
    const struct esi_leak_sites names = {name_site, sites};
    struct esi_leak_communicator *communicators, *next;
    struct esi_leak_process *processes;
    size_t count = 0;
    int result = -ENOMEM;

    for (size_t i = 0; i < tables->process_count; i++)
        count += tables->processes[i].communicator_count;
    communicators = next = calloc(count + 1, sizeof *communicators);
    processes = calloc(tables->process_count + 1, sizeof *processes);
    if (communicators && processes) {
        for (size_t i = 0; i < tables->process_count; i++)
            processes[i] = describe_recorded(tables, i, ledgers, &next);
        result = esi_leaks_find(processes, tables->process_count, &names, ret_leaks);
    }
    free(communicators);
    free(processes);
    return result;
}

int esi_leaks_find_in_archive(const struct esi_archive_reader *reader,
                              struct esi_sites *sites,
                              struct es_error *error,
                              struct esi_leaks *ret_leaks)
{
    struct esi_archive_records ledgers = {.processes = NULL};
    int result = esi_archive_read_records(reader, ESI_RECORD_LEDGER, error, &ledgers);

    if (result < 0 && result != -ENOENT)
        return result;
    result = find_with_ledgers(esi_archive_tables(reader), &ledgers, sites, ret_leaks);
    esi_archive_records_fini(&ledgers);
    return result;
}
