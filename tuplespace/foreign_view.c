/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Segments that were made with the other byte order.
 *
 * Their process ran on another machine, so nothing in the file changes any more: it is
 * copied into memory of our own and turned there once.  From then on it reads like any
 * other, and native segments pay nothing for it.
 *
 * Of a file that is broken no more bytes are turned than it has, however often its
 * rings and lists overlap.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tuplespace/byte_order.h"
#include "tuplespace/view_private.h"

/* --- The copy -------------------------------------------------------------------- */

/* Copies from `begin` to `end`; what cannot be read stays zero. */
static void copy_extent(const struct es_segment_view *view,
                        char *copy,
                        off_t begin,
                        off_t end)
{
    while (begin < end) {
        ssize_t got = pread(view->fd, copy + begin, (size_t)(end - begin), begin);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        begin += got;
    }
}

/* Leaves the holes out: segments are sparse and may be long. */
static void copy_file(const struct es_segment_view *view, char *copy)
{
    off_t length = (off_t)view->bytes;
    off_t begin = lseek(view->fd, 0, SEEK_DATA);

    while (begin >= 0 && begin < length) {
        off_t end = lseek(view->fd, begin, SEEK_HOLE);

        if (end < 0 || end > length)
            end = length;
        copy_extent(view, copy, begin, end);
        begin = lseek(view->fd, end, SEEK_DATA);
    }
}

static int replace_mapping(struct es_segment_view *view)
{
    void *copy = mmap(NULL, view->bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (copy == MAP_FAILED)
        return -errno;
    copy_file(view, copy);
    munmap(view->base, view->bytes);
    view->base = copy;
    view->layout = copy;
    return 0;
}

/* --- Turning it
 * ---------------------------------------------------------------------- */

/* Whether so many more bytes may be turned. */
static bool spend(uint64_t *budget, uint64_t bytes)
{
    if (bytes > *budget)
        return false;
    *budget -= bytes;
    return true;
}

/* Tuples of other sizes are their owners' business. */
static void turn_ring(struct es_segment_view *view,
                      const struct es_element_layout *layout,
                      uint64_t *budget)
{
    uint64_t head = atomic_load_explicit(&layout->head, memory_order_relaxed);
    /* With the open tuple's slot. */
    uint64_t used = head < layout->capacity ? head + 1 : layout->capacity;

    if (esi_segment_view_has_ring(view, layout) &&
        layout->tuple_bytes == sizeof(struct es_tuple) &&
        spend(budget, used * sizeof(struct es_tuple)))
        es_byte_order_turn_tuples((void *)(view->base + layout->ring_offset),
                                  (size_t)used);
}

static void turn_list(struct es_segment_view *view,
                      const struct es_group_layout *group,
                      uint64_t *budget)
{
    if (group->kind == ES_GROUP_LIST && esi_segment_view_has_list(view, group) &&
        spend(budget, (uint64_t)group->size * sizeof(int32_t)))
        es_byte_order_turn_words((void *)(view->base + group->offset),
                                 (size_t)group->size);
}

static void turn_elements(struct es_segment_view *view, uint64_t *budget)
{
    uint32_t count =
        atomic_load_explicit(&view->layout->element_count, memory_order_relaxed);

    for (uint32_t i = 0; i < count && i < view->max_elements; i++) {
        struct es_element_layout *layout = (void *)(view->base + view->elements_offset +
                                                    (uint64_t)i * view->element_bytes);

        es_byte_order_turn_element(layout);
        turn_ring(view, layout, budget);
    }
}

static void turn_communicators(struct es_segment_view *view, uint64_t *budget)
{
    size_t count = es_segment_view_communicator_count(view);

    for (size_t i = 0; i < count; i++) {
        struct es_communicator_layout *entry =
            (void *)(view->base + view->communicators_offset +
                     (uint64_t)i * view->communicator_bytes);

        es_byte_order_turn_communicator(entry);
        turn_list(view, &entry->local, budget);
        turn_list(view, &entry->remote, budget);
    }
}

int esi_foreign_view_load(struct es_segment_view *view)
{
    uint64_t budget = view->bytes;
    int rc = replace_mapping(view);

    if (rc != 0)
        return rc;
    es_byte_order_turn_header(view->layout);
    turn_elements(view, &budget);
    turn_communicators(view, &budget);
    esi_tree_board_turn(view, &budget);
    return 0;
}
