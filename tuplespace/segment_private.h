/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What segment.c, communicator_table.c and tree_control.c share of a segment being
 * written. */
#ifndef ES_TUPLESPACE_SEGMENT_PRIVATE_H
#define ES_TUPLESPACE_SEGMENT_PRIVATE_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/hash.h"
#include "tuplespace/segment.h"
#include "tuplespace/segment_name.h"

/* One growing area of the file: how far its pages are reserved. */
struct esi_area {
    uint64_t begin; /* offset, at a page */
    uint64_t end;
    uint64_t reserved; /* offset up to which space is reserved, at a page */
};

struct es_segment {
    pthread_mutex_t lock; /* adding elements and communicators */
    char *base;
    uint64_t bytes;
    struct esi_segment_layout *layout;
    struct esi_tree_control_layout *trees; /* NULL = there is no tree control */
    dev_t device; /* of the file: the name may stand for another one by now */
    ino_t inode;
    struct esi_area elements;
    struct esi_hash element_names; /* indexes of elements by name */
    struct esi_area communicators;
    struct esi_area arena;
    struct {
        uint8_t *reusable; /* bits by index; owned; NULL = there was no sweep yet */
        uint32_t reusable_left; /* bits set in it */
        uint32_t next;          /* where to look for one */
        uint32_t released;      /* since the last sweep */
    } reuse;                    /* of the communicators' indices */
    uint64_t page;
    const char *shortage; /* what a limit made it small for; NULL = it has full size */
    bool has_rival;       /* the name that it should have was taken ... */
    unsigned int rival;   /* ... by a file of this user */
    uint32_t keep_free_percent;
    char name[ES_SEGMENT_NAME_BYTES];
};

/* Reserves the pages of the area up to offset `end`.  -ENOSPC, or -ESTALE when the file
 * was removed meanwhile.  Caller holds the lock. */
int esi_segment_reserve(struct es_segment *segment,
                        struct esi_area *area,
                        uint64_t end);

/* Takes `bytes` of the arena at a multiple of `alignment`, reserved and zero. -ENOSPC.
 * Caller holds the lock. */
int esi_segment_allocate(struct es_segment *segment,
                         uint64_t bytes,
                         uint64_t alignment,
                         uint64_t *ret_offset);

#endif
