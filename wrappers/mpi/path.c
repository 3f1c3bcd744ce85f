/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Paths: the element for the operations of a thread, created when first needed. */
#include "config.h"

#include "wrappers/mpi/path.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shared_map.h"
#include "tuplespace/process_state.h"
#include "wrappers/mpi/communicators.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/sites.h"
#include "wrappers/mpi/tree_ops.h"

/* An element of the plan, for one thread and, if split, for a communicator and peer. */
struct esi_owned_path {
    struct esi_path path;
    struct esi_owned_path *next;
    const struct esi_collector_plan *collector;
    uint16_t communicator;
    int32_t peer;
};

struct choice {
    struct esi_path path; /* is_choice */
    enum es_class op_class;
    struct esi_shared_map *paths; /* (communicator, peer) -> path */
    uint64_t last_key;            /* key of the last choice; 0 if none */
    struct esi_path *last;
};

/* A path that records nothing: its element is never enabled. */
static struct esi_element_layout nowhere;
static struct esi_path off = {.writer = {.element = &nowhere}};

static bool collector_wants(const struct esi_collector_plan *collector,
                            enum es_class op_class,
                            int rank)
{
    return (collector->classes & 1u << op_class) != 0 &&
           esi_collector_plan_has_rank(collector, rank);
}

static bool is_conditional(const struct esi_collector_plan *collector)
{
    return strcmp(collector->communicator, "*") != 0 ||
           collector->split != ES_SPLIT_NONE;
}

static bool has_communicator(const struct esi_collector_plan *collector,
                             uint16_t communicator)
{
    char name[ESI_COMM_NAME_BYTES];

    if (strcmp(collector->communicator, "*") == 0)
        return true;
    esi_comm_get_name(communicator, name);
    return fnmatch(collector->communicator, name, 0) == 0;
}

enum { NAME_BYTES = 64 };

/* "RANK.THREAD/COLLECTOR", followed by "[comm=NAME]" and "[peer=N]" if it is split. */
static void name_path(const struct esi_owned_path *owned,
                      const struct esi_process *process,
                      int thread,
                      char out[NAME_BYTES])
{
    char communicator[ESI_COMM_NAME_BYTES];
    int used = snprintf(out, NAME_BYTES, "%d.%d/%s", process->rank, thread,
                        owned->collector->name);

    if (used < NAME_BYTES && owned->communicator != ES_COMMUNICATOR_NONE) {
        esi_comm_get_name(owned->communicator, communicator);
        used += snprintf(out + used, NAME_BYTES - (size_t)used, "[comm=%.20s]",
                         communicator);
    }
    if (used < NAME_BYTES && owned->peer >= 0)
        snprintf(out + used, NAME_BYTES - (size_t)used, "[peer=%d]", owned->peer);
}

/* Communicators may have the same name, and long names are truncated: if the name is
 * taken, appends what identifies the path, "#COMMUNICATOR" or "#COMMUNICATOR.PEER". */
static void number_path(const struct esi_owned_path *owned, char name[NAME_BYTES])
{
    char number[24];
    size_t length = strlen(name);
    size_t used = (size_t)snprintf(number, sizeof number, "#%u", owned->communicator);

    if (owned->peer >= 0)
        used +=
            (size_t)snprintf(number + used, sizeof number - used, ".%d", owned->peer);
    if (length > NAME_BYTES - 1 - used)
        length = NAME_BYTES - 1 - used;
    memcpy(name + length, number, used + 1);
}

static void warn_if_small(const struct esi_process *process,
                          const struct esi_writer *writer,
                          const struct esi_element_config *wanted)
{
    uint32_t threshold = writer->element->threshold;

    if (threshold < wanted->threshold)
        esi_process_warn("too little %s: trace element %s keeps %u tuples "
                         "instead of %u",
                         esi_segment_shortage(process->segment), wanted->name,
                         threshold, wanted->threshold);
}

static bool make_element(struct esi_owned_path *owned,
                         struct esi_process *process,
                         int thread)
{
    const struct esi_collector_plan *collector = owned->collector;
    char name[NAME_BYTES];
    int code;
    struct esi_element_config config = {
        .kind = ES_ELEMENT_TRACE,
        .name = name,
        .collector = collector->name,
        .rank = process->rank,
        .thread = thread,
        .classes = collector->classes,
        .peer = owned->peer,
        .communicator = owned->communicator,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = collector->threshold,
        .on_full = collector->on_full,
        .enabled = collector->enabled,
        .sites = collector->sites,
    };

    name_path(owned, process, thread, name);
    code = esi_segment_add_element(process->segment, &config, &owned->path.writer);
    if (code == -EEXIST) {
        number_path(owned, name);
        code = esi_segment_add_element(process->segment, &config, &owned->path.writer);
    }
    if (code < 0)
        return false;
    warn_if_small(process, &owned->path.writer, &config);
    return true;
}

/* The path of a slot for a collector and its split, created if necessary; `off` if
 * there is no space. */
static struct esi_path *path_for(struct esi_slot *slot,
                                 const struct esi_collector_plan *collector,
                                 uint16_t communicator,
                                 int32_t peer)
{
    struct esi_process *process = esi_process_get();
    struct esi_owned_path *owned = slot->paths;

    if ((collector->split & ES_SPLIT_COMMUNICATOR) == 0)
        communicator = ES_COMMUNICATOR_NONE;
    if ((collector->split & ES_SPLIT_PEER) == 0)
        peer = ES_PEER_NONE;
    for (; owned != NULL; owned = owned->next)
        if (owned->collector == collector && owned->communicator == communicator &&
            owned->peer == peer)
            return &owned->path;
    owned = calloc(1, sizeof *owned);
    if (owned == NULL)
        return &off;
    *owned = (struct esi_owned_path){
        .collector = collector, .communicator = communicator, .peer = peer};
    owned->path.polls = collector->polls;
    if (!make_element(owned, process, slot->number)) {
        esi_process_warn("no room for another trace element; operations go unrecorded");
        owned->path.writer = off.writer;
    }
    owned->next = slot->paths;
    slot->paths = owned;
    return &owned->path;
}

static struct choice *choice_create(enum es_class op_class)
{
    struct choice *choice = calloc(1, sizeof *choice);

    if (choice == NULL)
        return NULL;
    choice->paths = esi_shared_map_create(NULL);
    if (choice->paths == NULL) {
        free(choice);
        return NULL;
    }
    choice->path = (struct esi_path){.writer = off.writer, .is_choice = true};
    choice->op_class = op_class;
    return choice;
}

static void choice_destroy(struct choice *choice)
{
    free(choice->paths);
    free(choice);
}

/* The path of a class: that of the first collector, if it takes the class regardless of
 * the rest of the tuple, otherwise a choice. */
static struct esi_path *find_path(struct esi_slot *slot, enum es_class op_class)
{
    const struct esi_process *process = esi_process_get();
    struct choice *choice;

    for (size_t i = 0; i < process->plan.count; i++) {
        const struct esi_collector_plan *collector = &process->plan.collectors[i];

        if (!collector_wants(collector, op_class, process->rank))
            continue;
        if (!is_conditional(collector))
            return path_for(slot, collector, ES_COMMUNICATOR_NONE, ES_PEER_NONE);
        choice = choice_create(op_class);
        return choice != NULL ? &choice->path : &off;
    }
    return &off;
}

/* The path selected for a communicator and a peer. */
static struct esi_path *choose_path(const struct choice *choice,
                                    uint16_t communicator,
                                    int32_t peer)
{
    const struct esi_process *process = esi_process_get();
    struct esi_slot *slot = esi_thread_self.slot;

    if (process == NULL || slot == NULL)
        return &off;
    for (size_t i = 0; i < process->plan.count; i++) {
        const struct esi_collector_plan *collector = &process->plan.collectors[i];

        if (collector_wants(collector, choice->op_class, process->rank) &&
            has_communicator(collector, communicator))
            return path_for(slot, collector, communicator, peer);
    }
    return &off;
}

/* Doubles the map when it is half full; returns false if out of memory. */
static bool choice_reserve(struct choice *choice)
{
    struct esi_shared_map *larger;

    if (esi_shared_map_has_room(choice->paths))
        return true;
    larger = esi_shared_map_create(choice->paths);
    if (larger == NULL)
        return false;
    esi_shared_map_copy(choice->paths, larger);
    free(choice->paths);
    choice->paths = larger;
    return true;
}

static struct esi_path *find_choice(struct choice *choice,
                                    uint64_t key,
                                    uint16_t communicator,
                                    int32_t peer)
{
    struct esi_shared_slot *slot = esi_shared_map_find(choice->paths, key);
    struct esi_path *path;

    if (slot == NULL) {
        if (!choice_reserve(choice))
            return &off;
        path = choose_path(choice, communicator, peer);
        slot = esi_shared_map_insert(choice->paths, key, (uintptr_t)path);
    }
    return (struct esi_path *)(uintptr_t)atomic_load_explicit(&slot->word,
                                                              memory_order_relaxed);
}

struct esi_path *esi_path_choose(struct esi_path *path, const struct es_tuple *tuple)
{
    struct choice *choice = (struct choice *)path;
    int32_t peer = tuple->peer < 0 ? ES_PEER_NONE : tuple->peer;
    uint64_t key = ((uint64_t)tuple->communicator << 32 | (uint32_t)peer) + 1;

    if (choice->last_key != key) {
        choice->last = find_choice(choice, key, tuple->communicator, peer);
        choice->last_key = key;
    }
    return choice->last;
}

struct esi_path *esi_path_make(struct esi_thread *thread, uint16_t operation)
{
    const struct es_operation *known = es_operation_find(operation);
    enum es_class op_class = known != NULL ? known->op_class : ES_CLASS_OTHER;

    if (esi_process_get() != NULL && thread->slot == NULL)
        esi_thread_take_slot(thread);
    if (thread->slot == NULL) {
        if (esi_trees !=
            NULL) /* nothing is recorded, but calls are still the program's */
            return thread->paths[op_class] = &off;
        thread->depth = 1;
        thread->operation = 0;
        thread->outermost = UINT64_MAX;
        return NULL;
    }
    thread->paths[op_class] = find_path(thread->slot, op_class);
    return thread->paths[op_class];
}

/* The tuple remains open: MPI ends the process. */
static void show_misplaced(struct esi_thread *thread,
                           struct esi_path *path,
                           uint16_t operation)
{
    struct es_tuple tuple = {.operation = operation,
                             .communicator = ES_COMMUNICATOR_NONE,
                             .peer = ES_PEER_NONE};

    if (path->is_choice)
        path = esi_path_choose(path, &tuple);
    if (!esi_writer_is_enabled(&path->writer))
        return;
    esi_site_take(thread);
    tuple.start = esi_clock_read();
    esi_writer_open_at(&path->writer, &tuple, thread->site);
}

struct esi_path *esi_path_enter(struct esi_thread *thread, uint16_t operation)
{
    struct esi_path *path = esi_path_make(thread, operation);

    if (path == NULL || esi_process_is_initialized_by(operation) ||
        esi_environment_is_up())
        return path;
    show_misplaced(thread, path, operation);
    esi_path_forget();
    thread->depth = 0;
    return NULL;
}

void esi_path_forget(void)
{
    struct esi_path **paths = esi_thread_self.paths;

    for (size_t i = 0; i < sizeof esi_thread_self.paths / sizeof *paths; i++) {
        if (paths[i] != NULL && paths[i]->is_choice)
            choice_destroy((struct choice *)paths[i]);
        paths[i] = NULL;
    }
}

/* --- Writing -------------------------------------------------------------------- */

void esi_path_write_at(struct esi_thread *thread,
                       const struct es_tuple *tuple,
                       uint64_t site)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    struct esi_path *path;

    if (operation == NULL)
        return;
    path = thread->paths[operation->op_class];
    if (path == NULL)
        path = esi_path_make(thread, tuple->operation);
    if (path == NULL)
        return;
    if (path->is_choice)
        path = esi_path_choose(path, tuple);
    if (esi_writer_is_enabled(&path->writer))
        esi_writer_write_at(&path->writer, tuple, site);
}

void esi_path_publish(void *owner, const struct es_tuple *tuple, uint64_t site)
{
    struct esi_slot *slot = owner;

    if (slot == esi_thread_self.slot || slot == NULL)
        esi_path_write_at(&esi_thread_self, tuple, site);
    else
        esi_slot_add_late(slot, tuple, site);
}
