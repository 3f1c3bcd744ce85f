/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* replay_archive.c - replays the content of an archive. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "eventspace/operation.h"
#include "monitors/archive/archive_read.h"
#include "monitors/latent/replay.h"

/* Classes that are not calls of the program. */
#define OWN_CLASSES (ES_CLASSES_TREE | 1u << ES_CLASS_MONITOR)

static int add_process(struct esi_replay *replay,
                       const struct esi_archive_process *process,
                       uint32_t *ret_process)
{
    int result = esi_replay_add_process(replay, process->rank, ret_process);

    for (size_t i = 0; i < process->communicator_count && result == 0; i++) {
        const struct esi_archive_communicator *row = &process->communicators[i];
        struct esi_replay_communicator communicator = {
            .key = {row->key[0], row->key[1]},
            .name = row->name,
            .rank = row->rank,
            .size = row->size,
            .remote_size = row->remote_size,
            .first = row->first,
            .remote_first = row->remote_first,
        };

        result = esi_replay_set_communicator(replay, *ret_process, (uint16_t)i,
                                             &communicator);
    }
    return result;
}

static int add_tables(struct esi_replay *replay,
                      const struct esi_archive_tables *tables,
                      uint32_t *threads)
{
    uint32_t *processes = calloc(tables->process_count + 1, sizeof *processes);
    int result = processes ? 0 : -ENOMEM;

    for (size_t i = 0; i < tables->process_count && result == 0; i++)
        result = add_process(replay, &tables->processes[i], &processes[i]);
    for (size_t i = 0; i < tables->element_count && result == 0; i++) {
        const struct esi_archive_element *element = &tables->elements[i];

        result = esi_replay_add_thread(replay, processes[element->process],
                                       element->thread, &threads[i]);
        if (result == 0)
            esi_replay_lose(replay, element->missed);
    }
    free(processes);
    return result;
}

static int add_tuple(struct esi_replay *replay,
                     uint32_t thread,
                     const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && (1u << operation->op_class & OWN_CLASSES)
               ? 0
               : esi_replay_add(replay, thread, tuple);
}

static int add_element(struct esi_replay *replay,
                       struct esi_archive_reader *reader,
                       uint32_t element,
                       uint32_t thread,
                       struct es_error *error)
{
    struct esi_archive_cursor *cursor;
    struct esi_archive_item item;
    int result = esi_archive_cursor_create(reader, element, error, &cursor);

    if (result < 0)
        return result;
    while ((result = esi_archive_cursor_next(cursor, &item, error)) > 0) {
        esi_replay_lose(replay, item.lost);
        if (item.lost == 0)
            result = add_tuple(replay, thread, &item.tuple);
        if (result < 0)
            break;
    }
    esi_archive_cursor_destroy(cursor);
    return result;
}

static int add_archive(struct esi_replay *replay,
                       struct esi_archive_reader *reader,
                       struct es_error *error)
{
    const struct esi_archive_tables *tables = esi_archive_tables(reader);
    uint32_t *threads = calloc(tables->element_count + 1, sizeof *threads);
    int result = threads ? add_tables(replay, tables, threads) : -ENOMEM;

    for (uint32_t i = 0; i < tables->element_count && result == 0; i++)
        result = add_element(replay, reader, i, threads[i], error);
    for (size_t i = 0; i < tables->open_count && result == 0; i++)
        result =
            add_tuple(replay, threads[tables->open[i].element], &tables->open[i].tuple);
    free(threads);
    return result;
}

int esi_replay_archive(const char *directory,
                       struct es_error *error,
                       struct esi_replay **ret_replay)
{
    struct esi_archive_reader *reader;
    struct esi_replay *replay;
    int result = esi_archive_open(directory, error, &reader);

    if (result < 0)
        return result;
    result = esi_replay_create(&replay);
    if (result == 0) {
        result = add_archive(replay, reader, error);
        if (result == 0)
            result = esi_replay_finish(replay);
        if (result < 0)
            esi_replay_destroy(replay);
        else
            *ret_replay = replay;
    }
    esi_archive_read_close(reader);
    return result;
}
