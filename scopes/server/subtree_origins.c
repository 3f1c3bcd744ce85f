/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_origins.c - the elements of a part: found in the run's segments by process and
 * name. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/server/subtree_private.h"

/* --- The elements there are --------------------------------------------------- */

struct entry {
    int pid;
    const char *name;
    const char *host;
    struct es_element_view *element;
};

struct directory {
    struct entry *entries; /* owned */
    size_t count;
    size_t capacity;
};

static int compare_entries(const void *first, const void *second)
{
    const struct entry *a = first;
    const struct entry *b = second;

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
    directory->entries[directory->count++] = (struct entry){
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
static const char *keep(struct es_part *part, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct esi_part_text *kept = malloc(sizeof *kept + bytes);

    if (!kept)
        return NULL;
    memcpy(kept->text, text, bytes);
    kept->next = part->texts;
    part->texts = kept;
    return kept->text;
}

struct process {
    int pid;
    int rank;
    const char *host;
};

/* Pids tell processes of one host from each other: an element of another host is not
 * here, though it may look so. */
static struct es_element_view *find_element(const struct directory *directory,
                                            const struct process *process,
                                            const char *name)
{
    struct entry wanted = {.pid = process->pid, .name = name, .host = process->host};
    struct entry *found = directory->count > 0
                              ? bsearch(&wanted, directory->entries, directory->count,
                                        sizeof wanted, compare_entries)
                              : NULL;

    return found ? found->element : NULL;
}

static int read_process(const struct es_member *member,
                        struct es_part *part,
                        struct process *ret_process,
                        struct es_clock *ret_clock,
                        struct es_error *error)
{
    const char *host = NULL;
    int64_t pid = 0;
    int result = es_member_integer(member, "pid", 0, INT32_MAX, error, &pid);

    if (result == 0)
        result = es_member_text(member, "host", error, &host);
    if (result == 0)
        result = es_clock_read(es_member_find(member, "clock"), error, ret_clock);
    if (result < 0)
        return result;
    ret_process->pid = (int)pid;
    ret_process->rank = (int)es_member_integer_or(member, "rank", -1);
    ret_process->host = keep(part, host);
    return ret_process->host ? 0 : -ENOMEM;
}

static int read_processes(struct es_part *part,
                          const struct es_member *request,
                          struct process **ret_processes,
                          size_t *ret_count,
                          struct es_error *error)
{
    const struct es_member *list = es_member_find(request, "processes");
    size_t count = es_member_count(list);
    struct process *processes = calloc(count + 1, sizeof *processes);
    int result = 0;

    part->clocks = calloc(count + 1, sizeof *part->clocks);
    if (!processes || !part->clocks)
        result = -ENOMEM;
    for (size_t i = 0; i < count && result == 0; i++)
        result = read_process(es_member_at(list, i), part, &processes[i],
                              &part->clocks[i], error);
    if (result < 0) {
        free(processes);
        return result;
    }
    *ret_processes = processes;
    *ret_count = count;
    return 0;
}

/* Texts of elements that are there are their segment's. */
static int take_texts(struct es_part *part,
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
    origin->name = keep(part, name);
    origin->collector = keep(part, es_member_text_or(member, "collector", ""));
    return origin->name && origin->collector ? 0 : -ENOMEM;
}

static void take_place(const struct es_member *member,
                       const struct es_origin *origin,
                       struct es_place *ret_place)
{
    *ret_place = (struct es_place){.registered = false};
    if (es_member_boolean_or(member, "end", false)) {
        ret_place->read.position = ES_POSITION_END;
        if (origin->element)
            es_cursor_init(&ret_place->read, origin->element, true);
    } else {
        ret_place->read.position =
            (uint64_t)es_member_integer_or(member, "position", 0);
    }
    ret_place->given = ret_place->read.position;
    ret_place->acknowledged = (uint64_t)es_member_integer_or(member, "acknowledged",
                                                             (int64_t)ret_place->given);
}

static int read_origin(struct es_part *part,
                       const struct es_member *member,
                       const struct directory *directory,
                       const struct process *process,
                       struct es_error *error)
{
    struct es_origin *origin = &part->origins.items[part->origins.count];
    const char *name;
    int result = es_member_text(member, "name", error, &name);

    if (result < 0)
        return result;
    *origin = (struct es_origin){
        .host = process->host,
        .pid = process->pid,
        .rank = process->rank,
        .thread = (int)es_member_integer_or(member, "thread", 0),
        .classes = (uint32_t)es_member_integer_or(member, "classes", 0),
        .peer = (int)es_member_integer_or(member, "peer", ES_PEER_NONE),
        .communicator = (uint16_t)es_member_integer_or(member, "communicator",
                                                       ES_COMMUNICATOR_NONE),
        .element = find_element(directory, process, name),
    };
    result = take_texts(part, member, name, origin);
    if (result < 0)
        return result;
    take_place(member, origin, &part->places.items[part->places.count]);
    part->origins.count++;
    part->places.count++;
    return 0;
}

static int read_list(struct es_part *part,
                     const struct es_member *request,
                     const struct process *processes,
                     size_t process_count,
                     struct es_error *error)
{
    const struct es_member *list = es_member_find(request, "origins");
    size_t count = es_member_count(list);
    struct directory directory = {.count = 0};
    int result = count < UINT32_MAX ? 0 : -EINVAL;

    part->origins.items = calloc(count + 1, sizeof *part->origins.items);
    part->places.items = calloc(count + 1, sizeof *part->places.items);
    if (!part->origins.items || !part->places.items)
        return -ENOMEM;
    if (result == 0)
        result = open_directory(
            part->run, es_member_boolean_or(request, "placed", false), &directory);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct es_member *member = es_member_at(list, i);
        int64_t process = 0;

        result = es_member_integer(member, "process", 0, (int64_t)process_count - 1,
                                   error, &process);
        if (result < 0)
            break;
        result = read_origin(part, member, &directory, &processes[process], error);
        part->origins.items[i].clock = &part->clocks[process];
        part->origins.items[i].host_clock = es_clock_board_get(
            part->connection->service->clocks, processes[process].host);
    }
    free(directory.entries);
    return result;
}

int esi_part_read_origins(struct es_part *part,
                          const struct es_member *request,
                          struct es_error *error)
{
    struct process *processes;
    size_t count;
    const struct es_service *service = part->connection->service;
    int result = read_processes(part, request, &processes, &count, error);

    if (result < 0)
        return result;
    part->own_clock = es_clock_board_get(service->clocks, service->host);
    result = read_list(part, request, processes, count, error);
    free(processes);
    return result;
}

void esi_part_free_origins(struct es_part *part)
{
    for (struct esi_part_text *next; part->texts; part->texts = next) {
        next = part->texts->next;
        free(part->texts);
    }
    free(part->clocks);
    free(part->origins.items);
    free(part->places.items);
}
