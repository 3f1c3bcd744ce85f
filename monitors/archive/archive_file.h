/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Files that are replaced or read as a whole. */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_FILE_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "monitors/archive/archive_tables.h"

/* Atomically replaces `name` in `directory` (a descriptor) by the output of `write`:
 * readers see either the old or the new file, also after a crash.  The new file is
 * created in `workshop`, a directory of the same file system, with the permissions of
 * the old one, else for this user only.  On failure returns -errno and keeps the old
 * file. */
int esi_archive_replace(int workshop,
                        int directory,
                        const char *name,
                        void (*write)(const void *data, FILE *stream),
                        const void *data);

/* Reads a whole regular file and appends a 0 byte.  The caller frees *ret_text.
 * Returns -EFBIG if it is larger than 1 GiB. */
int esi_archive_slurp(int directory,
                      const char *name,
                      char **ret_text,
                      size_t *ret_length);

/* Generates a random UUID (version 4). */
int esi_archive_uuid(uint8_t ret_uuid[16]);

/* Names of the parts of an archive.  They are derived from the tables, so that no name
 * is taken from a file. */

#define ESI_ARCHIVE_SIDE ".eventspace"
#define ESI_ARCHIVE_TABLES "archive.jsonl"
#define ESI_ARCHIVE_MAP "map.json"
#define ESI_ARCHIVE_LEDGERS "ledgers.jsonl"
#define ESI_ARCHIVE_PROFILES "profiles.jsonl"
#define ESI_ARCHIVE_DIAGRAM "diagram"
#define ESI_ARCHIVE_METADATA "metadata"

enum {
    ESI_ARCHIVE_NAME_BYTES = 256, /* of names in the archive, with their terminators */
    ESI_ARCHIVE_LATE_MAX = 256,   /* late streams of an element */
};

/* Returns the name of a host's directory within the archive. */
void esi_archive_host_directory(const struct esi_archive_tables *tables,
                                uint32_t host,
                                char out[ESI_ARCHIVE_NAME_BYTES]);

/* Returns the name of an element's file within its host's directory: `late` 0 = the
 * ordered stream, 1 and up = late streams. */
void esi_archive_stream_name(const struct esi_archive_tables *tables,
                             uint32_t element,
                             unsigned late,
                             char out[ESI_ARCHIVE_NAME_BYTES]);

#endif
