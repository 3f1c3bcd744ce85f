/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_process.c - processes, their threads, and their places in communicators. */
#include "config.h"

#include "monitors/causality/causal_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/causality/causal_private.h"

/* Bound of the difference between the clocks of two hosts.  If it is too large, losses
 * are detected late, which costs memory; if it is too small, edges are missing. */
#define MARGIN_NS UINT64_C(50000000)

int esi_trace_add(struct esi_causality *causality,
                  const char *name,
                  uint32_t *ret_trace)
{
    const struct es_set_sink *sink = &causality->config.sink;
    int result =
        sink->trace ? sink->trace(sink->data, causality->trace_count, name) : 0;

    if (result < 0)
        return result;
    *ret_trace = causality->trace_count++;
    return 0;
}

/* --- Processes -------------------------------------------------------------------- */

static struct esi_causal_process *make_process(
    const struct esi_causal_process_info *process)
{
    struct esi_causal_process *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->host = strdup(process->host ? process->host : "");
    made->rank = process->rank;
    made->identity = process->identity;
    made->begun_ns = process->begun_ns;
    if (!made->host) {
        free(made);
        return NULL;
    }
    return made;
}

static void destroy_process(struct esi_causal_process *process)
{
    for (size_t i = 0; i < process->view_count; i++)
        for (struct esi_view *view = process->views[i], *older; view; view = older) {
            older = view->older;
            free(view->neighbours);
            free(view);
        }
    free(process->views);
    free(process->host);
    free(process);
}

int esi_causality_add_process(struct esi_causality *causality,
                              const struct esi_causal_process_info *process,
                              uint32_t *ret_process)
{
    struct esi_causal_process *made;
    unsigned world = 0;

    for (size_t i = 0; i < causality->process_count; i++) {
        const struct esi_causal_process *other = causality->processes[i];

        if (other->rank != process->rank)
            continue;
        if (other->identity == process->identity &&
            strcmp(other->host, process->host ? process->host : "") == 0) {
            *ret_process = (uint32_t)i;
            return 0;
        }
        world++;
    }
    if (ESI_ARRAY_RESERVE(causality->processes, causality->process_room,
                          causality->process_count + 1) < 0)
        return -ENOMEM;
    made = make_process(process);
    if (!made)
        return -ENOMEM;
    made->world = world;
    *ret_process = (uint32_t)causality->process_count;
    causality->processes[causality->process_count++] = made;
    return 0;
}

void esi_causality_end_process(struct esi_causality *causality, uint32_t process)
{
    causality->processes[process]->ended = true;
}

/* --- Threads ---------------------------------------------------------------------- */

static int name_thread(struct esi_causality *causality,
                       struct esi_causal_thread *thread)
{
    char name[64];
    int length = thread->process->rank < 0
                     ? snprintf(name, sizeof name, "?.%d", thread->number)
                     : snprintf(name, sizeof name, "%d.%d", thread->process->rank,
                                thread->number);

    if (thread->process->world > 0)
        snprintf(name + length, sizeof name - (size_t)length, "#%u",
                 thread->process->world + 1);
    return esi_trace_add(causality, name, &thread->trace);
}

static int add_thread(struct esi_causality *causality,
                      struct esi_causal_process *process,
                      int number,
                      struct esi_causal_thread **ret_thread)
{
    struct esi_causal_thread *thread;
    int result;

    if (ESI_ARRAY_RESERVE(causality->threads, causality->thread_room,
                          causality->thread_count + 1) < 0)
        return -ENOMEM;
    thread = calloc(1, sizeof *thread);
    if (!thread)
        return -ENOMEM;
    thread->process = process;
    thread->number = number;
    thread->sorted = true;
    result = name_thread(causality, thread);
    if (result < 0) {
        free(thread);
        return result;
    }
    causality->threads[causality->thread_count++] = thread;
    thread->sibling = process->threads;
    process->threads = thread;
    *ret_thread = thread;
    return 0;
}

int esi_causality_add_element(struct esi_causality *causality,
                              uint32_t process,
                              int thread,
                              uint32_t *ret_element)
{
    struct esi_causal_process *of = causality->processes[process];
    struct esi_causal_thread *found = of->threads;
    struct esi_element *element;
    int result = 0;

    while (found && found->number != thread)
        found = found->sibling;
    if (!found)
        result = add_thread(causality, of, thread, &found);
    if (result < 0)
        return result;
    if (ESI_ARRAY_RESERVE(causality->elements, causality->element_room,
                          causality->element_count + 1) < 0)
        return -ENOMEM;
    element = calloc(1, sizeof *element);
    if (!element)
        return -ENOMEM;
    element->thread = found;
    element->last_ns = of->begun_ns;
    *ret_element = (uint32_t)causality->element_count;
    causality->elements[causality->element_count++] = element;
    return 0;
}

/* --- Communicators ---------------------------------------------------------------- */

static void free_communicator(struct esi_communicator *communicator)
{
    esi_series_destroy(communicator);
    free(communicator->name);
    free(communicator->members);
    free(communicator->world_ranks);
}

static uint32_t total_size(const struct esi_causal_communicator *told)
{
    return (uint32_t)(told->size + (told->remote_size > 0 ? told->remote_size : 0));
}

static struct esi_communicator *make_communicator(
    struct esi_ends *communicators,
    const struct esi_causal_communicator *told,
    const struct esi_ends_key *key)
{
    struct esi_communicator made = {.size = total_size(told),
                                    .between = told->remote_size > 0,
                                    .parent = {told->parent[0], told->parent[1]}};
    struct esi_communicator *added = NULL;

    made.name = strdup(told->name ? told->name : "");
    made.members = calloc(made.size, sizeof(struct esi_causal_process *));
    made.world_ranks = malloc(made.size * sizeof *made.world_ranks);
    if (made.name && made.members && made.world_ranks)
        added = esi_ends_add(communicators, key);
    if (!added) {
        free_communicator(&made);
        return NULL;
    }
    made.end = added->end;
    for (uint32_t i = 0; i < made.size; i++)
        made.world_ranks[i] = -1;
    *added = made;
    return added;
}

/* Returns the communicator with this key in which the slot is free or belongs to the
 * process: if two worlds have the same key, each has its own communicator. */
static struct esi_communicator *join_communicator(
    struct esi_causality *causality,
    struct esi_causal_process *process,
    const struct esi_causal_communicator *told,
    uint32_t slot)
{
    struct esi_ends *communicators = &causality->communicators;
    struct esi_ends_key key = {.communicator = {told->key[0], told->key[1]}};

    for (;; key.sequence++) {
        struct esi_communicator *found = esi_ends_find(communicators, &key);

        if (!found)
            found = make_communicator(communicators, told, &key);
        if (!found)
            return NULL;
        if (found->size != total_size(told) ||
            found->between != (told->remote_size > 0))
            continue;
        if (slot >= found->size)
            return found;
        if (!found->members[slot] || found->members[slot] == process) {
            found->members[slot] = process;
            return found;
        }
    }
}

static int reserve_views(struct esi_causal_process *process, uint16_t index)
{
    size_t count = (size_t)index + 1;

    if (ESI_ARRAY_RESERVE(process->views, process->view_room, count) < 0)
        return -ENOMEM;
    while (process->view_count < count)
        process->views[process->view_count++] = NULL;
    return 0;
}

/* First slots of the two groups. */
struct group_slots {
    bool known;
    uint32_t local;
    uint32_t remote;
};

/* In an intercommunicator, the group with the lower world rank comes first, so that all
 * members agree. */
static struct group_slots lay_out(const struct esi_causal_communicator *told)
{
    const int32_t *local = told->world;
    const int32_t *remote = told->remote_world;

    if (told->remote_size <= 0)
        return (struct group_slots){.known = true};
    if (!local || !remote || local[0] < 0 || remote[0] < 0 || local[0] == remote[0])
        return (struct group_slots){.known = false};
    return local[0] > remote[0]
               ? (struct group_slots){.known = true,
                                      .local = (uint32_t)told->remote_size}
               : (struct group_slots){.known = true, .remote = (uint32_t)told->size};
}

static void note_ranks(struct esi_communicator *communicator,
                       const int32_t *ranks,
                       uint32_t first,
                       int count)
{
    for (int i = 0; ranks && i < count; i++)
        if (ranks[i] >= 0)
            communicator->world_ranks[first + (uint32_t)i] = ranks[i];
}

/* Adds a view of this process unless it exists. */
static int add_view(struct esi_causal_process *process,
                    uint16_t index,
                    const struct esi_view *place)
{
    struct esi_view *current = process->views[index];
    struct esi_view *made;

    if (current && current->communicator == place->communicator &&
        current->slot == place->slot)
        return 0;
    made = malloc(sizeof *made);
    if (!made)
        return -ENOMEM;
    *made = *place;
    made->older = current;
    process->views[index] = made;
    return 0;
}

int esi_causality_set_communicator(struct esi_causality *causality,
                                   uint32_t process,
                                   uint16_t index,
                                   const struct esi_causal_communicator *told)
{
    struct esi_causal_process *of = causality->processes[process];
    struct group_slots slots = lay_out(told);
    bool between = told->remote_size > 0;
    struct esi_view place = {
        .slot = slots.known && told->rank >= 0 ? slots.local + (uint32_t)told->rank
                                               : UINT32_MAX,
        .peer_slot = between ? slots.remote : slots.local,
    };

    if (told->size <= 0 || told->rank >= told->size)
        return 0;
    if (reserve_views(of, index) < 0)
        return -ENOMEM;
    place.communicator = join_communicator(causality, of, told, place.slot);
    if (!place.communicator)
        return -ENOMEM;
    if (slots.known && between)
        place.communicator->first = slots.local > 0 ? slots.local : slots.remote;
    if (slots.known) {
        place.peers = (uint32_t)(between ? told->remote_size : told->size);
        note_ranks(place.communicator, told->world, slots.local, told->size);
        note_ranks(place.communicator, told->remote_world, slots.remote,
                   told->remote_size);
    }
    return add_view(of, index, &place);
}

void esi_causality_foreach_communicator(
    const struct esi_causality *causality,
    void (*visit)(void *data, const struct esi_causal_group *group),
    void *data)
{
    const struct esi_pool *records = &causality->communicators.records;

    for (size_t i = 0; i < records->made; i++) {
        const struct esi_communicator *communicator = esi_pool_at(records, i);
        const struct esi_ends_key *key = &communicator->end.key;
        const struct esi_causal_group group = {
            .name = communicator->name,
            .key = {key->communicator[0], key->communicator[1]},
            .parent = {communicator->parent[0], communicator->parent[1]},
            .world = communicator->world_ranks,
            .size = communicator->size,
            .first = communicator->first,
            .between = communicator->between,
        };

        visit(data, &group);
    }
}

struct esi_view *esi_process_view(const struct esi_causal_process *process,
                                  uint16_t index)
{
    return index < process->view_count ? process->views[index] : NULL;
}

bool esi_causality_has_communicator(const struct esi_causality *causality,
                                    uint32_t process,
                                    uint16_t index)
{
    return esi_process_view(causality->processes[process], index) != NULL;
}

uint32_t esi_view_peer(const struct esi_view *view, int32_t peer)
{
    if (peer < 0 || (uint32_t)peer >= view->peers)
        return UINT32_MAX;
    return view->peer_slot + (uint32_t)peer;
}

bool esi_view_channel(const struct esi_view *view,
                      int32_t peer,
                      bool sends,
                      struct esi_ends_key *ret_key)
{
    int32_t other = (int32_t)esi_view_peer(view, peer);
    int32_t own = (int32_t)view->slot;

    *ret_key = (struct esi_ends_key){
        .communicator = {view->communicator->end.index},
        .source = sends ? own : other,
        .destination = sends ? other : own,
    };
    return other >= 0 && own >= 0;
}

struct esi_communicator *esi_channel_communicator(const struct esi_causality *causality,
                                                  const struct esi_ends_key *key)
{
    return esi_pool_at(&causality->communicators.records, key->communicator[0]);
}

/* --- Losses ----------------------------------------------------------------------- */

int esi_member_rank(const struct esi_communicator *communicator, uint32_t slot)
{
    if (slot >= communicator->size)
        return -1;
    if (communicator->members[slot])
        return communicator->members[slot]->rank;
    return communicator->world_ranks[slot];
}

/* Finds a member, by its world rank, that has not used this communicator yet. */
static const struct esi_causal_process *find_member(
    const struct esi_causality *causality,
    const struct esi_communicator *communicator,
    uint32_t slot)
{
    int rank = esi_member_rank(communicator, slot);

    if (slot < communicator->size && communicator->members[slot])
        return communicator->members[slot];
    for (size_t i = 0; rank >= 0 && i < causality->process_count; i++)
        if (causality->processes[i]->rank == rank &&
            causality->processes[i]->world == communicator->end.key.sequence)
            return causality->processes[i];
    return NULL;
}

bool esi_member_has_passed(const struct esi_causality *causality,
                           const struct esi_communicator *communicator,
                           uint32_t slot,
                           uint64_t ns)
{
    const struct esi_causal_process *process =
        find_member(causality, communicator, slot);
    uint64_t bound = ns + MARGIN_NS;
    uint64_t patience = causality->config.patience_ns;

    if (causality->finished)
        return true;
    /* Members without new tuples are waited for only for a limited time. */
    if (causality->settled_ns > patience && causality->settled_ns - patience > bound)
        return true;
    if (!process || !process->threads)
        return false;
    if (process->ended)
        return true;
    for (const struct esi_causal_thread *thread = process->threads; thread;
         thread = thread->sibling)
        if (thread->settled_ns <= bound)
            return false;
    return true;
}

/* --- Destruction ------------------------------------------------------------------ */

void esi_processes_fini(struct esi_causality *causality)
{
    struct esi_pool *communicators = &causality->communicators.records;

    for (size_t i = 0; i < causality->element_count; i++)
        free(causality->elements[i]);
    free(causality->elements);
    for (size_t i = 0; i < causality->process_count; i++)
        destroy_process(causality->processes[i]);
    free(causality->processes);
    for (size_t i = 0; i < communicators->made; i++)
        free_communicator(esi_pool_at(communicators, i));
    esi_ends_fini(&causality->communicators);
}
