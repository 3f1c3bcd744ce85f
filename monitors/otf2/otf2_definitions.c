/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_definitions.c - the definitions that the events of an archive refer to.
 *
 * The readers of OTF2 resolve a reference when they read it, so each definition is
 * written after those that it refers to.
 */
#include "config.h"

#include "monitors/otf2/otf2_definitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/otf2/otf2_archive.h"
#include "monitors/otf2/otf2_operations.h"
#include "tuplespace/operation_table.h"

#define NANOSECONDS UINT64_C(1000000000)

int esi_otf2_definitions_init(struct esi_otf2_definitions *definitions)
{
    *definitions = (struct esi_otf2_definitions){.begin_ns = UINT64_MAX};
    definitions->regions =
        malloc(((size_t)esi_operation_last + 1) * sizeof *definitions->regions);
    definitions->region_codes =
        malloc(((size_t)esi_operation_last + 1) * sizeof *definitions->region_codes);
    if (!definitions->regions || !definitions->region_codes)
        return -ENOMEM;
    for (size_t i = 0; i <= esi_operation_last; i++)
        definitions->regions[i] = UINT32_MAX;
    return 0;
}

void esi_otf2_definitions_fini(struct esi_otf2_definitions *definitions)
{
    for (size_t i = 0; i < definitions->thread_count; i++) {
        free(definitions->threads[i].name);
        free(definitions->threads[i].host);
    }
    for (size_t i = 0; i < definitions->communicator_count; i++) {
        free(definitions->communicators[i].of.name);
        free(definitions->communicators[i].of.world_ranks);
    }
    free(definitions->threads);
    free(definitions->first_threads);
    free(definitions->communicators);
    esi_otf2_groups_fini(&definitions->epoch_groups);
    free(definitions->windows);
    esi_hash_fini(&definitions->window_table);
    free(definitions->regions);
    free(definitions->region_codes);
}

/* --- From events ------------------------------------------------------------------ */

int esi_otf2_add_trace(struct esi_otf2_definitions *definitions, const char *name)
{
    struct esi_otf2_thread thread = {.name = strdup(name)};

    if (!thread.name ||
        ESI_ARRAY_RESERVE(definitions->threads, definitions->thread_capacity,
                          definitions->thread_count + 1) < 0) {
        free(thread.name);
        return -ENOMEM;
    }
    definitions->threads[definitions->thread_count++] = thread;
    return 0;
}

static int note_thread(struct esi_otf2_thread *thread,
                       const struct esi_causal_call *call)
{
    thread->used = true;
    thread->rank = call->thread->process->rank;
    thread->number = call->thread->thread;
    thread->host = strdup(call->thread->process->host);
    return thread->host ? 0 : -ENOMEM;
}

int esi_otf2_note_call(struct esi_otf2_definitions *definitions,
                       uint32_t trace,
                       const struct esi_causal_call *call)
{
    struct esi_otf2_thread *thread = &definitions->threads[trace];

    if (!thread->used && note_thread(thread, call) < 0)
        return -ENOMEM;
    thread->lost += call->lost;
    return 0;
}

int esi_otf2_add_communicators(struct esi_otf2_definitions *definitions,
                               const struct esi_run_model *run)
{
    definitions->communicators =
        calloc(run->communicator_count + 1, sizeof *definitions->communicators);
    if (!definitions->communicators)
        return -ENOMEM;
    for (size_t i = 0; i < run->communicator_count; i++) {
        const struct esi_run_communicator *from = run->communicators[i];
        struct esi_run_communicator *copy = &definitions->communicators[i].of;

        *copy = *from;
        copy->name = strdup(from->name);
        copy->world_ranks = malloc(from->size * sizeof *from->world_ranks);
        definitions->communicator_count++;
        if (!copy->name || !copy->world_ranks)
            return -ENOMEM;
        for (uint32_t j = 0; j < from->size; j++)
            copy->world_ranks[j] = from->world_ranks ? from->world_ranks[j] : -1;
    }
    return 0;
}

OTF2_RegionRef esi_otf2_region(struct esi_otf2_definitions *definitions, uint16_t code)
{
    if (definitions->regions[code] == UINT32_MAX) {
        definitions->region_codes[definitions->region_count] = code;
        definitions->regions[code] = definitions->region_count++;
    }
    return definitions->regions[code];
}

OTF2_RmaWinRef esi_otf2_window(struct esi_otf2_definitions *definitions,
                               uint32_t communicator,
                               int32_t number)
{
    uint64_t hash = esi_hash_u64((uint64_t)communicator << 32 | (uint32_t)number);
    size_t count = definitions->window_count;

    ESI_HASH_FOREACH(slot, &definitions->window_table, hash) {
        uint32_t index = esi_hash_index(&definitions->window_table, slot);
        const struct esi_otf2_window *window = &definitions->windows[index];

        if (window->communicator == communicator && window->number == number)
            return index;
    }
    if (ESI_ARRAY_RESERVE(definitions->windows, definitions->window_capacity,
                          count + 1) < 0 ||
        esi_hash_reserve(&definitions->window_table, count + 1) < 0)
        return UINT32_MAX;
    esi_hash_insert(&definitions->window_table, hash, count);
    definitions->windows[count] = (struct esi_otf2_window){communicator, number, false};
    definitions->window_count++;
    return (uint32_t)count;
}

OTF2_GroupRef esi_otf2_epoch_group(struct esi_otf2_definitions *definitions,
                                   uint32_t communicator,
                                   const int32_t *ranks,
                                   uint32_t count)
{
    const struct esi_run_communicator *of =
        &definitions->communicators[communicator].of;
    uint32_t group = esi_otf2_groups_add(&definitions->epoch_groups, of->world_ranks,
                                         of->size, ranks, count);

    return group == UINT32_MAX ? UINT32_MAX : ESI_OTF2_FIRST_GROUP + group;
}

/* --- Processes -------------------------------------------------------------------- */

/* Of MPI_COMM_WORLD, which communicators refer to. */
static bool is_of_world(const struct esi_otf2_thread *thread)
{
    return thread->rank >= 0 && !strchr(thread->name, '#');
}

/* The number of ranks, from the threads and the members of communicators. */
static uint32_t count_ranks(const struct esi_otf2_definitions *definitions)
{
    int last = -1;

    for (size_t i = 0; i < definitions->thread_count; i++) {
        const struct esi_otf2_thread *thread = &definitions->threads[i];

        if (thread->used && is_of_world(thread) && thread->rank > last)
            last = thread->rank;
    }
    for (size_t i = 0; i < definitions->communicator_count; i++) {
        const struct esi_run_communicator *each = &definitions->communicators[i].of;

        for (uint32_t j = 0; j < each->size; j++)
            if (each->world_ranks[j] > last)
                last = each->world_ranks[j];
    }
    return (uint32_t)(last + 1);
}

/* Whether two threads belong to the same process: their names differ only in the thread
 * number. */
static bool is_of_process(const struct esi_otf2_thread *a,
                          const struct esi_otf2_thread *b)
{
    const char *world = strchrnul(a->name, '#');

    return a->rank == b->rank && *world && strcmp(world, strchrnul(b->name, '#')) == 0;
}

static bool is_of_host(const struct esi_otf2_thread *a, const struct esi_otf2_thread *b)
{
    return strcmp(a->host, b->host) == 0;
}

/* The first thread for which `is_alike` holds with that at `index`; otherwise that one,
 * which is added to the table.  The table must have space. */
static size_t find_first(const struct esi_otf2_definitions *definitions,
                         struct esi_hash *table,
                         uint64_t hash,
                         bool (*is_alike)(const struct esi_otf2_thread *a,
                                          const struct esi_otf2_thread *b),
                         size_t index)
{
    const struct esi_otf2_thread *threads = definitions->threads;

    ESI_HASH_FOREACH(slot, table, hash) {
        size_t first = esi_hash_index(table, slot);

        if (is_alike(&threads[first], &threads[index]))
            return first;
    }
    esi_hash_insert(table, hash, index);
    return index;
}

/* Ranks keep their numbers, other processes follow. */
static void number_threads(struct esi_otf2_definitions *definitions,
                           struct esi_hash *processes)
{
    definitions->group_count = definitions->rank_count;
    for (size_t i = 0; i < definitions->thread_count; i++) {
        struct esi_otf2_thread *thread = &definitions->threads[i];
        size_t first;

        if (!thread->used)
            continue;
        if (is_of_world(thread)) {
            thread->group = (uint32_t)thread->rank;
            continue;
        }
        first = find_first(
            definitions, processes,
            esi_hash_mix_text((uint32_t)thread->rank, strchrnul(thread->name, '#')),
            is_of_process, i);
        thread->group =
            first < i ? definitions->threads[first].group : definitions->group_count++;
    }
}

static int find_first_threads(struct esi_otf2_definitions *definitions)
{
    uint32_t *firsts = malloc((definitions->group_count + 1) * sizeof *firsts);

    if (!firsts)
        return -ENOMEM;
    for (uint32_t i = 0; i < definitions->group_count; i++)
        firsts[i] = UINT32_MAX;
    for (uint32_t i = 0; i < definitions->thread_count; i++) {
        const struct esi_otf2_thread *thread = &definitions->threads[i];
        uint32_t *first = &firsts[thread->group];

        if (thread->used && (*first == UINT32_MAX ||
                             thread->number < definitions->threads[*first].number))
            *first = i;
    }
    definitions->first_threads = firsts;
    return 0;
}

int esi_otf2_number_groups(struct esi_otf2_definitions *definitions)
{
    struct esi_hash processes = {0};

    definitions->rank_count = count_ranks(definitions);
    if (esi_hash_reserve(&processes, definitions->thread_count) < 0)
        return -ENOMEM;
    number_threads(definitions, &processes);
    esi_hash_fini(&processes);
    return find_first_threads(definitions);
}

const struct esi_otf2_thread *esi_otf2_first_thread(
    const struct esi_otf2_definitions *definitions,
    uint32_t group)
{
    uint32_t first = definitions->first_threads[group];

    return first == UINT32_MAX ? NULL : &definitions->threads[first];
}

OTF2_LocationRef esi_otf2_location_of(const struct esi_otf2_thread *thread)
{
    return (uint64_t)(uint32_t)thread->number << 32 | thread->group;
}

/* --- Writing ---------------------------------------------------------------------- */

/* Stores the first error. */
struct definition_output {
    struct esi_otf2_definitions *definitions;
    OTF2_GlobalDefWriter *writer;
    OTF2_ErrorCode code;
    OTF2_StringRef next_text;
    uint32_t next_group;
    uint32_t ranks;
    struct esi_hash keys; /* of communicators that are known; owned */
};

static void note_code(struct definition_output *output, OTF2_ErrorCode code)
{
    if (output->code == OTF2_SUCCESS)
        output->code = code;
}

static OTF2_StringRef write_text(struct definition_output *output, const char *text)
{
    note_code(output, OTF2_GlobalDefWriter_WriteString(output->writer,
                                                       output->next_text, text));
    return output->next_text++;
}

static void write_clock(struct definition_output *output)
{
    const struct esi_otf2_definitions *definitions = output->definitions;
    uint64_t begin = definitions->has_times ? definitions->begin_ns : 0;
    uint64_t length = definitions->has_times ? definitions->end_ns - begin + 1 : 0;

    note_code(output, OTF2_GlobalDefWriter_WriteClockProperties(
                          output->writer, NANOSECONDS, begin, length,
                          definitions->has_times ? begin : OTF2_UNDEFINED_TIMESTAMP));
}

/* String 0 is empty. */
static void write_fixed(struct definition_output *output)
{
    OTF2_StringRef name, description;

    note_code(output, OTF2_GlobalDefWriter_WriteString(output->writer, 0, ""));
    note_code(output, OTF2_GlobalDefWriter_WriteString(output->writer,
                                                       ESI_OTF2_TEXT_OPEN, "open"));
    name = write_text(output, "state");
    description = write_text(output, "of an operation that was under way at the end");
    note_code(output,
              OTF2_GlobalDefWriter_WriteAttribute(output->writer, ESI_OTF2_STATE, name,
                                                  description, OTF2_TYPE_STRING));
    note_code(output, OTF2_GlobalDefWriter_WriteParadigm(
                          output->writer, OTF2_PARADIGM_MPI, write_text(output, "MPI"),
                          OTF2_PARADIGM_CLASS_PROCESS));
}

static void write_regions(struct definition_output *output)
{
    for (uint32_t i = 0; i < output->definitions->region_count; i++) {
        const struct es_operation *operation =
            es_operation_find(output->definitions->region_codes[i]);
        OTF2_StringRef name = write_text(output, operation->name);

        note_code(output,
                  OTF2_GlobalDefWriter_WriteRegion(
                      output->writer, i, name, name, 0, esi_otf2_role(operation),
                      OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, 0, 0, 0));
    }
}

/* --- The processes */

/* A host is written at its first thread. */
static void write_hosts(struct definition_output *output)
{
    struct esi_otf2_definitions *definitions = output->definitions;
    OTF2_StringRef machine = write_text(output, "machine");
    OTF2_StringRef node = write_text(output, "node");
    OTF2_SystemTreeNodeRef next = 1;
    struct esi_hash hosts = {0};

    note_code(output, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                          output->writer, 0, machine, machine,
                          OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    if (esi_hash_reserve(&hosts, definitions->thread_count) < 0) {
        note_code(output, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    for (size_t i = 0; i < definitions->thread_count; i++) {
        struct esi_otf2_thread *thread = &definitions->threads[i];
        size_t first;

        if (!thread->used)
            continue;
        first = find_first(definitions, &hosts, esi_hash_mix_text(0, thread->host),
                           is_of_host, i);
        if (first < i) {
            thread->node = definitions->threads[first].node;
            continue;
        }
        thread->node = next++;
        note_code(output, OTF2_GlobalDefWriter_WriteSystemTreeNode(
                              output->writer, thread->node,
                              write_text(output, thread->host), node, 0));
    }
    esi_hash_fini(&hosts);
}

static void write_group(struct definition_output *output,
                        uint32_t group,
                        OTF2_SystemTreeNodeRef node,
                        const char *name)
{
    note_code(output, OTF2_GlobalDefWriter_WriteLocationGroup(
                          output->writer, group, write_text(output, name),
                          OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                          OTF2_UNDEFINED_LOCATION_GROUP));
}

/* Ranks without recorded data are still members of communicators. */
static void write_silent_rank(struct definition_output *output, uint32_t rank)
{
    char name[32];

    snprintf(name, sizeof name, "MPI Rank %u", rank);
    write_group(output, rank, 0, name);
    snprintf(name, sizeof name, "%u.0", rank);
    note_code(output, OTF2_GlobalDefWriter_WriteLocation(
                          output->writer, rank, write_text(output, name),
                          OTF2_LOCATION_TYPE_CPU_THREAD, 0, rank));
}

static void write_processes(struct definition_output *output)
{
    char name[96];

    for (uint32_t group = 0; group < output->definitions->group_count; group++) {
        const struct esi_otf2_thread *thread =
            esi_otf2_first_thread(output->definitions, group);

        if (!thread) {
            write_silent_rank(output, group);
            continue;
        }
        snprintf(name, sizeof name, "MPI Rank %d%s", thread->rank,
                 strchrnul(thread->name, '#'));
        write_group(output, group, thread->node, name);
    }
}

static void write_count(struct definition_output *output,
                        OTF2_LocationRef location,
                        OTF2_StringRef name,
                        uint64_t count)
{
    const OTF2_AttributeValue value = {.uint64 = count};

    if (count > 0)
        note_code(output, OTF2_GlobalDefWriter_WriteLocationProperty(
                              output->writer, location, name, OTF2_TYPE_UINT64, value));
}

static void write_threads(struct definition_output *output)
{
    const struct esi_otf2_definitions *definitions = output->definitions;
    OTF2_StringRef lost = write_text(output, "EVENTSPACE::TUPLES_LOST");
    OTF2_StringRef open = write_text(output, "EVENTSPACE::OPERATIONS_OPEN");

    for (size_t i = 0; i < definitions->thread_count; i++) {
        const struct esi_otf2_thread *thread = &definitions->threads[i];
        OTF2_LocationRef location = esi_otf2_location_of(thread);

        if (!thread->used)
            continue;
        note_code(output,
                  OTF2_GlobalDefWriter_WriteLocation(
                      output->writer, location, write_text(output, thread->name),
                      OTF2_LOCATION_TYPE_CPU_THREAD, thread->events, thread->group));
        write_count(output, location, lost, thread->lost);
        write_count(output, location, open, thread->open);
    }
}

/* --- Communicators and windows */

static void write_members(struct definition_output *output,
                          OTF2_GroupType type,
                          const uint64_t *members,
                          uint32_t count)
{
    note_code(output, OTF2_GlobalDefWriter_WriteGroup(
                          output->writer, output->next_group++, 0, type,
                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, members));
}

/* The group of all ranks; the groups of communicators refer to positions in it. */
static void write_ranks(struct definition_output *output)
{
    uint64_t *members = calloc(output->ranks + 1, sizeof *members);

    if (!members) {
        note_code(output, OTF2_ERROR_ENOMEM);
        return;
    }
    for (uint32_t rank = 0; rank < output->ranks; rank++) {
        const struct esi_otf2_thread *thread =
            esi_otf2_first_thread(output->definitions, rank);

        members[rank] = thread ? esi_otf2_location_of(thread) : rank;
    }
    write_members(output, OTF2_GROUP_TYPE_COMM_LOCATIONS, members, output->ranks);
    free(members);
}

/* A group of ranks; empty if a member is not known. */
static OTF2_GroupRef write_ranks_of(struct definition_output *output,
                                    const int32_t *world,
                                    uint32_t count)
{
    OTF2_GroupRef group = output->next_group;
    uint64_t *members = calloc((size_t)count + 1, sizeof *members);

    if (!members) {
        note_code(output, OTF2_ERROR_ENOMEM);
        return group;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (world[i] < 0) {
            count = 0;
            break;
        }
        members[i] = (uint64_t)world[i];
    }
    write_members(output, OTF2_GROUP_TYPE_COMM_GROUP, members, count);
    free(members);
    return group;
}

static void write_epoch_groups(struct definition_output *output)
{
    const struct esi_otf2_groups *groups = &output->definitions->epoch_groups;

    for (size_t i = 0; i < groups->count; i++)
        write_ranks_of(output, groups->ranks + groups->items[i].first,
                       groups->items[i].count);
}

/* The communicator with this key; OTF2_UNDEFINED_COMM. */
static uint64_t hash_key(const uint64_t key[2])
{
    return esi_hash_mix(key[0], key[1]);
}

static void index_keys(struct definition_output *output)
{
    const struct esi_otf2_definitions *definitions = output->definitions;

    if (esi_hash_reserve(&output->keys, definitions->communicator_count) < 0) {
        note_code(output, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    for (size_t i = 0; i < definitions->communicator_count; i++)
        esi_hash_insert(&output->keys, hash_key(definitions->communicators[i].of.key),
                        i);
}

/* A key of zeros matches nothing. */
static OTF2_CommRef find_key(const struct definition_output *output,
                             const uint64_t key[2])
{
    if (!key[0] && !key[1])
        return OTF2_UNDEFINED_COMM;
    ESI_HASH_FOREACH(slot, &output->keys, hash_key(key)) {
        uint32_t index = esi_hash_index(&output->keys, slot);
        const uint64_t *known = output->definitions->communicators[index].of.key;

        if (known[0] == key[0] && known[1] == key[1])
            return index;
    }
    return OTF2_UNDEFINED_COMM;
}

static void write_between(struct definition_output *output,
                          uint32_t number,
                          OTF2_CommRef parent,
                          OTF2_StringRef name)
{
    const struct esi_run_communicator *each =
        &output->definitions->communicators[number].of;
    uint32_t first = each->has_sides ? (uint32_t)each->sizes[0] : 0;
    OTF2_GroupRef a = write_ranks_of(output, each->world_ranks, first);
    OTF2_GroupRef b =
        write_ranks_of(output, each->world_ranks + first, each->size - first);

    note_code(output,
              OTF2_GlobalDefWriter_WriteInterComm(output->writer, number, name, a, b,
                                                  parent, OTF2_COMM_FLAG_NONE));
}

static void write_communicator(struct definition_output *output,
                               uint32_t number,
                               OTF2_CommRef parent)
{
    const struct esi_run_communicator *each =
        &output->definitions->communicators[number].of;
    OTF2_StringRef name = write_text(output, each->name);

    if (each->between)
        write_between(output, number, parent, name);
    else
        note_code(output, OTF2_GlobalDefWriter_WriteComm(
                              output->writer, number, name,
                              write_ranks_of(output, each->world_ranks, each->size),
                              parent, OTF2_COMM_FLAG_NONE));
}

/* Writes each communicator after its parent: collects the chain of unwritten ancestors
 * and writes it from its end.  Cycles are cut. */
static void write_chain(struct definition_output *output,
                        uint32_t number,
                        uint32_t *chain)
{
    struct esi_otf2_communicator *all = output->definitions->communicators;
    OTF2_CommRef parent = number;
    size_t count = 0;

    while (parent != OTF2_UNDEFINED_COMM && !all[parent].written) {
        all[parent].written = true;
        chain[count++] = parent;
        parent = find_key(output, all[parent].of.parent);
    }
    for (size_t i = 0; i < count; i++)
        if (chain[i] == parent)
            parent = OTF2_UNDEFINED_COMM;
    while (count > 0) {
        write_communicator(output, chain[--count], parent);
        parent = chain[count];
    }
}

static void write_communicators(struct definition_output *output)
{
    const struct esi_otf2_definitions *definitions = output->definitions;
    uint32_t *chain = malloc((definitions->communicator_count + 1) * sizeof *chain);

    if (!chain) {
        note_code(output, OTF2_ERROR_ENOMEM);
        return;
    }
    index_keys(output);
    for (uint32_t i = 0; i < definitions->communicator_count; i++)
        write_chain(output, i, chain);
    esi_hash_fini(&output->keys);
    free(chain);
}

static void write_windows(struct definition_output *output)
{
    const struct esi_otf2_definitions *definitions = output->definitions;
    char name[32];

    for (uint32_t i = 0; i < definitions->window_count; i++) {
        const struct esi_otf2_window *window = &definitions->windows[i];

        snprintf(name, sizeof name, "window %d", window->number);
        note_code(output,
                  OTF2_GlobalDefWriter_WriteRmaWin(
                      output->writer, i, write_text(output, name), window->communicator,
                      window->is_made ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS
                                      : OTF2_RMA_WIN_FLAG_NONE));
    }
}

int esi_otf2_write_definitions(struct esi_otf2_definitions *definitions,
                               OTF2_Archive *archive,
                               const char *path,
                               struct es_error *error)
{
    struct definition_output output = {
        .definitions = definitions,
        .writer = OTF2_Archive_GetGlobalDefWriter(archive),
        .next_text = ESI_OTF2_FIRST_TEXT,
        .next_group = ESI_OTF2_ALL_RANKS,
        .ranks = definitions->rank_count,
    };

    if (!output.writer)
        return esi_otf2_error(OTF2_ERROR_INVALID, path, error);
    write_clock(&output);
    write_fixed(&output);
    write_regions(&output);
    write_hosts(&output);
    write_processes(&output);
    write_threads(&output);
    write_ranks(&output);
    write_epoch_groups(&output);
    write_communicators(&output);
    write_windows(&output);
    note_code(&output, OTF2_Archive_CloseGlobalDefWriter(archive, output.writer));
    return output.code == OTF2_SUCCESS ? 0 : esi_otf2_error(output.code, path, error);
}
