/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_origins.c - the elements of a subtree: found in the run's segments by
 * process and name. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/server/subtree_private.h"

/* --- The elements there are --------------------------------------------------- */

struct subtree_origins_entry {
    int pid;
    const char *name;
    const char *host;
    struct es_element_view *element;
};

struct directory {
    struct subtree_origins_entry *entries; /* owned */
    size_t count;
    size_t capacity;
};

static int compare_entries(const void *first, const void *second)
{
    const struct subtree_origins_entry *a = first;
    const struct subtree_origins_entry *b = second;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name);
    return strcmp(a->host, b->host);
}

static int add_entry(struct directory *directory,
                     int pid,
                     struct es_element_view *element,
                     bool reads_placed)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    if (info.moved && !reads_placed)
        return 0;
    if (ESI_ARRAY_RESERVE(directory->entries, directory->capacity,
                          directory->count + 1) < 0)
        return -ENOMEM;
    directory->entries[directory->count++] = (struct subtree_origins_entry){
        .element = element, .pid = pid, .name = info.name, .host = info.host};
    return 0;
}

/* Other connections may find more elements of the segments at the same time. */
static int open_directory(const struct es_run *run,
                          bool reads_placed,
                          struct directory *directory)
{
    int result = 0;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        size_t count = es_segment_view_element_count(segment);
        struct es_segment_info process;

        es_segment_view_info(segment, &process);
        for (size_t j = 0; j < count && result == 0; j++)
            result = add_entry(directory, process.pid,
                               es_segment_view_element(segment, j), reads_placed);
    }
    if (result == 0 && directory->count > 0)
        qsort(directory->entries, directory->count, sizeof *directory->entries,
              compare_entries);
    return result;
}

/* --- The elements that are asked for ------------------------------------------ */

/* A text of the request, kept.  NULL: no memory. */
static const char *subtree_origins_keep(struct esi_subtree *subtree, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct esi_part_text *kept = malloc(sizeof *kept + bytes);

    if (!kept)
        return NULL;
    memcpy(kept->text, text, bytes);
    kept->next = subtree->texts;
    subtree->texts = kept;
    return kept->text;
}

struct subtree_origins_process {
    int pid;
    int rank;
    const char *host;
};

/* Pids tell processes of one host from each other: an element of another host is not
 * here, though it may look so. */
static struct es_element_view *find_element(
    const struct directory *directory,
    const struct subtree_origins_process *process,
    const char *name)
{
    struct subtree_origins_entry wanted = {
        .pid = process->pid, .name = name, .host = process->host};
    struct subtree_origins_entry *found =
        directory->count > 0 ? bsearch(&wanted, directory->entries, directory->count,
                                       sizeof wanted, compare_entries)
                             : NULL;

    return found ? found->element : NULL;
}

static int read_process(const struct es_member *member,
                        struct esi_subtree *subtree,
                        struct subtree_origins_process *ret_process,
                        struct es_clock *ret_clock,
                        struct es_error *error)
{
    const char *host = NULL;
    int64_t pid = 0;
    int result = esi_member_integer(member, "pid", 0, INT32_MAX, error, &pid);

    if (result == 0)
        result = esi_member_text(member, "host", error, &host);
    if (result == 0)
        result =
            esi_clock_member_read(esi_member_find(member, "clock"), error, ret_clock);
    if (result < 0)
        return result;
    ret_process->pid = (int)pid;
    ret_process->rank = (int)esi_member_integer_or(member, "rank", -1);
    ret_process->host = subtree_origins_keep(subtree, host);
    return ret_process->host ? 0 : -ENOMEM;
}

static int read_processes(struct esi_subtree *subtree,
                          const struct es_member *request,
                          struct subtree_origins_process **ret_processes,
                          size_t *ret_count,
                          struct es_error *error)
{
    const struct es_member *list = esi_member_find(request, "processes");
    size_t count = esi_member_count(list);
    struct subtree_origins_process *processes = calloc(count + 1, sizeof *processes);
    int result = 0;

    subtree->clocks = calloc(count + 1, sizeof *subtree->clocks);
    if (!processes || !subtree->clocks)
        result = -ENOMEM;
    for (size_t i = 0; i < count && result == 0; i++)
        result = read_process(esi_member_at(list, i), subtree, &processes[i],
                              &subtree->clocks[i], error);
    if (result < 0) {
        free(processes);
        return result;
    }
    *ret_processes = processes;
    *ret_count = count;
    return 0;
}

/* Texts of elements that are there are their segment's. */
static int take_texts(struct esi_subtree *subtree,
                      const struct es_member *member,
                      const char *name,
                      struct es_origin *origin)
{
    struct es_element_info info;

    if (origin->element) {
        es_element_view_info(origin->element, &info);
        origin->name = info.name;
        origin->collector = info.collector;
        return 0;
    }
    origin->name = subtree_origins_keep(subtree, name);
    origin->collector =
        subtree_origins_keep(subtree, esi_member_text_or(member, "collector", ""));
    return origin->name && origin->collector ? 0 : -ENOMEM;
}

static void take_place(const struct es_member *member,
                       const struct es_origin *origin,
                       struct esi_place *ret_place)
{
    *ret_place = (struct esi_place){.registered = false};
    if (esi_member_boolean_or(member, "end", false)) {
        ret_place->read.position = ES_POSITION_END;
        if (origin->element)
            es_cursor_init(&ret_place->read, origin->element, true);
    } else {
        ret_place->read.position =
            (uint64_t)esi_member_integer_or(member, "position", 0);
    }
    ret_place->given = ret_place->read.position;
    ret_place->acknowledged = (uint64_t)esi_member_integer_or(
        member, "acknowledged", (int64_t)ret_place->given);
}

static int read_origin(struct esi_subtree *subtree,
                       const struct es_member *member,
                       const struct directory *directory,
                       const struct subtree_origins_process *process,
                       struct es_error *error)
{
    struct es_origin *origin = &subtree->origins.items[subtree->origins.count];
    const char *name;
    int result = esi_member_text(member, "name", error, &name);

    if (result < 0)
        return result;
    *origin = (struct es_origin){
        .host = process->host,
        .pid = process->pid,
        .rank = process->rank,
        .thread = (int)esi_member_integer_or(member, "thread", 0),
        .classes = (uint32_t)esi_member_integer_or(member, "classes", 0),
        .peer = (int)esi_member_integer_or(member, "peer", ES_PEER_NONE),
        .communicator = (uint16_t)esi_member_integer_or(member, "communicator",
                                                        ES_COMMUNICATOR_NONE),
        .element = find_element(directory, process, name),
    };
    result = take_texts(subtree, member, name, origin);
    if (result < 0)
        return result;
    take_place(member, origin, &subtree->places.items[subtree->places.count]);
    subtree->origins.count++;
    subtree->places.count++;
    return 0;
}

static int read_list(struct esi_subtree *subtree,
                     const struct es_member *request,
                     const struct subtree_origins_process *processes,
                     size_t process_count,
                     struct es_error *error)
{
    const struct es_member *list = esi_member_find(request, "origins");
    size_t count = esi_member_count(list);
    struct directory directory = {.count = 0};
    int result = count < UINT32_MAX ? 0 : -EINVAL;

    subtree->origins.items = calloc(count + 1, sizeof *subtree->origins.items);
    subtree->places.items = calloc(count + 1, sizeof *subtree->places.items);
    if (!subtree->origins.items || !subtree->places.items)
        return -ENOMEM;
    if (result == 0)
        result = open_directory(
            subtree->run, esi_member_boolean_or(request, "placed", false), &directory);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct es_member *member = esi_member_at(list, i);
        int64_t process = 0;

        result = esi_member_integer(member, "process", 0, (int64_t)process_count - 1,
                                    error, &process);
        if (result < 0)
            break;
        result = read_origin(subtree, member, &directory, &processes[process], error);
        subtree->origins.items[i].clock = &subtree->clocks[process];
        subtree->origins.items[i].host_clock = esi_clock_registry_get(
            subtree->connection->service->clocks, processes[process].host);
    }
    free(directory.entries);
    return result;
}

int esi_subtree_read_origins(struct esi_subtree *subtree,
                             const struct es_member *request,
                             struct es_error *error)
{
    struct subtree_origins_process *processes;
    size_t count;
    const struct esi_service *service = subtree->connection->service;
    int result = read_processes(subtree, request, &processes, &count, error);

    if (result < 0)
        return result;
    subtree->own_clock = esi_clock_registry_get(service->clocks, service->host);
    result = read_list(subtree, request, processes, count, error);
    free(processes);
    return result;
}

void esi_subtree_free_origins(struct esi_subtree *subtree)
{
    for (struct esi_part_text *next; subtree->texts; subtree->texts = next) {
        next = subtree->texts->next;
        free(subtree->texts);
    }
    free(subtree->clocks);
    free(subtree->origins.items);
    free(subtree->places.items);
}
