/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_process.c - processes, their threads, and their places in communicators. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/causality/causal_private.h"

/* How far clocks of two hosts may be apart: what is told too late about a loss costs
 * memory, too early an edge. */
#define MARGIN_NS UINT64_C(50000000)

/* Appends a pointer to an array that grows at the powers of two. */
static int append_item(void *array, size_t *count, void *item)
{
    void **items = *(void ***)array;

    if ((*count & (*count - 1)) == 0) {
        items = realloc(items, (*count ? *count * 2 : 1) * sizeof *items);
        if (!items)
            return -ENOMEM;
        *(void ***)array = items;
    }
    items[(*count)++] = item;
    return 0;
}

int esi_trace_add(struct esi_causality *causality,
                  const char *name,
                  uint32_t *ret_trace)
{
    int result = causality->config.sink.trace(causality->config.sink.data,
                                              causality->trace_count, name);

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
    if (!made->host) {
        free(made);
        return NULL;
    }
    return made;
}

void esi_process_destroy(struct esi_causal_process *process)
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
    made = make_process(process);
    if (!made)
        return -ENOMEM;
    made->world = world;
    if (append_item(&causality->processes, &causality->process_count, made) < 0) {
        esi_process_destroy(made);
        return -ENOMEM;
    }
    *ret_process = (uint32_t)(causality->process_count - 1);
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
    struct esi_causal_thread *thread = calloc(1, sizeof *thread);
    int result;

    if (!thread)
        return -ENOMEM;
    thread->process = process;
    thread->number = number;
    thread->sorted = true;
    result = append_item(&causality->threads, &causality->thread_count, thread);
    if (result < 0) {
        free(thread);
        return result;
    }
    result = name_thread(causality, thread);
    if (result < 0) {
        causality->thread_count--;
        free(thread);
        return result;
    }
    thread->sibling = process->threads;
    process->threads = thread;
    *ret_thread = thread;
    return 0;
}

int esi_causality_add_element(struct esi_causality *causality,
                              uint32_t process,
                              int thread,
                              uint32_t classes,
                              uint32_t *ret_element)
{
    struct esi_causal_process *of = causality->processes[process];
    struct esi_causal_thread *found = of->threads;
    struct esi_element *element;
    int result = 0;

    (void)classes;
    while (found && found->number != thread)
        found = found->sibling;
    if (!found)
        result = add_thread(causality, of, thread, &found);
    if (result < 0)
        return result;
    element = calloc(1, sizeof *element);
    if (!element)
        return -ENOMEM;
    element->thread = found;
    if (append_item(&causality->elements, &causality->element_count, element) < 0) {
        free(element);
        return -ENOMEM;
    }
    *ret_element = (uint32_t)(causality->element_count - 1);
    return 0;
}

/* --- Communicators ---------------------------------------------------------------- */

void esi_communicator_destroy(struct esi_communicator *communicator)
{
    free(communicator->name);
    free(communicator->members);
    free(communicator->world_ranks);
    free(communicator);
}

/* Which of an intercommunicator's groups is the first, so that all say the same: that
 * of the lower world rank.  -1 = not known. */
static int group_of(const struct esi_causal_communicator *told)
{
    if (told->remote_size <= 0)
        return 0;
    if (!told->world || !told->remote_world || told->world[0] < 0 ||
        told->remote_world[0] < 0 || told->world[0] == told->remote_world[0])
        return -1;
    return told->world[0] > told->remote_world[0];
}

static struct esi_communicator *make_communicator(
    struct esi_causality *causality,
    const struct esi_causal_communicator *told,
    uint64_t hash,
    uint32_t world)
{
    struct esi_communicator *made = calloc(1, sizeof *made);
    int remote = told->remote_size > 0 ? told->remote_size : 0;

    if (!made)
        return NULL;
    made->key[0] = told->key[0];
    made->key[1] = told->key[1];
    made->world = world;
    made->between = remote > 0;
    made->size = (uint32_t)(told->size + remote);
    made->first_size = (uint32_t)(group_of(told) == 1 ? remote : told->size);
    made->name = strdup(told->name ? told->name : "");
    made->members = calloc(made->size, sizeof(struct esi_causal_process *));
    made->world_ranks = malloc(made->size * sizeof *made->world_ranks);
    if (!made->name || !made->members || !made->world_ranks) {
        esi_communicator_destroy(made);
        return NULL;
    }
    for (uint32_t i = 0; i < made->size; i++)
        made->world_ranks[i] = -1;
    esi_table_insert(&causality->communicators, &made->link, hash);
    return made;
}

static struct esi_communicator *find_communicator(
    const struct esi_causality *causality,
    const struct esi_causal_communicator *told,
    uint64_t hash,
    uint32_t world)
{
    struct esi_link *link = esi_table_chain(&causality->communicators, hash);

    for (; link; link = link->next) {
        struct esi_communicator *found = (struct esi_communicator *)link;

        if (link->hash == hash && found->key[0] == told->key[0] &&
            found->key[1] == told->key[1] && found->world == world)
            return found;
    }
    return NULL;
}

/* The communicator of this key in which the slot is free or the process's own: where
 * two worlds have the same key each of them has its own. */
static struct esi_communicator *join_communicator(
    struct esi_causality *causality,
    struct esi_causal_process *process,
    const struct esi_causal_communicator *told,
    uint32_t slot)
{
    uint32_t total =
        (uint32_t)(told->size + (told->remote_size > 0 ? told->remote_size : 0));

    for (uint32_t world = 0;; world++) {
        uint64_t hash = esi_hash_mix(esi_hash_mix(told->key[0], told->key[1]), world);
        struct esi_communicator *found =
            find_communicator(causality, told, hash, world);

        if (!found)
            found = make_communicator(causality, told, hash, world);
        if (!found)
            return NULL;
        if (found->size != total || found->between != (told->remote_size > 0))
            continue;
        if (slot >= total)
            return found;
        if (!found->members[slot] || found->members[slot] == process) {
            found->members[slot] = process;
            return found;
        }
    }
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

static int reserve_views(struct esi_causal_process *process, uint16_t index)
{
    size_t count = (size_t)index + 8;
    struct esi_view **more;

    if (index < process->view_count)
        return 0;
    more = realloc(process->views, count * sizeof(struct esi_view *));
    if (!more)
        return -ENOMEM;
    memset(more + process->view_count, 0,
           (count - process->view_count) * sizeof(struct esi_view *));
    process->views = more;
    process->view_count = count;
    return 0;
}

static void place_view(struct esi_view *view,
                       const struct esi_causal_communicator *told)
{
    int group = group_of(told);
    uint32_t local_first = group == 1 ? (uint32_t)told->remote_size : 0;
    uint32_t remote_first = group == 1 ? 0 : (uint32_t)told->size;

    view->rank = told->rank;
    view->slot =
        group < 0 || told->rank < 0 ? UINT32_MAX : local_first + (uint32_t)told->rank;
    view->peer_slot = told->remote_size > 0 ? remote_first : local_first;
    view->peers = (uint32_t)(told->remote_size > 0 ? told->remote_size : told->size);
    if (group < 0)
        view->peers = 0;
}

static int add_view(struct esi_causality *causality,
                    struct esi_causal_process *process,
                    uint16_t index,
                    const struct esi_causal_communicator *told,
                    const struct esi_view *place)
{
    struct esi_view *current = process->views[index];
    struct esi_communicator *communicator =
        join_communicator(causality, process, told, place->slot);
    int group = group_of(told);

    if (!communicator)
        return -ENOMEM;
    if (group >= 0) {
        note_ranks(communicator, told->world,
                   group == 1 ? (uint32_t)told->remote_size : 0, told->size);
        note_ranks(communicator, told->remote_world,
                   group == 1 ? 0 : (uint32_t)told->size, told->remote_size);
    }
    if (!current || current->communicator != communicator ||
        current->slot != place->slot) {
        struct esi_view *made = calloc(1, sizeof *made);

        if (!made)
            return -ENOMEM;
        *made = *place;
        made->communicator = communicator;
        made->older = current;
        process->views[index] = made;
    }
    return 0;
}

int esi_causality_set_communicator(struct esi_causality *causality,
                                   uint32_t process,
                                   uint16_t index,
                                   const struct esi_causal_communicator *communicator)
{
    struct esi_causal_process *of = causality->processes[process];
    struct esi_view place = {.slot = UINT32_MAX};

    if (communicator->size <= 0 || communicator->rank >= communicator->size)
        return 0;
    if (reserve_views(of, index) < 0)
        return -ENOMEM;
    place_view(&place, communicator);
    return add_view(causality, of, index, communicator, &place);
}

struct esi_view *esi_process_view(const struct esi_causal_process *process,
                                  uint16_t index)
{
    return index < process->view_count ? process->views[index] : NULL;
}

uint32_t esi_view_peer(const struct esi_view *view, int32_t peer)
{
    if (peer < 0 || (uint32_t)peer >= view->peers)
        return UINT32_MAX;
    return view->peer_slot + (uint32_t)peer;
}

/* --- What is lost ----------------------------------------------------------------- */

int esi_member_rank(const struct esi_communicator *communicator, uint32_t slot)
{
    if (slot >= communicator->size)
        return -1;
    if (communicator->members[slot])
        return communicator->members[slot]->rank;
    return communicator->world_ranks[slot];
}

/* A member that has said nothing on this communicator yet, by its world rank. */
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
            causality->processes[i]->world == communicator->world)
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
    /* Who is silent is waited for, but not for ever. */
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
