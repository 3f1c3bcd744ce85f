/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The events of a file of lines, block by block: what the lines say is found out by
 * several threads, and given in the order of the file.
 *
 *   esi_set_blocks_create(stream, "set.jsonl", 0, &blocks);
 *   esi_set_blocks_header(blocks, &text, &length, &peek);
 *   while ((code = esi_set_blocks_next(blocks, &block)) > 0)
 *       for each event of the block ...
 *
 * A file of one block is read by the calling thread alone.  At most a block for each
 * thread and two more are in memory, each of 256 KiB of text and some five times that.
 * One thread at a time may use the blocks.
 */
#ifndef ES_MONITORS_EVENTSET_SET_BLOCKS_H
#define ES_MONITORS_EVENTSET_SET_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_set_blocks;

/* Of the lines that are not blank, up to the first that is no event. */
struct esi_set_block {
    struct es_set_event *events; /* may be changed; they borrow from the block */
    const uint64_t *lines;       /* by event, from 1 */
    size_t count;
    int code;              /* 0, or of the line behind them: -EINVAL, -ENOMEM */
    uint64_t line;         /* ... its number */
    struct es_error error; /* ... and what is wrong with it */
};

/* `stream` and `source`, its name in errors, are borrowed.  `threads` 0: as many as
 * there are processors.  0 or -ENOMEM. */
int esi_set_blocks_create(FILE *stream,
                          const char *source,
                          unsigned threads,
                          struct esi_set_blocks **ret_blocks);
/* Accepts NULL. */
void esi_set_blocks_destroy(struct esi_set_blocks *blocks);

/* The first line, before any block, without its end.  *ret_read: what was read from its
 * begin on, 256 KiB where the file has so much.  Borrowed until the next call.  1; 0:
 * the file is empty; -ENOMEM; -errno of the stream. */
int esi_set_blocks_header(struct esi_set_blocks *blocks,
                          const char **ret_text,
                          size_t *ret_length,
                          size_t *ret_read);

/* The next block, which is there until the next call.  1; 0 at the end; -ENOMEM; -errno
 * of the stream. */
int esi_set_blocks_next(struct esi_set_blocks *blocks,
                        struct esi_set_block **ret_block);

#endif
