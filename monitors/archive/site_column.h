/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * site_column.h - the call sites of an element's tuples, in a separate file.
 *
 * A CTF stream has no room for them, and a trace directory may not contain other files.
 * They are stored in a file in the archive's own directory as addresses of 8 bytes,
 * little-endian, in the order of the element's recorded tuples.  Sites beyond the end
 * of the file are not known.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_SITE_COLUMN_H
#define ES_MONITORS_ARCHIVE_SITE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sites that are still to be written; empty if zeroed. */
struct esi_site_column {
    uint64_t *sites; /* owned; little-endian */
    size_t count, capacity;
    uint64_t first; /* index of the first one */
};

void esi_site_column_fini(struct esi_site_column *column);

/* Adds the site of tuple `index`; indices must increase.  0 takes no memory.  Returns 0
 * or -ENOMEM. */
int esi_site_column_add(struct esi_site_column *column, uint64_t index, uint64_t site);

/* Returns whether enough sites have been added to write them. */
bool esi_site_column_is_full(const struct esi_site_column *column);

/* Writes the sites to the element's file in the directory `side`.  On failure returns
 * -errno and discards them, because tuples are more important. */
int esi_site_column_flush(struct esi_site_column *column, int side, uint32_t element);

/* A block of a file. */
enum { ESI_SITE_BLOCK = 512 };

struct esi_site_block {
    uint64_t sites[ESI_SITE_BLOCK]; /* little-endian */
    size_t count;
    uint64_t first;
    bool loaded;
};

/* Returns whether the element has a file in the directory. */
bool esi_site_block_exists(int side, uint32_t element);

/* Returns the site of tuple `index`, 0 if not known; fastest in increasing order. */
uint64_t esi_site_block_get(struct esi_site_block *block,
                            int side,
                            uint32_t element,
                            uint64_t index);

#endif
