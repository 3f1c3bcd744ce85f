/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads an archive (archive.h) as a stream: memory does not depend on its length.
 *
 *   esi_archive_open(directory, &error, &reader);
 *   esi_archive_merge_create(reader, &error, &merge);
 *   while ((result = esi_archive_merge_next(merge, &item, &error)) > 0)
 *       use(&item, &esi_archive_tables(reader)->elements[item.element]);
 *   esi_archive_merge_destroy(merge);
 *   esi_archive_read_close(reader);
 *
 * The contents of an archive are not trusted: sizes and numbers are checked before use.
 * A stream ends before the first incomplete packet.
 *
 * Not thread safe; each thread must open the archive separately.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_READ_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_READ_H

#include "monitors/archive/archive_tables.h"

struct esi_archive_reader;
struct esi_sites;

/* Opens an archive.  Returns 0, or -ENOENT or -EINVAL with a message: the directory
 * does not exist, is not an archive, or its tables are invalid (with file, line and
 * column). */
int esi_archive_open(const char *directory,
                     struct es_error *error,
                     struct esi_archive_reader **ret_reader);
/* Accepts NULL. */
void esi_archive_read_close(struct esi_archive_reader *reader);

const struct esi_archive_tables *esi_archive_tables(
    const struct esi_archive_reader *reader);

enum { ESI_ARCHIVE_END_BYTES = 384 };

/* Why the recording ended before the run, and when: "the recording ended 3.2 s after it
 * had begun (No space left on device): ...".  Returns false, and an empty text, if it
 * ended with the run. */
bool esi_archive_describe_end(const struct esi_archive_reader *reader,
                              char ret_text[ESI_ARCHIVE_END_BYTES]);

/* Returns whether a path is a directory that looks like an archive. */
bool esi_archive_is_one(const char *directory);

/* An item of an element: a tuple or a loss. */
struct esi_archive_item {
    uint32_t element;
    uint64_t lost;         /* number of tuples missing here; 0: the item is a tuple */
    struct es_tuple tuple; /* times are nanoseconds of run time */
    uint64_t index;        /* number of the tuple among the element's recorded tuples */
    uint64_t site;         /* call site; 0 = not known */
    bool ends_process;     /* set by esi_archive_merge_next(): no item of the process's
                              elements follows */
};

/* --- One element, in the order of publication ------------------------------------- */

struct esi_archive_cursor;

int esi_archive_cursor_create(struct esi_archive_reader *reader,
                              uint32_t element,
                              struct es_error *error,
                              struct esi_archive_cursor **ret_cursor);
/* Accepts NULL. */
void esi_archive_cursor_destroy(struct esi_archive_cursor *cursor);

/* Returns 1; 0 at the end; -EBADMSG with a message if the stream is damaged; or
 * -errno. */
int esi_archive_cursor_next(struct esi_archive_cursor *cursor,
                            struct esi_archive_item *ret_item,
                            struct es_error *error);

/* Passes all items of all elements, one element after the other, each in its order; a
 * negative result of `take` ends this.  Returns 0, that result, or the errors of
 * esi_archive_cursor_next(). */
int esi_archive_foreach_item(struct esi_archive_reader *reader,
                             int (*take)(void *data,
                                         const struct esi_archive_item *item),
                             void *data,
                             struct es_error *error);

/* --- All elements, merged by completion; each keeps its order --------------------- */

struct esi_archive_merge;

int esi_archive_merge_create(struct esi_archive_reader *reader,
                             struct es_error *error,
                             struct esi_archive_merge **ret_merge);
/* Accepts NULL. */
void esi_archive_merge_destroy(struct esi_archive_merge *merge);
/* Returns the same values as esi_archive_cursor_next(). */
int esi_archive_merge_next(struct esi_archive_merge *merge,
                           struct esi_archive_item *ret_item,
                           struct es_error *error);

/* Creates the sites of the archive's processes from their modules; processes are in the
 * order of the tables.  The text of a site is esi_sites_format_in(*ret_sites, process,
 * site).  The caller destroys *ret_sites.  Returns 0 or -ENOMEM. */
int esi_archive_sites(const struct esi_archive_reader *reader,
                      struct esi_sites **ret_sites);

/* --- Other files of the archive --------------------------------------------------- */

/* Reads the text of the expanded pathmap.  The caller frees *ret_text.  Returns -ENOENT
 * if there is none. */
int esi_archive_read_map(struct esi_archive_reader *reader, char **ret_text);

/* Like esi_archive_read_map(), for any file of the side directory; returns its
 * length. */
int esi_archive_read_side(const struct esi_archive_reader *reader,
                          const char *name,
                          char **ret_text,
                          size_t *ret_length);

/* Replaces or creates a file in the side directory. */
int esi_archive_write_side(const struct esi_archive_reader *reader,
                           const char *name,
                           const void *bytes,
                           size_t length);

/* Returns a number that identifies the archive and changes if its streams change their
 * lengths.  It is computed from the UUIDs of the hosts, the end of the run and the
 * sizes of the streams, whose sum is *ret_bytes. */
uint64_t esi_archive_fingerprint(const struct esi_archive_reader *reader,
                                 uint64_t *ret_bytes);

/* Removes incomplete packets from the ends of all streams, for readers that cannot
 * handle them.  Returns the number of truncated streams, or -errno. */
int esi_archive_repair(const char *directory,
                       uint64_t *ret_bytes,
                       struct es_error *error);

#endif
