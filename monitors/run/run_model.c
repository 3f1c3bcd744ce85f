/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_model.c - the processes, threads and communicators of a run. */
#include "config.h"

#include "monitors/run/run_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Bytes for the name of a communicator that has none yet. */
enum { NAME_BYTES = 64 };

static void free_process(struct esi_run_process *process)
{
    if (!process)
        return;
    for (size_t i = 0; i < process->member_count; i++)
        for (struct esi_run_member *member = process->members[i], *older; member;
             member = older) {
            older = member->older;
            free(member->neighbours);
            free(member);
        }
    free(process->members);
    free((char *)process->host);
    free(process);
}

static void free_communicator(struct esi_run_communicator *communicator)
{
    if (!communicator)
        return;
    free(communicator->name);
    free(communicator->world_ranks);
    free(communicator);
}

void esi_run_model_fini(struct esi_run_model *run)
{
    for (size_t i = 0; i < run->process_count; i++)
        free_process(run->processes[i]);
    for (size_t i = 0; i < run->thread_count; i++)
        free(run->threads[i]);
    for (size_t i = 0; i < run->communicator_count; i++)
        free_communicator(run->communicators[i]);
    free(run->processes);
    free(run->threads);
    free(run->communicators);
    free(run->slots);
    esi_hash_fini(&run->slot_numbers);
    esi_hash_fini(&run->process_numbers);
    esi_hash_fini(&run->communicator_numbers);
    *run = (struct esi_run_model){.processes = NULL};
}

/* --- Processes and threads -------------------------------------------------------- */

static uint64_t hash_rank(int rank)
{
    return esi_hash_u64((uint64_t)(uint32_t)rank);
}

/* Processes of a host are often added one after the other. */
static void number_clock(struct esi_run_model *run, struct esi_run_process *process)
{
    for (size_t i = run->process_count; i-- > 0;)
        if (run->processes[i]->clock_kind == process->clock_kind &&
            strcmp(run->processes[i]->host, process->host) == 0) {
            process->clock = run->processes[i]->clock;
            return;
        }
    process->clock = run->clock_count++;
}

int esi_run_model_add_process(struct esi_run_model *run,
                              const struct esi_run_process *known,
                              struct esi_run_process **ret_process)
{
    const char *host = known->host ? known->host : "";
    struct esi_run_process *made;
    unsigned world = 0;

    ESI_HASH_FOREACH(slot, &run->process_numbers, hash_rank(known->rank)) {
        struct esi_run_process *other =
            run->processes[esi_hash_index(&run->process_numbers, slot)];

        if (other->rank != known->rank)
            continue;
        if (other->identity == known->identity && strcmp(other->host, host) == 0) {
            *ret_process = other;
            return 0;
        }
        world++;
    }
    if (ESI_ARRAY_RESERVE(run->processes, run->process_capacity,
                          run->process_count + 1) < 0 ||
        esi_hash_reserve(&run->process_numbers, run->process_count + 1) < 0)
        return -ENOMEM;
    made = calloc(1, sizeof *made);
    if (!made || !(made->host = strdup(host))) {
        free(made);
        return -ENOMEM;
    }
    made->number = (uint32_t)run->process_count;
    made->rank = known->rank;
    made->world = world;
    made->identity = known->identity;
    made->clock_kind = known->clock_kind;
    number_clock(run, made);
    made->begun_ns = known->begun_ns;
    esi_hash_insert(&run->process_numbers, hash_rank(made->rank), made->number);
    run->processes[run->process_count++] = made;
    *ret_process = made;
    return 0;
}

int esi_run_model_add_thread(struct esi_run_model *run,
                             struct esi_run_process *process,
                             int thread,
                             struct esi_run_thread **ret_thread)
{
    struct esi_run_thread *found = process->threads;

    while (found && found->thread != thread)
        found = found->sibling;
    if (!found) {
        if (ESI_ARRAY_RESERVE(run->threads, run->thread_capacity,
                              run->thread_count + 1) < 0)
            return -ENOMEM;
        found = calloc(1, sizeof *found);
        if (!found)
            return -ENOMEM;
        *found = (struct esi_run_thread){.number = (uint32_t)run->thread_count,
                                         .thread = thread,
                                         .process = process,
                                         .sibling = process->threads};
        process->threads = found;
        run->threads[run->thread_count++] = found;
    }
    *ret_thread = found;
    return 0;
}

/* --- Communicators ---------------------------------------------------------------- */

static uint64_t hash_key(const uint64_t key[2])
{
    return esi_hash_mix(key[0], key[1]);
}

static uint32_t total_size(const struct esi_run_reported *reported)
{
    return (uint32_t)reported->size + (uint32_t)reported->remote_size;
}

/* World rank of the first member of a group; -1 = not known. */
static int32_t first_of(const int32_t *world, int first)
{
    return world && world[0] >= 0 ? world[0] : first;
}

static struct esi_run_communicator *make_communicator(
    struct esi_run_model *run,
    const struct esi_run_reported *reported,
    unsigned world)
{
    const char *name = reported->name ? reported->name : "";
    size_t length = strlen(name);
    struct esi_run_communicator *made;

    if (ESI_ARRAY_RESERVE(run->communicators, run->communicator_capacity,
                          run->communicator_count + 1) < 0 ||
        esi_hash_reserve(&run->communicator_numbers, run->communicator_count + 1) < 0)
        return NULL;
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct esi_run_communicator){
        .run = run,
        .number = (uint32_t)run->communicator_count,
        .world = world,
        .key = {reported->key[0], reported->key[1]},
        .parent = {reported->parent[0], reported->parent[1]},
        .name = calloc(1, length < NAME_BYTES ? NAME_BYTES : length + 1),
        .size = total_size(reported),
        .sizes = {(size_t)reported->size, (size_t)reported->remote_size},
        .between = reported->remote_size > 0,
        .has_sides = reported->remote_size == 0,
        .first = {-1, -1},
    };
    if (!made->name) {
        free_communicator(made);
        return NULL;
    }
    memcpy(made->name, name, length);
    esi_hash_insert(&run->communicator_numbers, hash_key(reported->key), made->number);
    run->communicators[run->communicator_count++] = made;
    return made;
}

static uint64_t hash_slot(const struct esi_run_communicator *communicator,
                          uint32_t slot)
{
    return esi_hash_u64((uint64_t)communicator->number << 32 | slot);
}

/* The process that is known in a slot; NULL = none. */
static struct esi_run_process *process_in(
    const struct esi_run_communicator *communicator,
    uint32_t slot)
{
    const struct esi_run_model *run = communicator->run;

    ESI_HASH_FOREACH(i, &run->slot_numbers, hash_slot(communicator, slot)) {
        const struct esi_run_member *member =
            run->slots[esi_hash_index(&run->slot_numbers, i)];

        if (member->communicator == communicator && member->slot == slot)
            return member->process;
    }
    return NULL;
}

/* Returns the communicator with this key in which the slot is free or belongs to the
 * process: if two worlds have the same key, each has its own communicator. */
static struct esi_run_communicator *join_communicator(
    struct esi_run_model *run,
    struct esi_run_process *process,
    const struct esi_run_reported *reported,
    uint32_t slot)
{
    unsigned world = 0;

    ESI_HASH_FOREACH(i, &run->communicator_numbers, hash_key(reported->key)) {
        struct esi_run_communicator *found =
            run->communicators[esi_hash_index(&run->communicator_numbers, i)];

        if (found->key[0] != reported->key[0] || found->key[1] != reported->key[1])
            continue;
        world++;
        if (found->size != total_size(reported) ||
            found->between != (reported->remote_size > 0))
            continue;
        if (slot == UINT32_MAX || !process_in(found, slot) ||
            process_in(found, slot) == process)
            return found;
    }
    return make_communicator(run, reported, world);
}

/* Adds the world ranks that a member reports of a side. */
static int record_ranks(struct esi_run_communicator *communicator,
                        unsigned side,
                        const int32_t *ranks,
                        int32_t first)
{
    size_t base = side ? communicator->sizes[0] : 0;
    bool is_whole = true;

    if (first >= 0)
        communicator->first[side] = first;
    if (!ranks)
        return 0;
    if (!communicator->world_ranks) {
        communicator->world_ranks =
            malloc(communicator->size * sizeof *communicator->world_ranks);
        if (!communicator->world_ranks)
            return -ENOMEM;
        memset(communicator->world_ranks, -1,
               communicator->size * sizeof *communicator->world_ranks);
    }
    for (size_t i = 0; i < communicator->sizes[side]; i++) {
        if (ranks[i] >= 0)
            communicator->world_ranks[base + i] = ranks[i];
        is_whole &= ranks[i] >= 0;
    }
    communicator->is_listed[side] |= is_whole;
    return 0;
}

/* Adds this membership unless it exists. */
static int set_member(struct esi_run_model *run,
                      uint16_t index,
                      const struct esi_run_member *member)
{
    struct esi_run_process *process = member->process;
    struct esi_run_member *current, *made;

    if (ESI_ARRAY_RESERVE(process->members, process->member_capacity,
                          (size_t)index + 1) < 0)
        return -ENOMEM;
    while (process->member_count <= index)
        process->members[process->member_count++] = NULL;
    current = process->members[index];
    if (current && current->communicator == member->communicator &&
        current->slot == member->slot) {
        current->freed |= member->freed;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(run->slots, run->slot_capacity, run->slot_count + 1) < 0 ||
        esi_hash_reserve(&run->slot_numbers, run->slot_count + 1) < 0)
        return -ENOMEM;
    made = malloc(sizeof *made);
    if (!made)
        return -ENOMEM;
    *made = *member;
    made->older = current;
    process->members[index] = made;
    if (made->slot != UINT32_MAX && !process_in(made->communicator, made->slot)) {
        esi_hash_insert(&run->slot_numbers, hash_slot(made->communicator, made->slot),
                        run->slot_count);
        run->slots[run->slot_count++] = made;
    }
    return 0;
}

int esi_run_model_set_communicator(struct esi_run_model *run,
                                   struct esi_run_process *process,
                                   uint16_t index,
                                   const struct esi_run_reported *reported)
{
    bool between = reported->remote_size > 0;
    int32_t first = first_of(reported->world, reported->first);
    int32_t remote_first = first_of(reported->remote_world, reported->remote_first);
    bool has_sides =
        !between || (first >= 0 && remote_first >= 0 && first != remote_first);
    unsigned side = between && has_sides && first > remote_first;
    uint32_t base = side ? (uint32_t)reported->remote_size : 0;
    struct esi_run_member member = {
        .process = process,
        .rank = reported->rank,
        .side = (uint8_t)side,
        .slot = UINT32_MAX,
        .freed = reported->freed,
    };
    int result;

    if (reported->size <= 0 || reported->remote_size < 0 ||
        reported->rank >= reported->size)
        return 0;
    if (has_sides) {
        if (reported->rank >= 0)
            member.slot = base + (uint32_t)reported->rank;
        member.peer_slot = between && !side ? (uint32_t)reported->size : 0;
        member.peers = (uint32_t)(between ? reported->remote_size : reported->size);
    }
    member.communicator = join_communicator(run, process, reported, member.slot);
    if (!member.communicator)
        return -ENOMEM;
    if (!member.communicator->name[0] && reported->name)
        snprintf(member.communicator->name, NAME_BYTES, "%s", reported->name);
    if (has_sides) {
        member.communicator->has_sides = true;
        member.communicator->sizes[side] = (size_t)reported->size;
        member.communicator->sizes[!side] = (size_t)reported->remote_size;
        result = record_ranks(member.communicator, side, reported->world, first);
        if (result == 0 && between)
            result = record_ranks(member.communicator, !side, reported->remote_world,
                                  remote_first);
        if (result < 0)
            return result;
    }
    return set_member(run, index, &member);
}

/* --- Asking ----------------------------------------------------------------------- */

int esi_run_slot_rank(const struct esi_run_communicator *communicator, uint32_t slot)
{
    const struct esi_run_process *process;

    if (slot >= communicator->size)
        return -1;
    process = process_in(communicator, slot);
    if (process)
        return process->rank;
    if (communicator->world_ranks && communicator->world_ranks[slot] >= 0)
        return communicator->world_ranks[slot];
    return slot == 0                        ? communicator->first[0]
           : slot == communicator->sizes[0] ? communicator->first[1]
                                            : -1;
}

int esi_run_peer_rank(const struct esi_run_member *member, int32_t peer)
{
    return esi_run_slot_rank(member->communicator, esi_run_peer_slot(member, peer));
}

struct esi_run_process *esi_run_slot_process(
    const struct esi_run_communicator *communicator,
    uint32_t slot)
{
    const struct esi_run_model *run = communicator->run;
    struct esi_run_process *known = process_in(communicator, slot);
    int rank;

    if (known)
        return known;
    rank = esi_run_slot_rank(communicator, slot);
    if (rank < 0)
        return NULL;
    ESI_HASH_FOREACH(i, &run->process_numbers, hash_rank(rank)) {
        struct esi_run_process *process =
            run->processes[esi_hash_index(&run->process_numbers, i)];

        if (process->rank == rank && process->world == communicator->world)
            return process;
    }
    return NULL;
}
