/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Many queues of byte records, which together hold at most so much in memory: what is
 * beyond waits in a file that has no name.
 *
 * A queue is a list of chunks, of which the first and the last are always in memory.
 * Records are aligned to 8 bytes.  One thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_SPOOL_H
#define ES_MONITORS_EVENTSET_SET_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What queues share.  Caller's memory; its fields are private. */
struct esi_spool {
    uint64_t memory_max;
    const char *folder; /* borrowed; NULL = $TMPDIR or /var/tmp */
    int descriptor;     /* -1: nothing was written yet */
    uint64_t file_end;
    uint64_t memory; /* bytes of chunks that are in memory */
};

struct esi_spool_chunk;

/* Zeros are an empty queue. */
struct esi_spool_queue {
    struct esi_spool_chunk *first;
    struct esi_spool_chunk *last;
};

/* A new file without a name, in `folder`; NULL = $TMPDIR or /var/tmp.  Its descriptor,
 * or -errno. */
int esi_spool_open_file(const char *folder);

void esi_spool_init(struct esi_spool *spool, uint64_t memory_max, const char *folder);
/* The queues are emptied already. */
void esi_spool_fini(struct esi_spool *spool);

/* Frees what a queue holds. */
void esi_spool_clear(struct esi_spool *spool, struct esi_spool_queue *queue);

bool esi_spool_is_empty(const struct esi_spool_queue *queue);

/* Appends a record of `size` bytes, to be filled by the caller before the next call.
 * 0, -ENOMEM, or why it could not be written. */
int esi_spool_push(struct esi_spool *spool,
                   struct esi_spool_queue *queue,
                   size_t size,
                   void **ret_record);

/* The first record of a queue that is not empty.  Borrowed until it is popped.  0,
 * -ENOMEM, or why it could not be read. */
int esi_spool_front(struct esi_spool *spool,
                    struct esi_spool_queue *queue,
                    void **ret_record);

/* Removes the first record, which esi_spool_front() gave. */
void esi_spool_pop(struct esi_spool *spool, struct esi_spool_queue *queue);

#endif
