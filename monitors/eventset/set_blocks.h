/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads the events of a file of lines, block by block.  Several threads parse the
 * lines; the blocks are returned in the order of the file.
 *
 *   esi_set_blocks_create(stream, "set.jsonl", 0, &blocks);
 *   esi_set_blocks_header(blocks, &text, &length, &peek);
 *   while ((code = esi_set_blocks_next(blocks, &block)) > 0)
 *       for each event of the block ...
 *
 * A file of one block is read by the calling thread alone.  Memory holds at most one
 * block per thread plus two, each of 256 KiB of text and about five times that of
 * events.
 *
 * The blocks may be used by one thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_BLOCKS_H
#define ES_MONITORS_EVENTSET_SET_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_set_blocks;

/* The lines that are not blank, up to the first that is not an event. */
struct esi_set_block {
    struct es_set_event *events; /* may be modified; they borrow from the block */
    const uint64_t *lines;       /* per event, from 1 */
    size_t count;
    int code;              /* 0, or the error of the next line: -EINVAL, -ENOMEM */
    uint64_t line;         /* number of that line */
    struct es_error error; /* what is wrong with it */
};

/* `stream` and `source`, its name in errors, are borrowed.  `threads` 0: one per
 * processor.  Returns 0 or -ENOMEM. */
int esi_set_blocks_create(FILE *stream,
                          const char *source,
                          unsigned threads,
                          struct esi_set_blocks **ret_blocks);
/* Accepts NULL. */
void esi_set_blocks_destroy(struct esi_set_blocks *blocks);

/* Returns the first line without its end; call before any block is read.  *ret_read is
 * the number of bytes available from its start, 256 KiB if the file is long enough.
 * Borrowed until the next call.  Returns 1; 0 if the file is empty; -ENOMEM; or -errno
 * of the stream. */
int esi_set_blocks_header(struct esi_set_blocks *blocks,
                          const char **ret_text,
                          size_t *ret_length,
                          size_t *ret_read);

/* Returns the next block, valid until the next call.  Returns 1; 0 at the end; -ENOMEM;
 * or -errno of the stream. */
int esi_set_blocks_next(struct esi_set_blocks *blocks,
                        struct esi_set_block **ret_block);

#endif
