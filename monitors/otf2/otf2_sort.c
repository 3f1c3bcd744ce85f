/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_sort.c - sorts operations, with sorted runs in a file. */
#include "config.h"

#include "monitors/otf2/otf2_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/heap.h"
#include "monitors/eventset/set_spool.h"

enum { BUFFER_RECORDS = 1 << 19, RUN_RECORDS = 1024 };

/* A sorted part of the file, or what is in memory. */
struct run {
    uint64_t offset; /* of the next to be read, in records of the file */
    uint64_t left;   /* there */
    struct esi_otf2_record *records; /* owned, but of the one that is in memory */
    size_t next;
    size_t count;
};

struct esi_otf2_sort {
    struct esi_otf2_record *buffer; /* owned */
    size_t capacity;
    size_t count;
    uint32_t added;
    int descriptor; /* of the file; -1 = there is none */
    uint64_t written;
    struct run *runs; /* owned */
    size_t run_count;
    size_t run_capacity;
    struct esi_heap heap; /* of runs that are at `location`, by time */
    uint32_t location;
};

int esi_otf2_sort_create(size_t buffer, struct esi_otf2_sort **ret_sort)
{
    struct esi_otf2_sort *sort = calloc(1, sizeof *sort);

    if (!sort)
        return -ENOMEM;
    sort->descriptor = -1;
    sort->capacity = buffer > 0 ? buffer : BUFFER_RECORDS;
    sort->buffer = malloc(sort->capacity * sizeof *sort->buffer);
    if (!sort->buffer) {
        free(sort);
        return -ENOMEM;
    }
    *ret_sort = sort;
    return 0;
}

void esi_otf2_sort_destroy(struct esi_otf2_sort *sort)
{
    if (!sort)
        return;
    for (size_t i = 0; i < sort->run_count; i++)
        if (sort->runs[i].records != sort->buffer)
            free(sort->runs[i].records);
    free(sort->runs);
    esi_heap_fini(&sort->heap);
    if (sort->descriptor >= 0)
        close(sort->descriptor);
    free(sort->buffer);
    free(sort);
}

/* --- Runs ------------------------------------------------------------------------- */

/* Of what starts at the same time calls are around requests. */
static uint64_t key_of(const struct esi_otf2_record *record)
{
    return record->start << 1 | (record->part == ESI_OTF2_REQUEST);
}

static int compare_records(const void *left, const void *right)
{
    const struct esi_otf2_record *a = left;
    const struct esi_otf2_record *b = right;

    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    if (key_of(a) != key_of(b))
        return key_of(a) < key_of(b) ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int add_run(struct esi_otf2_sort *sort, const struct run *run)
{
    if (ESI_ARRAY_RESERVE(sort->runs, sort->run_capacity, sort->run_count + 1) < 0)
        return -ENOMEM;
    sort->runs[sort->run_count++] = *run;
    return 0;
}

static int write_all(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, bytes, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

/* What is in the buffer becomes a run of the file. */
static int spill_buffer(struct esi_otf2_sort *sort)
{
    const struct run run = {.offset = sort->written, .left = sort->count};
    int result;

    qsort(sort->buffer, sort->count, sizeof *sort->buffer, compare_records);
    if (sort->descriptor < 0)
        sort->descriptor = esi_spool_open_file(NULL);
    if (sort->descriptor < 0)
        return sort->descriptor;
    result = write_all(sort->descriptor, (const char *)sort->buffer,
                       sort->count * sizeof *sort->buffer);
    if (result < 0)
        return result;
    sort->written += sort->count;
    sort->count = 0;
    return add_run(sort, &run);
}

int esi_otf2_sort_add(struct esi_otf2_sort *sort, const struct esi_otf2_record *record)
{
    int result = sort->count == sort->capacity ? spill_buffer(sort) : 0;

    if (result < 0)
        return result;
    sort->buffer[sort->count] = *record;
    sort->buffer[sort->count++].order = sort->added++;
    return 0;
}

/* --- Merging ---------------------------------------------------------------------- */

/* Reads on where the run has nothing more in memory. */
static int fill_run(const struct esi_otf2_sort *sort, struct run *run)
{
    size_t count = run->left < RUN_RECORDS ? (size_t)run->left : RUN_RECORDS;
    size_t length = count * sizeof *run->records;
    off_t offset = (off_t)(run->offset * sizeof *run->records);
    ssize_t got;

    if (run->next < run->count || run->left == 0)
        return 0;
    if (!run->records)
        run->records = malloc(RUN_RECORDS * sizeof *run->records);
    if (!run->records)
        return -ENOMEM;
    got = pread(sort->descriptor, run->records, length, offset);
    if (got != (ssize_t)length)
        return got < 0 ? -errno : -EIO;
    run->offset += count;
    run->left -= count;
    run->count = count;
    run->next = 0;
    return 0;
}

static bool is_at_end(const struct run *run)
{
    return run->next == run->count;
}

int esi_otf2_sort_finish(struct esi_otf2_sort *sort)
{
    const struct run run = {.records = sort->buffer, .count = sort->count};
    int result;

    qsort(sort->buffer, sort->count, sizeof *sort->buffer, compare_records);
    result = add_run(sort, &run);
    for (size_t i = 0; i < sort->run_count && result == 0; i++)
        result = fill_run(sort, &sort->runs[i]);
    return result < 0 ? result : esi_heap_reserve(&sort->heap, sort->run_count);
}

/* The runs that have something of the next location. */
static void begin_location(struct esi_otf2_sort *sort)
{
    uint32_t least = UINT32_MAX;

    for (size_t i = 0; i < sort->run_count; i++) {
        const struct run *run = &sort->runs[i];

        if (!is_at_end(run) && run->records[run->next].location < least)
            least = run->records[run->next].location;
    }
    sort->location = least;
    for (size_t i = 0; i < sort->run_count; i++) {
        const struct run *run = &sort->runs[i];

        if (!is_at_end(run) && run->records[run->next].location == least)
            esi_heap_push(&sort->heap, key_of(&run->records[run->next]), i);
    }
}

int esi_otf2_sort_next(struct esi_otf2_sort *sort, struct esi_otf2_record *ret_record)
{
    struct run *run;
    uint64_t item;
    int result;

    if (sort->heap.count == 0)
        begin_location(sort);
    if (sort->heap.count == 0)
        return 0;
    item = esi_heap_top(&sort->heap).item;
    run = &sort->runs[item];
    *ret_record = run->records[run->next++];
    result = fill_run(sort, run);
    if (result < 0)
        return result;
    if (!is_at_end(run) && run->records[run->next].location == sort->location)
        esi_heap_replace_top(&sort->heap, key_of(&run->records[run->next]), item);
    else
        esi_heap_pop(&sort->heap);
    return 1;
}
