/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* site_column.c - reads and writes files of call sites. */
#include "config.h"

#include "monitors/archive/site_column.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

enum { FULL = 8192, NAME_BYTES = 24 };

static void name_file(uint32_t element, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "sites.%" PRIu32, element);
}

void esi_site_column_fini(struct esi_site_column *column)
{
    free(column->sites);
    *column = (struct esi_site_column){.sites = NULL};
}

int esi_site_column_add(struct esi_site_column *column, uint64_t index, uint64_t site)
{
    size_t at;

    if (site == 0)
        return 0;
    if (column->count == 0)
        column->first = index;
    at = (size_t)(index - column->first);
    if (ESI_ARRAY_RESERVE(column->sites, column->capacity, at + 1) < 0)
        return -ENOMEM;
    while (column->count < at)
        column->sites[column->count++] = 0;
    column->sites[at] = htole64(site);
    column->count = at + 1;
    return 0;
}

bool esi_site_column_is_full(const struct esi_site_column *column)
{
    return column->count >= FULL;
}

/* Gaps in the file read as 0: not known. */
static int write_sites(int file, const struct esi_site_column *column)
{
    const char *bytes = (const char *)column->sites;
    size_t left = column->count * sizeof *column->sites;
    off_t at = (off_t)(column->first * sizeof *column->sites);

    while (left > 0) {
        ssize_t written = pwrite(file, bytes, left, at);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -ENOSPC;
        bytes += written;
        at += written;
        left -= (size_t)written;
    }
    return 0;
}

int esi_site_column_flush(struct esi_site_column *column, int side, uint32_t element)
{
    char name[NAME_BYTES];
    int result = 0;
    int file;

    if (column->count == 0)
        return 0;
    name_file(element, name);
    file = openat(side, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        result = -errno;
    else
        result = write_sites(file, column);
    if (file >= 0 && close(file) < 0 && result == 0)
        result = -errno;
    column->count = 0;
    return result;
}

/* --- Reading ---------------------------------------------------------------------- */

bool esi_site_block_exists(int side, uint32_t element)
{
    char name[NAME_BYTES];

    name_file(element, name);
    return side >= 0 && faccessat(side, name, R_OK, 0) == 0;
}

static void load_block(struct esi_site_block *block,
                       int side,
                       uint32_t element,
                       uint64_t index)
{
    char name[NAME_BYTES];
    ssize_t bytes = 0;
    int file;

    block->loaded = true;
    block->first = index;
    block->count = 0;
    name_file(element, name);
    file = openat(side, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return;
    if (index <= INT64_MAX / sizeof *block->sites)
        bytes = pread(file, block->sites, sizeof block->sites,
                      (off_t)(index * sizeof *block->sites));
    close(file);
    if (bytes > 0)
        block->count = (size_t)bytes / sizeof *block->sites;
}

uint64_t esi_site_block_get(struct esi_site_block *block,
                            int side,
                            uint32_t element,
                            uint64_t index)
{
    if (!block->loaded || index - block->first >= ESI_SITE_BLOCK)
        load_block(block, side, element, index);
    return index - block->first < block->count
               ? le64toh(block->sites[index - block->first])
               : 0;
}
