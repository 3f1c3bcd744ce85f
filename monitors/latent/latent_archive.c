/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* latent_archive.c - reads an archive once for its facts and for the replay, and once
 * in the order of its events for the races. */
#include "config.h"

#include "monitors/latent/latent.h"

#include <errno.h>
#include <stdlib.h>

#include "eventspace/operation.h"
#include "monitors/archive/archive_read.h"
#include "monitors/latent/leaks.h"

/* Classes that are not calls of the program. */
#define OWN_CLASSES (ES_CLASSES_TREE | 1u << ES_CLASS_MONITOR)

/* Finds the thread of each element. */
static int find_threads(struct esi_latent *latent, struct esi_run_thread **threads)
{
    const struct esi_archive_tables *tables = esi_archive_tables(latent->reader);
    struct esi_run_process *const *processes;
    struct esi_run_model *run = esi_archived_facts_run(latent->archived, &processes);
    int result = 0;

    for (size_t i = 0; i < tables->element_count && result == 0; i++) {
        const struct esi_archive_element *element = &tables->elements[i];

        result = esi_run_model_add_thread(run, processes[element->process],
                                          element->thread, &threads[i]);
    }
    if (result == 0)
        result = esi_replay_create(run, &latent->replay);
    for (size_t i = 0; i < tables->element_count && result == 0; i++)
        esi_replay_lose(latent->replay, tables->elements[i].missed);
    return result;
}

static int add_tuple(struct esi_replay *replay,
                     const struct esi_run_thread *thread,
                     const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return operation && (1u << operation->op_class & OWN_CLASSES)
               ? 0
               : esi_replay_add(replay, thread, tuple);
}

/* The receivers of the items of an archive. */
struct archive_items {
    struct esi_latent *latent;
    struct esi_run_thread **threads; /* by element; owned */
};

static int add_item(void *data, const struct esi_archive_item *item)
{
    const struct archive_items *reading = data;
    struct esi_latent *latent = reading->latent;
    int result = esi_archived_facts_add(latent->archived, item);

    if (result == 0 && item->lost > 0)
        esi_replay_lose(latent->replay, item->lost);
    else if (result == 0)
        result =
            add_tuple(latent->replay, reading->threads[item->element], &item->tuple);
    return result;
}

static int read_items(struct archive_items *reading, struct es_error *error)
{
    struct esi_latent *latent = reading->latent;
    const struct esi_archive_tables *tables = esi_archive_tables(latent->reader);
    int result = find_threads(latent, reading->threads);

    if (result == 0)
        result = esi_archive_foreach_item(latent->reader, add_item, reading, error);
    for (size_t i = 0; i < tables->open_count && result == 0; i++)
        result = add_tuple(latent->replay, reading->threads[tables->open[i].element],
                           &tables->open[i].tuple);
    if (result < 0)
        return result;
    esi_archived_facts_finish(latent->archived);
    return esi_replay_finish(latent->replay);
}

static int read_archive(struct esi_latent *latent, struct es_error *error)
{
    struct archive_items reading = {.latent = latent};
    int result = esi_archived_facts_create(latent->reader, error, &latent->archived);

    if (result < 0)
        return result;
    reading.threads = calloc(esi_archive_tables(latent->reader)->element_count + 1,
                             sizeof *reading.threads);
    result = reading.threads ? read_items(&reading, error) : -ENOMEM;
    free(reading.threads);
    if (result == 0)
        result = esi_races_archive(latent->reader, error, &latent->races);
    if (result == 0)
        result =
            esi_leaks_find(esi_archived_facts_get(latent->archived), &latent->leaks);
    return result;
}

int esi_latent_read(const char *directory,
                    struct es_error *error,
                    struct esi_latent *ret_latent)
{
    struct esi_latent latent = {.replay = NULL};
    int result = esi_archive_open(directory, error, &latent.reader);

    if (result == 0)
        result = read_archive(&latent, error);
    if (result < 0) {
        esi_latent_fini(&latent);
        return result;
    }
    *ret_latent = latent;
    return 0;
}

void esi_latent_fini(struct esi_latent *latent)
{
    esi_replay_destroy(latent->replay);
    esi_races_destroy(latent->races);
    esi_leaks_fini(&latent->leaks);
    esi_archived_facts_destroy(latent->archived);
    esi_archive_read_close(latent->reader);
    *latent = (struct esi_latent){.replay = NULL};
}
