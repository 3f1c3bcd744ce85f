/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * site_column.h - where the tuples of an element were called, beside its streams.
 *
 * A stream of CTF has no room for it, and a trace's directory for no other files: the
 * addresses stand in a file of the archive's own directory, 8 bytes little-endian each,
 * in the order of the element's recorded tuples.  What the file does not have is not
 * known.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_SITE_COLUMN_H
#define ES_MONITORS_ARCHIVE_SITE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is to be written; all zero is empty. */
struct esi_site_column {
    uint64_t *sites; /* owned; little-endian */
    size_t count, capacity;
    uint64_t first; /* index of the first of them */
};

void esi_site_column_fini(struct esi_site_column *column);

/* Notes the site of the tuple `index`; indices rise.  0 takes no room.  -ENOMEM. */
int esi_site_column_add(struct esi_site_column *column, uint64_t index, uint64_t site);

/* Whether so much is noted that it should be written. */
bool esi_site_column_is_full(const struct esi_site_column *column);

/* Writes it into the file of the element in the directory `side`.  -errno; it is then
 * forgotten all the same: tuples matter more. */
int esi_site_column_flush(struct esi_site_column *column, int side, uint32_t element);

/* Some of what a file has. */
enum { ESI_SITE_BLOCK = 512 };

struct esi_site_block {
    uint64_t sites[ESI_SITE_BLOCK]; /* little-endian */
    size_t count;
    uint64_t first;
    bool loaded;
};

/* Whether the element has a file in the directory. */
bool esi_site_block_exists(int side, uint32_t element);

/* The site of the tuple `index`, 0 where it is not known; fastest in rising order. */
uint64_t esi_site_block_get(struct esi_site_block *block,
                            int side,
                            uint32_t element,
                            uint64_t index);

#endif
