/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_world.c - the processes and communicators of an archive being read. */
#include "config.h"

#include "monitors/otf2/otf2_world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "eventspace/tuple.h"

/* Numbers ranks by the group of all ranks' locations, or else counts processes. */
static void rank_processes(struct esi_otf2_world *world)
{
    const struct esi_otf2_tables *tables = world->tables;
    const struct esi_otf2_row *ranks = esi_otf2_row(&tables->groups, tables->ranks);

    for (size_t i = 0; i < tables->processes.count; i++)
        world->ranks[i] = ranks ? -1 : (int32_t)i;
    for (uint32_t i = 0; ranks && i < ranks->count; i++) {
        const struct esi_otf2_row *location =
            esi_otf2_row(&tables->locations, ranks->members[i]);
        const struct esi_otf2_row *process =
            location ? esi_otf2_row(&tables->processes, location->refers) : NULL;

        if (process && world->ranks[process - tables->processes.rows] < 0)
            world->ranks[process - tables->processes.rows] = (int32_t)i;
    }
}

static int add_process(struct esi_otf2_world *world, size_t number)
{
    const struct esi_otf2_tables *tables = world->tables;
    const struct esi_otf2_row *process = &tables->processes.rows[number];
    const struct esi_otf2_row *node = esi_otf2_row(&tables->nodes, process->refers);
    const struct esi_otf2_row *host =
        node ? esi_otf2_row(&tables->texts, node->refers) : NULL;
    const struct esi_run_process config = {.host = host ? host->text : "",
                                           .rank = world->ranks[number],
                                           .identity = process->id};

    return esi_run_model_add_process(esi_causality_run(world->causality), &config,
                                     &world->processes[number]);
}

/* By rank, then by location. */
static int compare_locations(const void *left, const void *right, void *data)
{
    const struct esi_otf2_world *world = data;
    const struct esi_otf2_table *locations = &world->tables->locations;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    int32_t x = world->ranks[world->places[a].process];
    int32_t y = world->ranks[world->places[b].process];

    if (x != y)
        return x < y ? -1 : 1;
    return locations->rows[a].id < locations->rows[b].id ? -1 : 1;
}

/* Selects threads of ranks with events. */
static size_t choose_locations(struct esi_otf2_world *world, uint32_t *ret_sorted)
{
    const struct esi_otf2_tables *tables = world->tables;
    size_t count = 0;

    for (size_t i = 0; i < tables->locations.count; i++) {
        const struct esi_otf2_row *row = &tables->locations.rows[i];
        const struct esi_otf2_row *process =
            esi_otf2_row(&tables->processes, row->refers);

        if (!process || row->kind != OTF2_LOCATION_TYPE_CPU_THREAD || row->other == 0 ||
            world->ranks[process - tables->processes.rows] < 0)
            continue;
        world->places[i].is_used = true;
        world->places[i].process = (uint32_t)(process - tables->processes.rows);
        ret_sorted[count++] = (uint32_t)i;
    }
    qsort_r(ret_sorted, count, sizeof *ret_sorted, compare_locations, world);
    return count;
}

static int add_elements(struct esi_otf2_world *world,
                        const uint32_t *sorted,
                        size_t count)
{
    int thread = 0;
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        struct esi_otf2_place *location = &world->places[sorted[i]];

        thread = i > 0 && world->places[sorted[i - 1]].process == location->process
                     ? thread + 1
                     : 0;
        result = esi_causality_add_element(world->causality,
                                           world->processes[location->process], thread,
                                           &location->element);
    }
    return result;
}

/* The ranks of a group's members; caller frees.  NULL if out of memory.  EZTrace 2.0
 * uses the same number for the group of all ranks' locations and that of
 * MPI_COMM_WORLD. */
static int32_t *ranks_of(const struct esi_otf2_world *world,
                         const struct esi_otf2_row *group)
{
    const struct esi_otf2_row *all =
        esi_otf2_row(&world->tables->groups, world->tables->ranks);
    int32_t *ranks = calloc((size_t)group->count + 1, sizeof *ranks);

    for (uint32_t i = 0; ranks && i < group->count; i++) {
        uint64_t rank = group == all ? i : group->members[i];

        ranks[i] = all && rank < all->count ? (int32_t)rank : -1;
    }
    return ranks;
}

/* Adds one group of a communicator for its members. */
static int add_members(struct esi_otf2_world *world,
                       uint32_t row,
                       const struct esi_otf2_row *own,
                       const int32_t *ranks,
                       const struct esi_otf2_row *remote,
                       const int32_t *remote_ranks)
{
    const struct esi_otf2_row *communicator = &world->tables->communicators.rows[row];
    bool is_self = own->kind == OTF2_GROUP_TYPE_COMM_SELF;
    int result = 0;

    for (size_t i = 0; i < world->tables->processes.count && result == 0; i++) {
        int32_t rank = world->ranks[i];
        struct esi_run_reported told = {
            .key = {communicator->id + 1, is_self ? (uint64_t)rank + 2 : 1},
            .name = communicator->text,
            .size = is_self ? 1 : (int)own->count,
            .remote_size = remote ? (int)remote->count : 0,
            .world = is_self ? &rank : ranks,
            .remote_world = remote_ranks,
        };

        while (!is_self && told.rank < told.size && ranks[told.rank] != rank)
            told.rank++;
        if (rank >= 0 && told.rank < told.size)
            result = esi_run_model_set_communicator(esi_causality_run(world->causality),
                                                    world->processes[i], (uint16_t)row,
                                                    &told);
    }
    return result;
}

static int add_communicator(struct esi_otf2_world *world, uint32_t row)
{
    const struct esi_otf2_tables *tables = world->tables;
    const struct esi_otf2_row *communicator = &tables->communicators.rows[row];
    const struct esi_otf2_row *own =
        esi_otf2_row(&tables->groups, communicator->refers);
    const struct esi_otf2_row *remote =
        esi_otf2_row(&tables->groups, communicator->other);
    int32_t *ranks, *remote_ranks;
    int result;

    if (!own || (communicator->other != UINT64_MAX && !remote))
        return es_error_set(world->error, -EINVAL,
                            "%s: the group of communicator %" PRIu64 " is not defined",
                            world->path, communicator->id);
    ranks = ranks_of(world, own);
    remote_ranks = remote ? ranks_of(world, remote) : NULL;
    result = ranks && (!remote || remote_ranks) ? 0 : -ENOMEM;
    if (result == 0)
        result = add_members(world, row, own, ranks, remote, remote_ranks);
    if (result == 0 && remote)
        result = add_members(world, row, remote, remote_ranks, own, ranks);
    free(ranks);
    free(remote_ranks);
    return result;
}

static int add_all(struct esi_otf2_world *world, const uint32_t *sorted, size_t count)
{
    const struct esi_otf2_tables *tables = world->tables;
    int result = 0;

    for (size_t i = 0; i < tables->processes.count && result == 0; i++)
        result = add_process(world, i);
    if (result == 0)
        result = add_elements(world, sorted, count);
    for (uint32_t i = 0;
         i < tables->communicators.count && i < ES_COMMUNICATOR_NONE && result == 0;
         i++)
        result = add_communicator(world, i);
    return result;
}

int esi_otf2_world_make(struct esi_otf2_world *world)
{
    const struct esi_otf2_tables *tables = world->tables;
    uint32_t *sorted = calloc(tables->locations.count + 1, sizeof *sorted);
    size_t count;
    int result = 0;

    world->places = calloc(tables->locations.count + 1, sizeof *world->places);
    world->ranks = calloc(tables->processes.count + 1, sizeof *world->ranks);
    world->processes = calloc(tables->processes.count + 1, sizeof *world->processes);
    if (!sorted || !world->places || !world->ranks || !world->processes) {
        free(sorted);
        return -ENOMEM;
    }
    rank_processes(world);
    count = choose_locations(world, sorted);
    if (world->causality)
        result = add_all(world, sorted, count);
    free(sorted);
    return result;
}

void esi_otf2_world_fini(struct esi_otf2_world *world)
{
    free(world->places);
    free(world->ranks);
    free(world->processes);
}
