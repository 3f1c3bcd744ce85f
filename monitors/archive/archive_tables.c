/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_tables.c - what an archive says beside its tuples, in memory. */
#include "config.h"

#include "monitors/archive/archive_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void es_archive_tables_init(struct es_archive_tables *tables)
{
    *tables = (struct es_archive_tables){.hosts = NULL};
}

void es_archive_tables_fini(struct es_archive_tables *tables)
{
    for (size_t i = 0; i < tables->process_count; i++)
        free(tables->processes[i].communicators);
    for (size_t i = 0; i < tables->group_count; i++)
        free(tables->groups[i].world);
    free(tables->hosts);
    free(tables->processes);
    free(tables->elements);
    free(tables->groups);
    free(tables->open);
    es_archive_tables_init(tables);
}

/* Room for one more item of `bytes` in an array of `count`: capacities are powers of
 * two.  NULL: no memory; the array stays as it is. */
static void *grown(void *items, size_t count, size_t bytes)
{
    if (count & (count - 1))
        return items;
    return reallocarray(items, count ? 2 * count : 1, bytes);
}

int es_archive_tables_host(struct es_archive_tables *tables,
                           const char *name,
                           uint32_t *ret_host)
{
    struct es_archive_host *hosts;
    size_t count = tables->host_count;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(tables->hosts[i].name, name) == 0) {
            *ret_host = (uint32_t)i;
            return 0;
        }
    }
    hosts = grown(tables->hosts, count, sizeof *hosts);
    if (!hosts)
        return -ENOMEM;
    tables->hosts = hosts;
    hosts[count] = (struct es_archive_host){.clock_known = false};
    strncpy(hosts[count].name, name, sizeof hosts[count].name - 1);
    *ret_host = (uint32_t)tables->host_count++;
    return 0;
}

int es_archive_tables_add_process(struct es_archive_tables *tables,
                                  const struct es_archive_process *process,
                                  uint32_t *ret_process)
{
    size_t count = tables->process_count;
    struct es_archive_process *processes =
        grown(tables->processes, count, sizeof *processes);

    if (!processes)
        return -ENOMEM;
    tables->processes = processes;
    processes[count] = *process;
    processes[count].communicators = NULL;
    processes[count].communicator_count = 0;
    *ret_process = (uint32_t)tables->process_count++;
    return 0;
}

int es_archive_tables_add_element(struct es_archive_tables *tables,
                                  const struct es_archive_element *element,
                                  uint32_t *ret_element)
{
    size_t count = tables->element_count;
    struct es_archive_element *elements =
        grown(tables->elements, count, sizeof *elements);

    if (!elements)
        return -ENOMEM;
    tables->elements = elements;
    elements[count] = *element;
    *ret_element = (uint32_t)tables->element_count++;
    return 0;
}

int es_archive_tables_set_communicator(
    struct es_archive_tables *tables,
    uint32_t process,
    uint16_t index,
    const struct es_archive_communicator *communicator)
{
    struct es_archive_process *owner = &tables->processes[process];
    size_t count = owner->communicator_count;
    struct es_archive_communicator *communicators;

    if (index < count) {
        owner->communicators[index] = *communicator;
        return 0;
    }
    if (index > count)
        return -EINVAL;
    communicators = grown(owner->communicators, count, sizeof *communicators);
    if (!communicators)
        return -ENOMEM;
    owner->communicators = communicators;
    communicators[owner->communicator_count++] = *communicator;
    return 0;
}

int es_archive_tables_add_group(struct es_archive_tables *tables,
                                const struct es_archive_group *group)
{
    size_t count = tables->group_count;
    struct es_archive_group *groups = grown(tables->groups, count, sizeof *groups);

    if (!groups)
        return -ENOMEM;
    tables->groups = groups;
    groups[count] = *group;
    groups[count].world = calloc(group->size + 1, sizeof *group->world);
    if (!groups[count].world)
        return -ENOMEM;
    if (group->size > 0)
        memcpy(groups[count].world, group->world, group->size * sizeof *group->world);
    tables->group_count++;
    return 0;
}

int es_archive_tables_add_open(struct es_archive_tables *tables,
                               const struct es_archive_open *open)
{
    size_t count = tables->open_count;
    struct es_archive_open *opens = grown(tables->open, count, sizeof *opens);

    if (!opens)
        return -ENOMEM;
    tables->open = opens;
    opens[tables->open_count++] = *open;
    return 0;
}

const struct es_archive_group *es_archive_tables_group(
    const struct es_archive_tables *tables,
    const struct es_archive_communicator *communicator,
    bool remote)
{
    int first = remote ? communicator->remote_first : communicator->first;
    int size = remote ? communicator->remote_size : communicator->size;

    for (size_t i = 0; i < tables->group_count && first >= 0; i++) {
        const struct es_archive_group *group = &tables->groups[i];

        if (group->key[0] == communicator->key[0] &&
            group->key[1] == communicator->key[1] && group->first == first &&
            group->size == (size_t)size)
            return group;
    }
    return NULL;
}
