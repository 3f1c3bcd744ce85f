/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The state of a segment being written, shared by segment.c, communicator_table.c and
 * tree_control.c. */
#ifndef ES_TUPLESPACE_SEGMENT_PRIVATE_H
#define ES_TUPLESPACE_SEGMENT_PRIVATE_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/hash.h"
#include "tuplespace/segment.h"
#include "tuplespace/segment_name.h"

/* A growing area of the file, whose pages are reserved on demand. */
struct esi_area {
    uint64_t begin; /* offset, page aligned */
    uint64_t end;
    uint64_t reserved; /* end of the reserved space: an offset, page aligned */
};

struct es_segment {
    pthread_mutex_t lock; /* held while adding elements and communicators */
    char *base;
    uint64_t bytes;
    struct esi_segment_layout *layout;
    struct esi_tree_control_layout *trees; /* NULL if there is no tree control */
    dev_t device; /* of the file, because the name may refer to another one by now */
    ino_t inode;
    struct esi_area elements;
    struct esi_hash element_names; /* indexes of elements by name */
    struct esi_area communicators;
    struct esi_area arena;
    struct {
        uint8_t *reusable;      /* bits by index; owned; NULL before the first sweep */
        uint32_t reusable_left; /* number of bits set in it */
        uint32_t next;          /* where to continue the search */
        uint32_t released;      /* since the last sweep */
    } reuse;                    /* reuse of communicator indices */
    uint64_t page;
    const char *shortage;     /* the limit that made the segment
                             small; NULL if it has full size */
    bool has_rival;           /* the preferred name was taken */
    unsigned int rival;       /* by a file of this user */
    uint64_t free_bytes;      /* of the file system when it was created */
    uint64_t keep_free_bytes; /* it leaves so much free; 0 if it need not */
    char name[ES_SEGMENT_NAME_BYTES];
};

/* Reserves the pages of the area up to offset `end`.  Returns 0; -ENOSPC; or -ESTALE if
 * the file has been removed.  The caller holds the lock. */
int esi_segment_reserve(struct es_segment *segment,
                        struct esi_area *area,
                        uint64_t end);

/* Allocates `bytes` of the arena at a multiple of `alignment`, reserved and zeroed.
 * Returns 0 or -ENOSPC.  The caller holds the lock. */
int esi_segment_allocate(struct es_segment *segment,
                         uint64_t bytes,
                         uint64_t alignment,
                         uint64_t *ret_offset);

#endif
