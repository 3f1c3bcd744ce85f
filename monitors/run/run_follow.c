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
    const struct esi_run_process config = {
        .host = origin->host,
        .clock_kind = origin->clock->kind,
        .rank = origin->rank,
        .identity = esi_hash_mix((uint32_t)origin->pid, esi_origin_birth(origin)),
        .begun_ns = es_origin_run_ns(origin, origin->clock->base_ticks, NULL)};

    return esi_run_model_add_process(run, &config, ret_process);
}

/* Reads the world ranks of a group, which the caller frees.  Rank 0 of a group may not
 * know all of them; what others do not know at once is left to it. */
static int read_side(const struct es_scope *scope,
                     uint32_t origin,
                     uint16_t index,
                     const struct es_communicator_info *info,
                     bool remote,
                     int32_t **ret_world)
{
    int size = remote ? info->remote_size : info->size;
    int32_t *world = size > 0 ? malloc((size_t)size * sizeof *world) : NULL;

    if (!world)
        return size > 0 ? -ENOMEM : 0;
    for (int i = 0; i < size; i++) {
        int rank = es_scope_world_rank(scope, origin, index, remote, i);

        if (rank < 0 && info->rank != 0) {
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
    const struct es_scope *scope = esi_follower_scope(follower);
    const struct es_communicator_info *known =
        esi_follower_communicator(follower, origin, index);
    struct es_communicator_info info;
    struct esi_run_reported reported;
    const struct esi_run_member *member;
    int32_t *local = NULL, *remote = NULL;
    int result;

    if (!known)
        return 0;
    info = *known; /* copied: it is valid until the next one is asked for */
    reported = (struct esi_run_reported){.key = {info.key[0], info.key[1]},
                                         .name = info.name,
                                         .rank = info.rank,
                                         .size = info.size,
                                         .remote_size = info.remote_size,
                                         .first = info.first,
                                         .remote_first = info.remote_first,
                                         .freed = info.freed};
    known = esi_follower_communicator(follower, origin, info.parent);
    if (known)
        memcpy(reported.parent, known->key, sizeof reported.parent);
    result = esi_run_model_set_communicator(run, process, index, &reported);
    member = esi_run_member(process, index);
    if (result < 0 || !member || (info.rank != 0 && !everywhere))
        return result;
    if (!member->communicator->is_listed[member->side])
        result = read_side(scope, origin, index, &info, false, &local);
    if (result == 0 && !member->communicator->is_listed[!member->side])
        result = read_side(scope, origin, index, &info, true, &remote);
    reported.world = local;
    reported.remote_world = remote;
    if (result == 0 && (local || remote))
        result = esi_run_model_set_communicator(run, process, index, &reported);
    free(local);
    free(remote);
    return result;
}
