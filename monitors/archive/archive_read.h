/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads an archive (archive.h), streaming: memory does not depend on its length.
 *
 *   esi_archive_open(directory, &error, &reader);
 *   esi_archive_merge_create(reader, &error, &merge);
 *   while ((result = esi_archive_merge_next(merge, &item, &error)) > 0)
 *       use(&item, &esi_archive_tables(reader)->elements[item.element]);
 *   esi_archive_merge_destroy(merge);
 *   esi_archive_read_close(reader);
 *
 * Nothing of an archive is trusted: sizes and numbers are checked before use.  Streams
 * end before the first packet that is not complete.
 *
 * Not thread safe; different threads open the archive separately.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_READ_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_READ_H

#include "monitors/archive/archive_tables.h"

struct esi_archive_reader;
struct esi_sites;

/* -ENOENT, -EINVAL with words: no such directory, or no archive; or its tables are
 * wrong, with file, line and column. */
int esi_archive_open(const char *directory,
                     struct es_error *error,
                     struct esi_archive_reader **ret_reader);
/* Accepts NULL. */
void esi_archive_read_close(struct esi_archive_reader *reader);

const struct esi_archive_tables *esi_archive_tables(
    const struct esi_archive_reader *reader);

/* Whether a path is a directory that looks like an archive. */
bool esi_archive_is_one(const char *directory);

/* One thing that an archive says at a point of an element. */
struct esi_archive_item {
    uint32_t element;
    uint64_t lost;         /* so many tuples are missing here; 0: this is a tuple */
    struct es_tuple tuple; /* with times in nanoseconds of run time */
    uint64_t index;        /* of the tuples of the element that were recorded */
    uint64_t site;         /* where it was called; 0 = not known */
    bool ends_process; /* from esi_archive_merge_next(): nothing of any element of its
                          process is behind this */
};

/* --- One element: in the order in which its tuples were published ----------------- */

struct esi_archive_cursor;

int esi_archive_cursor_create(struct esi_archive_reader *reader,
                              uint32_t element,
                              struct es_error *error,
                              struct esi_archive_cursor **ret_cursor);
/* Accepts NULL. */
void esi_archive_cursor_destroy(struct esi_archive_cursor *cursor);

/* 1, 0 at the end, -EBADMSG with words where the stream is damaged, -errno. */
int esi_archive_cursor_next(struct esi_archive_cursor *cursor,
                            struct esi_archive_item *ret_item,
                            struct es_error *error);

/* --- All elements: each in its order, by completion among them -------------------- */

struct esi_archive_merge;

int esi_archive_merge_create(struct esi_archive_reader *reader,
                             struct es_error *error,
                             struct esi_archive_merge **ret_merge);
/* Accepts NULL. */
void esi_archive_merge_destroy(struct esi_archive_merge *merge);
/* As esi_archive_cursor_next(). */
int esi_archive_merge_next(struct esi_archive_merge *merge,
                           struct esi_archive_item *ret_item,
                           struct es_error *error);

/* The processes of the archive with their modules, in the order of its tables: texts of
 * its sites are esi_sites_format_in(*ret_sites, process, site).  Caller destroys
 * *ret_sites.  -ENOMEM. */
int esi_archive_sites(const struct esi_archive_reader *reader,
                      struct esi_sites **ret_sites);

/* --- Beside that ------------------------------------------------------------------ */

/* Text of the expanded pathmap.  Caller frees *ret_text.  -ENOENT: there is none. */
int esi_archive_read_map(struct esi_archive_reader *reader, char **ret_text);

/* The same for any file beside the traces, with its length. */
int esi_archive_read_side(const struct esi_archive_reader *reader,
                          const char *name,
                          char **ret_text,
                          size_t *ret_length);

/* Replaces a file beside the traces, or makes it. */
int esi_archive_write_side(const struct esi_archive_reader *reader,
                           const char *name,
                           const void *bytes,
                           size_t length);

/* A number that tells archives apart, and an archive from itself when its streams have
 * other lengths: of the hosts' UUIDs, the end of the run and the streams' bytes, which
 * are *ret_bytes in all. */
uint64_t esi_archive_fingerprint(const struct esi_archive_reader *reader,
                                 uint64_t *ret_bytes);

/* Cuts what is not a complete packet off the ends of all streams, for readers that do
 * not do so by themselves.  Returns the number of streams that were cut, or -errno. */
int esi_archive_repair(const char *directory,
                       uint64_t *ret_bytes,
                       struct es_error *error);

#endif
