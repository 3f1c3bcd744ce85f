/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_spool.c - queues in chunks that grow with their queue; full chunks in the middle
 * of a queue are written out when memory exceeds the limit. */
#include "config.h"

#include "monitors/eventset/set_spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK_BYTES_MIN = 256, CHUNK_BYTES_MAX = 1 << 16 };

struct esi_spool_chunk {
    struct esi_spool_chunk *next;
    unsigned char *bytes; /* NULL: in the file at `offset` */
    uint64_t offset;
    size_t capacity;
    size_t used;
    size_t taken; /* bytes of `used` already removed from the front */
};

/* Precedes each record. */
struct prefix {
    uint64_t size; /* including the prefix */
};

void esi_spool_init(struct esi_spool *spool, uint64_t memory_max, const char *folder)
{
    *spool = (struct esi_spool){
        .memory_max = memory_max, .folder = folder, .descriptor = -1};
}

void esi_spool_fini(struct esi_spool *spool)
{
    if (spool->descriptor >= 0)
        close(spool->descriptor);
    spool->descriptor = -1;
}

bool esi_spool_is_empty(const struct esi_spool_queue *queue)
{
    return !queue->first || queue->first->taken == queue->first->used;
}

static void free_chunk(struct esi_spool *spool, struct esi_spool_chunk *chunk)
{
    if (chunk->bytes)
        spool->memory -= chunk->capacity;
    free(chunk->bytes);
    free(chunk);
}

void esi_spool_clear(struct esi_spool *spool, struct esi_spool_queue *queue)
{
    while (queue->first) {
        struct esi_spool_chunk *chunk = queue->first;

        queue->first = chunk->next;
        free_chunk(spool, chunk);
    }
    queue->last = NULL;
}

/* --- The file --------------------------------------------------------------------- */

int esi_spool_open_file(const char *folder)
{
    char path[4096];
    int file;

    if (!folder)
        folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/eventspace-XXXXXX",
             folder && *folder ? folder : "/var/tmp");
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return -errno;
    unlink(path);
    return file;
}

static int write_all(int file, const unsigned char *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(file, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

static int read_all(int file, unsigned char *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t got = pread(file, bytes, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO;
        bytes += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

static int write_away(struct esi_spool *spool, struct esi_spool_chunk *chunk)
{
    int code;

    if (spool->descriptor < 0) {
        code = esi_spool_open_file(spool->folder);
        if (code < 0)
            return code;
        spool->descriptor = code;
    }
    code = write_all(spool->descriptor, chunk->bytes, chunk->used, spool->file_end);
    if (code < 0)
        return code;
    chunk->offset = spool->file_end;
    spool->file_end += chunk->used;
    free(chunk->bytes);
    chunk->bytes = NULL;
    spool->memory -= chunk->capacity;
    return 0;
}

static int read_back(struct esi_spool *spool, struct esi_spool_chunk *chunk)
{
    unsigned char *bytes = malloc(chunk->capacity);
    int code;

    if (!bytes)
        return -ENOMEM;
    code = read_all(spool->descriptor, bytes, chunk->used, chunk->offset);
    if (code < 0) {
        free(bytes);
        return code;
    }
    chunk->bytes = bytes;
    spool->memory += chunk->capacity;
    return 0;
}

/* --- Queues ----------------------------------------------------------------------- */

static int add_chunk(struct esi_spool *spool,
                     struct esi_spool_queue *queue,
                     size_t size)
{
    struct esi_spool_chunk *last = queue->last;
    struct esi_spool_chunk *chunk;
    size_t capacity = last ? 2 * last->capacity : CHUNK_BYTES_MIN;
    int code = 0;

    if (capacity > CHUNK_BYTES_MAX)
        capacity = CHUNK_BYTES_MAX;
    if (capacity < size)
        capacity = size;
    if (last && last->taken == last->used) { /* keep it, although it is too small */
        esi_spool_clear(spool, queue);
        last = NULL;
    }
    if (last && last != queue->first && spool->memory + capacity > spool->memory_max)
        code = write_away(spool, last);
    chunk = code == 0 ? calloc(1, sizeof *chunk) : NULL;
    if (!chunk || !(chunk->bytes = malloc(capacity))) {
        free(chunk);
        return code < 0 ? code : -ENOMEM;
    }
    chunk->capacity = capacity;
    spool->memory += capacity;
    if (last)
        last->next = chunk;
    else
        queue->first = chunk;
    queue->last = chunk;
    return 0;
}

int esi_spool_push(struct esi_spool *spool,
                   struct esi_spool_queue *queue,
                   size_t size,
                   void **ret_record)
{
    size_t whole = sizeof(struct prefix) + (size + 7) / 8 * 8;
    struct esi_spool_chunk *last = queue->last;
    struct prefix *prefix;

    /* A chunk that was written out counts as full. */
    if (!last || !last->bytes || last->capacity - last->used < whole) {
        int code = add_chunk(spool, queue, whole);
        if (code < 0)
            return code;
        last = queue->last;
    }
    prefix = (struct prefix *)(void *)(last->bytes + last->used);
    prefix->size = whole;
    last->used += whole;
    *ret_record = prefix + 1;
    return 0;
}

int esi_spool_front(struct esi_spool *spool,
                    struct esi_spool_queue *queue,
                    void **ret_record)
{
    struct esi_spool_chunk *first = queue->first;

    assert(!esi_spool_is_empty(queue));
    if (!first->bytes) {
        int code = read_back(spool, first);
        if (code < 0)
            return code;
    }
    *ret_record = first->bytes + first->taken + sizeof(struct prefix);
    return 0;
}

void esi_spool_pop(struct esi_spool *spool, struct esi_spool_queue *queue)
{
    struct esi_spool_chunk *first = queue->first;
    const struct prefix *prefix =
        (const struct prefix *)(const void *)(first->bytes + first->taken);

    first->taken += prefix->size;
    if (first->taken < first->used)
        return;
    if (first->capacity == CHUNK_BYTES_MIN && !first->next) {
        first->used = first->taken = 0; /* reset: the next record may come soon */
        return;
    }
    queue->first = first->next;
    if (!queue->first)
        queue->last = NULL;
    free_chunk(spool, first);
}
