/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_file.h - files that are replaced or read as a whole. */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_FILE_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Replaces `name` in `directory` (descriptors) by what `write` writes: a reader, and
 * what is left after a crash, has the old file or the new one.  The new one is made in
 * `workshop`, a directory of the same file system.  -errno; then the old one stays. */
int esi_archive_replace(int workshop,
                        int directory,
                        const char *name,
                        void (*write)(const void *data, FILE *stream),
                        const void *data);

/* The whole of a regular file, with a 0 behind it.  Caller frees *ret_text.  -EFBIG:
 * more than `most` bytes. */
int esi_archive_slurp(int directory,
                      const char *name,
                      size_t most,
                      char **ret_text,
                      size_t *ret_length);

/* A random UUID (version 4). */
int esi_archive_uuid(uint8_t ret_uuid[16]);

#endif
