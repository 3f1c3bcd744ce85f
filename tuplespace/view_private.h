/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The reading side of segments, shared by the files that implement eventspace/run.h.
 *
 * All values that determine addresses are copied out of the segment once and then
 * checked, because its memory may change at any time.
 */
#ifndef ES_TUPLESPACE_VIEW_PRIVATE_H
#define ES_TUPLESPACE_VIEW_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "eventspace/error.h"
#include "eventspace/run.h"
#include "tuplespace/layout.h"
#include "tuplespace/segment_name.h"

struct es_element_view {
    struct es_segment_view *segment; /* borrowed: the owner */
    struct esi_element_layout *layout;
    _Atomic uint32_t *ring;
    _Atomic uint64_t *sites; /* NULL if there is no such column */
    uint32_t mask;           /* capacity - 1 */
    uint32_t words;          /* per tuple */
    uint32_t threshold;
    uint32_t kind;
    uint32_t classes;
    int rank;
    int thread;
    int peer;
    uint16_t communicator;
    char name[64];
    char collector[32];
};

enum { ES_VIEW_BLOCK = 16, ES_VIEW_BLOCKS = 28 };

/* Shared by all threads; only atomic fields change. */
struct es_segment_view {
    char *base;
    uint64_t bytes;             /* size of the mapping */
    _Atomic uint64_t allocated; /* memory used by the file, as of the last refresh */
    bool kept;                  /* held by a tuple server: the pid in
                                   the name is that of the server */
    bool may_have_trees;        /* the header has a field for a tree control */
    bool may_have_ledger;       /* the header has a field for a ledger */
    uint64_t inode;
    _Atomic bool watches; /* counted as a watcher of the segment */
    struct esi_segment_layout *layout;
    uint64_t elements_offset;
    uint64_t communicators_offset;
    uint32_t element_bytes;
    uint32_t communicator_bytes;
    uint32_t max_elements; /* number that fits into the mapping */
    uint32_t max_communicators;
    int pid;
    uint64_t pid_start;
    uint64_t folder; /* esi_run_directory_folder() of the process; 0 if not known */
    struct es_clock clock;
    char host[64];
    char program[248];
    char job[64];
    char launcher[64];
    struct esi_segment_name name;
    /* Block k contains the next ES_VIEW_BLOCK << k elements.  Blocks never move, so
     * they can be read while elements are added.  The view owns blocks and elements. */
    struct es_element_view **blocks[ES_VIEW_BLOCKS];
    _Atomic uint32_t element_count;
    uint32_t scanned; /* directory entries examined; corrupt ones are omitted */
    /* For the set (segment_set.c), protected by its lock. */
    uint64_t serial;        /* order of attaching */
    uint64_t seen;          /* number of the last scan that found the file */
    uint32_t references;    /* lists that contain it */
    uint32_t readers;       /* those of them that read */
    struct es_clock record; /* the clock as written by the process */
};

/* Attaches a segment by its name.  Returns 0; -EAGAIN if it is still being created;
 * -EPROTO if it is not a segment, corrupt or of another version; or an error of
 * shm_open(3). */
int esi_segment_view_attach(const struct esi_segment_name *name,
                            struct es_error *error,
                            struct es_segment_view **ret_view);

/* Adds new elements, and handles a file that was truncated.  `status` is that of the
 * file, NULL if its name is gone.  One thread at a time may call this while others
 * read.  Returns 0 or -ENOMEM. */
int esi_segment_view_refresh(struct es_segment_view *view, const struct stat *status);

/* Refines the clock record.  Nobody may be reading it. */
void esi_segment_view_refine_clock(struct es_segment_view *view);

/* Detaches the segment.  Accepts NULL. */
void esi_segment_view_detach(struct es_segment_view *view);

bool esi_segment_view_is_alive(const struct es_segment_view *view);

/* Registers the view as a watcher, which remembers what it reads, until the watch ends
 * or the view is detached (segment_view.c). */
void esi_segment_view_begin_watch(struct es_segment_view *view);
/* Ends the watch: nobody reads any more. */
void esi_segment_view_end_watch(struct es_segment_view *view);

/* Number of elements; those below this index can be read. */
static inline uint32_t esi_segment_view_count(const struct es_segment_view *view)
{
    /* Pairs with the release in add_element(). */
    return atomic_load_explicit(&view->element_count, memory_order_acquire);
}

/* Call before reading tuples or communicators: from then on, no index that may be read
 * is reused for another communicator. */
static inline void esi_segment_view_watch(const struct es_segment_view *view)
{
    /* Pairs with the release in esi_segment_view_begin_watch(): another thread's watch
     * is registered before anything is read. */
    if (!atomic_load_explicit(&view->watches, memory_order_acquire))
        /* Views are created in this folder as non-const; for readers this is not a
         * change. */
        esi_segment_view_begin_watch((struct es_segment_view *)view);
}

/* Address of `bytes` at an offset read from the segment; NULL if they are not within
 * the mapping. */
static inline void *esi_segment_view_bytes(const struct es_segment_view *segment,
                                           uint64_t offset,
                                           uint64_t bytes)
{
    if (offset % ES_CACHE_LINE != 0 || offset < sizeof(struct esi_segment_layout) ||
        offset > segment->bytes || bytes > segment->bytes - offset)
        return NULL;
    return segment->base + offset;
}

#endif
