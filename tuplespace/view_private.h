/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The reading end of segments, as the files that implement eventspace/run.h see it.
 *
 * Whatever decides about addresses was copied out of the segment once, and checked: the
 * memory may change under a reader's hands.
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
    struct es_segment_view *segment; /* borrowed: owner */
    struct esi_element_layout *layout;
    _Atomic uint32_t *ring;
    _Atomic uint64_t *sites; /* NULL = there is no such column */
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

/* What all threads share, and nothing changes but what is atomic. */
struct es_segment_view {
    char *base;
    uint64_t bytes;             /* mapped */
    _Atomic uint64_t allocated; /* memory that the file takes, as of the last refresh */
    bool kept;            /* by a tuple server: the pid in the name is alive for it */
    bool may_have_trees;  /* the header has a place that tells of a tree control */
    bool may_have_ledger; /* and of a ledger */
    uint64_t inode;
    _Atomic bool watches; /* counts as a watcher of the segment */
    struct esi_segment_layout *layout;
    uint64_t elements_offset;
    uint64_t communicators_offset;
    uint32_t element_bytes;
    uint32_t communicator_bytes;
    uint32_t max_elements; /* that fit into what is mapped */
    uint32_t max_communicators;
    int pid;
    uint64_t pid_start;
    uint64_t folder; /* esi_run_directory_folder() of the process; 0 = not known */
    struct es_clock clock;
    char host[64];
    char program[248];
    char job[64];
    char launcher[64];
    struct esi_segment_name name;
    /* Block k has the next ES_VIEW_BLOCK << k elements: they never move, so that they
     * are read while others are added.  Owned, as the elements. */
    struct es_element_view **blocks[ES_VIEW_BLOCKS];
    _Atomic uint32_t element_count;
    uint32_t scanned; /* directory entries looked at; broken ones are left out */
    /* The set's (segment_set.c), under its lock. */
    uint64_t serial;        /* in the order of attaching */
    uint64_t seen;          /* the last scan that found the file */
    uint32_t references;    /* lists that have it */
    uint32_t readers;       /* of those that read */
    struct es_clock record; /* the clock as the process wrote it */
};

/* Attaches one segment by its name.  -EAGAIN: still being made; -EPROTO: not ours,
 * broken or of another version; or as shm_open(3) gives it. */
int esi_segment_view_attach(const struct esi_segment_name *name,
                            struct es_error *error,
                            struct es_segment_view **ret_view);

/* Looks for new elements, and takes care of a file that was cut short: `status` is the
 * file's, NULL where it has no name any more.  One thread at a time; others may read.
 * 0 or -ENOMEM. */
int esi_segment_view_refresh(struct es_segment_view *view, const struct stat *status);

/* Refines the record of the clock by what can be told now.  Nobody may be reading. */
void esi_segment_view_refine_clock(struct es_segment_view *view);

/* Accepts NULL. */
void esi_segment_view_detach(struct es_segment_view *view);

bool esi_segment_view_is_alive(const struct es_segment_view *view);

/* Counts the view among those that remember what they read, until its watch is ended or
 * it is detached (segment_view.c). */
void esi_segment_view_begin_watch(struct es_segment_view *view);
/* Nobody reads any more. */
void esi_segment_view_end_watch(struct es_segment_view *view);

/* Elements that there are: those below this index can be read. */
static inline uint32_t esi_segment_view_count(const struct es_segment_view *view)
{
    /* Pairs with the release in add_element(). */
    return atomic_load_explicit(&view->element_count, memory_order_acquire);
}

/* Before tuples or communicators are read: from here on no index that may be read comes
 * to stand for another communicator. */
static inline void esi_segment_view_watch(const struct es_segment_view *view)
{
    /* Pairs with the release in esi_segment_view_begin_watch(): another thread's watch
     * is counted before anything is read. */
    if (!atomic_load_explicit(&view->watches, memory_order_acquire))
        /* Views are made by this folder; for readers they do not change by this. */
        esi_segment_view_begin_watch((struct es_segment_view *)view);
}

/* `bytes` at an offset that somebody wrote; NULL when they do not lie in the mapping.
 */
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
