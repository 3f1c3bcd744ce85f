/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Queues of byte records that share a memory limit: the excess is spilled to an unnamed
 * file.
 *
 * A queue is a list of chunks, of which the first and the last are always in memory.
 * Records are aligned to 8 bytes.  One thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_SPOOL_H
#define ES_MONITORS_EVENTSET_SET_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State shared by the queues.  Caller's memory; its fields are private. */
struct esi_spool {
    uint64_t memory_max;
    const char *folder; /* borrowed; NULL = $TMPDIR or /var/tmp */
    int descriptor;     /* -1: nothing was written yet */
    uint64_t file_end;
    uint64_t memory; /* bytes of chunks in memory */
};

struct esi_spool_chunk;

/* A zeroed struct is an empty queue. */
struct esi_spool_queue {
    struct esi_spool_chunk *first;
    struct esi_spool_chunk *last;
};

/* Opens a new unnamed file in `folder`; NULL = $TMPDIR or /var/tmp.  Returns its
 * descriptor or -errno. */
int esi_spool_open_file(const char *folder);

void esi_spool_init(struct esi_spool *spool, uint64_t memory_max, const char *folder);
/* All queues must be empty. */
void esi_spool_fini(struct esi_spool *spool);

/* Frees the content of a queue. */
void esi_spool_clear(struct esi_spool *spool, struct esi_spool_queue *queue);

bool esi_spool_is_empty(const struct esi_spool_queue *queue);

/* Appends a record of `size` bytes, which the caller fills before the next call.
 * Returns 0, -ENOMEM, or the error of the write. */
int esi_spool_push(struct esi_spool *spool,
                   struct esi_spool_queue *queue,
                   size_t size,
                   void **ret_record);

/* Returns the first record of a queue, which must not be empty.  Borrowed until it is
 * popped.  Returns 0, -ENOMEM, or the error of the read. */
int esi_spool_front(struct esi_spool *spool,
                    struct esi_spool_queue *queue,
                    void **ret_record);

/* Removes the first record, which esi_spool_front() has returned. */
void esi_spool_pop(struct esi_spool *spool, struct esi_spool_queue *queue);

#endif
