/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_follow.c - fills a model from the elements and communicators of a follower. */
#include "config.h"

#include "monitors/run/run_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "scopes/origin_process.h"

int esi_run_follow_process(struct esi_run_model *run,
                           const struct es_origin *origin,
                           struct esi_run_process **ret_process)
{
    const struct esi_run_process_config config = {
        .host = origin->host,
        .rank = origin->rank,
        .identity = esi_hash_mix((uint32_t)origin->pid, esi_origin_birth(origin)),
        .begun_ns = es_origin_run_ns(origin, origin->clock->base_ticks, NULL)};

    return esi_run_model_add_process(run, &config, ret_process);
}

/* A communicator of an element's process, and what it says of it. */
struct followed_communicator {
    const struct es_scope *scope;
    uint32_t origin;
    uint16_t index;
    bool everywhere;
    struct es_communicator_info info;
};

/* Reads the world ranks of a group, which the caller frees, if the process tells
 * them. */
static int read_side(const struct followed_communicator *of,
                     bool remote,
                     int32_t **ret_world)
{
    int size = remote ? of->info.remote_size : of->info.size;
    bool tells = of->info.rank == 0;
    int32_t *world;

    if (size <= 0 || (!tells && !of->everywhere))
        return 0;
    world = malloc((size_t)size * sizeof *world);
    if (!world)
        return -ENOMEM;
    for (int i = 0; i < size; i++) {
        int rank = es_scope_world_rank(of->scope, of->origin, of->index, remote, i);

        if (rank < 0 && !tells) {
            free(world);
            return 0;
        }
        world[i] = rank < 0 ? -1 : rank;
    }
    *ret_world = world;
    return 0;
}

int esi_run_follow_communicator(struct esi_run_model *run,
                                struct esi_follower *follower,
                                uint32_t origin,
                                struct esi_run_process *process,
                                uint16_t index,
                                bool everywhere)
{
    const struct es_communicator_info *info =
        esi_follower_communicator(follower, origin, index);
    struct followed_communicator of = {
        esi_follower_scope(follower), origin, index, everywhere, {.size = 0}};
    struct esi_run_told told;
    const struct esi_run_member *member;
    int32_t *local = NULL, *remote = NULL;
    int result;

    if (!info)
        return 0;
    of.info = *info; /* copied: it is valid until the next one is asked for */
    told = (struct esi_run_told){.key = {of.info.key[0], of.info.key[1]},
                                 .name = of.info.name,
                                 .rank = of.info.rank,
                                 .size = of.info.size,
                                 .remote_size = of.info.remote_size,
                                 .first = of.info.first,
                                 .remote_first = of.info.remote_first,
                                 .freed = of.info.freed};
    info = esi_follower_communicator(follower, origin, of.info.parent);
    if (info)
        memcpy(told.parent, info->key, sizeof told.parent);
    result = esi_run_model_set_communicator(run, process, index, &told);
    member = esi_run_member(process, index);
    if (result < 0 || !member)
        return result;
    if (!member->communicator->is_listed[member->side])
        result = read_side(&of, false, &local);
    if (result == 0 && !member->communicator->is_listed[!member->side])
        result = read_side(&of, true, &remote);
    told.world = local;
    told.remote_world = remote;
    if (result == 0 && (local || remote))
        result = esi_run_model_set_communicator(run, process, index, &told);
    free(local);
    free(remote);
    return result;
}
