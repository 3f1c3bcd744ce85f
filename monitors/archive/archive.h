/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes a run to disk as a Common Trace Format archive (docs/archive.md):
 *
 *   DIR/HOST/metadata             one CTF trace per host, with its own UUID and clock
 *   DIR/HOST/NAME.N               the tuples of element N, ordered by completion
 *   DIR/HOST/NAME.N.late-K        tuples that were published after later ones
 *   DIR/.eventspace/archive.jsonl the tables (archive_tables.h)
 *   DIR/.eventspace/map.json      the expanded pathmap
 *   DIR/.eventspace/ledgers.jsonl what was outstanding at the end (archive_records.h)
 *   DIR/.eventspace/profiles.jsonl sums over all calls (archive_records.h)
 *
 *   esi_archive_create(&config, &error, &archive);
 *   esi_archive_tables_add_process(esi_archive_writer_tables(archive), ...); ...
 *   esi_archive_write_tables(archive);          before the first tuple of an element
 *   esi_archive_append(archive, element, &tuple, position);  ...
 *   esi_archive_flush(archive, age_ns);         now and then
 *   esi_archive_close(archive, ended_ns, &error);
 *
 * Whole packets are appended, so an archive that was truncated at any byte is readable
 * up to its last complete packets.  The tables are replaced as a whole.
 *
 * Failures are permanent: the first one is kept, the file is truncated to the last
 * complete packet, and all later calls return the same error.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_H

#include "monitors/archive/archive_tables.h"

struct esi_archive_config {
    const char *directory; /* created if it does not exist, else must be empty; borrowed
                              for the call */
    const char *run;       /* borrowed for the call */
    uint64_t begun_ns;     /* start of the recording, run time */
    size_t packet_bytes;   /* 0 = 64 KiB */
};

struct esi_archive;
struct esi_archive_records;

/* Creates an archive.  Returns 0, or a negative errno with a message if the directory
 * cannot be used (-EEXIST: it is not empty). */
int esi_archive_create(const struct esi_archive_config *config,
                       struct es_error *error,
                       struct esi_archive **ret_archive);

/* Returns the tables, which the caller fills.  The UUIDs of hosts are set
 * automatically. */
struct esi_archive_tables *esi_archive_writer_tables(struct esi_archive *archive);

/* Writes the expanded pathmap, given as text. */
int esi_archive_write_map(struct esi_archive *archive, const char *text);

/* Writes the ledgers or the profiles of the processes. */
int esi_archive_write_records(struct esi_archive *archive,
                              const struct esi_archive_records *records);

/* Replaces the file of the tables by their current contents. */
int esi_archive_write_tables(struct esi_archive *archive);

/* Appends a tuple of an element; tuples must be in the order of publication.  Times are
 * nanoseconds of run time; `position` numbers the tuples of the element, for
 * information only.  If the operation is not in the table of operations, returns
 * -EINVAL and counts the tuple as lost; this is not a failure of the archive.  Writes
 * the tables first if elements were added since they were last written. */
int esi_archive_append(struct esi_archive *archive,
                       uint32_t element,
                       const struct es_tuple *tuple,
                       uint64_t position);

/* Sets the call site of the last tuple of this element; 0 = not known. */
int esi_archive_note_site(struct esi_archive *archive, uint32_t element, uint64_t site);

/* Records that `lost` tuples of the element are missing at this point. */
int esi_archive_lose(struct esi_archive *archive, uint32_t element, uint64_t lost);

/* Writes packets that were begun more than `age_ns` ago by the clock of the host; 0:
 * all. */
int esi_archive_flush(struct esi_archive *archive, uint64_t age_ns);

/* Returns the number of bytes in streams, written and still to be written. */
uint64_t esi_archive_bytes(const struct esi_archive *archive);

/* Writes the remaining packets, and the tables with `ended_ns`.  Always frees the
 * archive.  Returns 0, or the first failure with a message that names the file. */
int esi_archive_close(struct esi_archive *archive,
                      uint64_t ended_ns,
                      struct es_error *error);

/* Returns the first failure; NULL = none.  Borrowed. */
const struct es_error *esi_archive_failure(const struct esi_archive *archive);

#endif
