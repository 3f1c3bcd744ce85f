/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_sort.c - sorts operations, with sorted runs in a file. */
#include "config.h"

#include "monitors/otf2/otf2_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/heap.h"
#include "monitors/eventset/set_spool.h"

enum { BUFFER_RECORDS = 1 << 19, RUN_RECORDS = 1024 };
enum { MOVES_EACH = 8 }; /* average number of moves per record of a location */

/* A sorted part of the file or of the buffer. */
struct run {
    bool is_in_memory;
    uint64_t offset;                 /* of the next record to read, in records */
    uint64_t left;                   /* number of records left there */
    struct esi_otf2_record *records; /* read records; owned */
    size_t next;
    size_t count;
};

struct esi_otf2_sort {
    struct esi_otf2_record *buffer; /* owned */
    uint32_t *sorted;               /* indexes in it; owned */
    size_t capacity;                /* of both */
    size_t count;
    size_t *ends;          /* per location, ends in `sorted`; owned */
    size_t location_count; /* number of locations so far */
    size_t location_capacity;
    uint32_t added;
    int descriptor; /* of the file; -1 = none */
    uint64_t written;
    struct run *runs; /* owned */
    size_t run_count;
    size_t run_capacity;
    struct esi_heap heap; /* runs with records of `location`, by time */
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
    sort->sorted = malloc(sort->capacity * sizeof *sort->sorted);
    if (!sort->buffer || !sort->sorted) {
        esi_otf2_sort_destroy(sort);
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
        free(sort->runs[i].records);
    free(sort->runs);
    free(sort->ends);
    free(sort->sorted);
    esi_heap_fini(&sort->heap);
    if (sort->descriptor >= 0)
        close(sort->descriptor);
    free(sort->buffer);
    free(sort);
}

/* --- Runs ------------------------------------------------------------------------- */

/* At equal start times, calls enclose requests. */
static uint64_t key_of(const struct esi_otf2_record *record)
{
    return record->start << 1 | (record->part == ESI_OTF2_REQUEST);
}

static int compare_places(const void *left, const void *right, void *data)
{
    const struct esi_otf2_record *buffer = data;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    if (key_of(&buffer[a]) != key_of(&buffer[b]))
        return key_of(&buffer[a]) < key_of(&buffer[b]) ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Distributes indexes by location, in the order of adding (Knuth, 5.2, algorithm D). */
static void distribute_places(struct esi_otf2_sort *sort)
{
    size_t next = 0;

    for (size_t i = 0; i < sort->location_count; i++)
        sort->ends[i] = 0;
    for (size_t i = 0; i < sort->count; i++)
        sort->ends[sort->buffer[i].location]++;
    for (size_t i = 0; i < sort->location_count; i++) {
        size_t count = sort->ends[i];

        sort->ends[i] = next;
        next += count;
    }
    for (size_t i = 0; i < sort->count; i++)
        sort->sorted[sort->ends[sort->buffer[i].location]++] = (uint32_t)i;
}

/* A thread's operations are nearly sorted, since few others end while one is in
 * progress, so insertion sort is fast.  It is abandoned if it is not. */
static void sort_location(const struct esi_otf2_sort *sort,
                          uint32_t *places,
                          size_t count)
{
    size_t moves = 0;

    for (size_t i = 1; i < count; i++) {
        uint32_t place = places[i];
        uint64_t key = key_of(&sort->buffer[place]);
        size_t at = i;

        for (; at > 0 && key_of(&sort->buffer[places[at - 1]]) > key; at--, moves++)
            places[at] = places[at - 1];
        places[at] = place;
        if (moves > MOVES_EACH * count) {
            qsort_r(places, count, sizeof *places, compare_places, sort->buffer);
            return;
        }
    }
}

static void sort_buffer(struct esi_otf2_sort *sort)
{
    size_t begin = 0;

    distribute_places(sort);
    for (size_t i = 0; i < sort->location_count; i++) {
        sort_location(sort, sort->sorted + begin, sort->ends[i] - begin);
        begin = sort->ends[i];
    }
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

/* Copies the records at `first` and after it in sorted order; `records` has space for
 * RUN_RECORDS. Returns their number. */
static size_t copy_sorted(const struct esi_otf2_sort *sort,
                          size_t first,
                          struct esi_otf2_record *records)
{
    size_t left = sort->count - first;
    size_t count = left < RUN_RECORDS ? left : RUN_RECORDS;

    for (size_t i = 0; i < count; i++)
        records[i] = sort->buffer[sort->sorted[first + i]];
    return count;
}

/* Writes the buffer to the file as a run. */
static int spill_buffer(struct esi_otf2_sort *sort)
{
    const struct run run = {.offset = sort->written, .left = sort->count};
    struct esi_otf2_record records[RUN_RECORDS];
    int result = 0;

    sort_buffer(sort);
    if (sort->descriptor < 0)
        sort->descriptor = esi_spool_open_file(NULL);
    if (sort->descriptor < 0)
        return sort->descriptor;
    for (size_t i = 0; i < sort->count && result == 0; i += RUN_RECORDS)
        result = write_all(sort->descriptor, (const char *)records,
                           copy_sorted(sort, i, records) * sizeof *records);
    if (result < 0)
        return result;
    sort->written += sort->count;
    sort->count = 0;
    return add_run(sort, &run);
}

static int meet_location(struct esi_otf2_sort *sort, uint32_t location)
{
    if (ESI_ARRAY_RESERVE(sort->ends, sort->location_capacity, (size_t)location + 1) <
        0)
        return -ENOMEM;
    sort->location_count = (size_t)location + 1;
    return 0;
}

int esi_otf2_sort_add(struct esi_otf2_sort *sort, const struct esi_otf2_record *record)
{
    int result = sort->count == sort->capacity ? spill_buffer(sort) : 0;

    if (result == 0 && record->location >= sort->location_count)
        result = meet_location(sort, record->location);
    if (result < 0)
        return result;
    sort->buffer[sort->count] = *record;
    sort->buffer[sort->count++].order = sort->added++;
    return 0;
}

/* --- Merging ---------------------------------------------------------------------- */

static int read_run(const struct esi_otf2_sort *sort, struct run *run)
{
    size_t count = run->left < RUN_RECORDS ? (size_t)run->left : RUN_RECORDS;
    size_t length = count * sizeof *run->records;
    off_t offset = (off_t)(run->offset * sizeof *run->records);
    ssize_t got = pread(sort->descriptor, run->records, length, offset);

    if (got != (ssize_t)length)
        return got < 0 ? -errno : -EIO;
    run->count = count;
    return 0;
}

/* Reads the next records when all that were read are used. */
static int fill_run(const struct esi_otf2_sort *sort, struct run *run)
{
    int result = 0;

    if (run->next < run->count || run->left == 0)
        return 0;
    if (!run->records)
        run->records = malloc(RUN_RECORDS * sizeof *run->records);
    if (!run->records)
        return -ENOMEM;
    if (run->is_in_memory)
        run->count = copy_sorted(sort, (size_t)run->offset, run->records);
    else
        result = read_run(sort, run);
    if (result < 0)
        return result;
    run->offset += run->count;
    run->left -= run->count;
    run->next = 0;
    return 0;
}

static bool is_at_end(const struct run *run)
{
    return run->next == run->count;
}

int esi_otf2_sort_finish(struct esi_otf2_sort *sort)
{
    const struct run run = {.is_in_memory = true, .left = sort->count};
    int result;

    sort_buffer(sort);
    result = add_run(sort, &run);
    for (size_t i = 0; i < sort->run_count && result == 0; i++)
        result = fill_run(sort, &sort->runs[i]);
    return result < 0 ? result : esi_heap_reserve(&sort->heap, sort->run_count);
}

/* Selects the runs with records of the next location. */
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
