/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_merge.c - the tuples of all elements by completion: a heap of cursors. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/archive/archive_reader.h"

struct source {
    struct es_archive_cursor *cursor; /* owned */
    struct es_archive_item item;      /* what it stands before */
    /* The latest completion up to the item: late tuples and losses keep their places in
     * their elements. */
    uint64_t key_ns;
};

struct es_archive_merge {
    const struct es_archive_tables *tables; /* borrowed */
    struct source *sources;                 /* a heap by (key, element); owned */
    size_t count;
    uint32_t *left; /* sources of each process; owned */
};

static bool is_before(const struct source *a, const struct source *b)
{
    if (a->key_ns != b->key_ns)
        return a->key_ns < b->key_ns;
    return a->item.element < b->item.element;
}

static void sift_down(struct es_archive_merge *merge, size_t at)
{
    struct source *sources = merge->sources;
    struct source moving = sources[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= merge->count)
            break;
        if (child + 1 < merge->count && is_before(&sources[child + 1], &sources[child]))
            child++;
        if (!is_before(&sources[child], &moving))
            break;
        sources[at] = sources[child];
        at = child;
    }
    sources[at] = moving;
}

/* 1, 0 at the end of the element, -errno. */
static int advance(struct source *source, struct es_error *error)
{
    int result = es_archive_cursor_next(source->cursor, &source->item, error);

    if (result > 0 && source->item.tuple.stop > source->key_ns)
        source->key_ns = source->item.tuple.stop;
    return result;
}

static int add_source(struct es_archive_merge *merge,
                      struct es_archive_reader *reader,
                      uint32_t element,
                      struct es_error *error)
{
    struct source source = {.cursor = NULL};
    int result = es_archive_cursor_create(reader, element, error, &source.cursor);

    if (result == 0)
        result = advance(&source, error);
    if (result > 0) {
        merge->sources[merge->count++] = source;
        merge->left[merge->tables->elements[element].process]++;
    } else
        es_archive_cursor_destroy(source.cursor);
    return result < 0 ? result : 0;
}

int es_archive_merge_create(struct es_archive_reader *reader,
                            struct es_error *error,
                            struct es_archive_merge **ret_merge)
{
    size_t count = reader->tables.element_count;
    struct es_archive_merge *merge = calloc(1, sizeof *merge);
    int result = 0;

    if (merge) {
        merge->tables = &reader->tables;
        merge->sources = calloc(count + 1, sizeof *merge->sources);
        merge->left = calloc(reader->tables.process_count + 1, sizeof *merge->left);
    }
    if (!merge || !merge->sources || !merge->left)
        result = es_error_set(error, -ENOMEM, "no memory left for the archive");
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = add_source(merge, reader, i, error);
    if (result < 0) {
        es_archive_merge_destroy(merge);
        return result;
    }
    for (size_t i = merge->count / 2; i-- > 0;)
        sift_down(merge, i);
    *ret_merge = merge;
    return 0;
}

void es_archive_merge_destroy(struct es_archive_merge *merge)
{
    int saved_errno = errno;

    if (!merge)
        return;
    for (size_t i = 0; i < merge->count; i++)
        es_archive_cursor_destroy(merge->sources[i].cursor);
    free(merge->sources);
    free(merge->left);
    free(merge);
    errno = saved_errno;
}

int es_archive_merge_next(struct es_archive_merge *merge,
                          struct es_archive_item *ret_item,
                          struct es_error *error)
{
    struct source *first = &merge->sources[0];
    int result;

    if (merge->count == 0)
        return 0;
    *ret_item = first->item;
    result = advance(first, error);
    if (result < 0)
        return result;
    if (result == 0) {
        uint32_t process = merge->tables->elements[ret_item->element].process;

        ret_item->ends_process = --merge->left[process] == 0;
        es_archive_cursor_destroy(first->cursor);
        *first = merge->sources[--merge->count];
    }
    if (merge->count > 0)
        sift_down(merge, 0);
    return 1;
}
