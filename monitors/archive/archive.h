/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes a run to disk as a Common Trace Format archive (docs/archive.md):
 *
 *   DIR/HOST/metadata             one CTF trace per host, with its own UUID and clock
 *   DIR/HOST/NAME.N               the tuples of element N, ordered by completion
 *   DIR/HOST/NAME.N.late-K        those that were published after later ones
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
 * Packets are written whole and only appended: an archive that was cut off at any byte
 * is readable up to its last complete packets.  The tables are replaced as a whole.
 *
 * What fails, fails for good: the first failure is kept, what was written is taken back
 * to the last complete packet, and all later calls return it.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_H

#include "monitors/archive/archive_tables.h"

struct esi_archive_config {
    const char *directory; /* made, or there and empty; borrowed for the call */
    const char *run;       /* borrowed for the call */
    uint64_t begun_ns;     /* run time */
    size_t packet_bytes;   /* 0 = 64 KiB */
};

struct esi_archive;
struct esi_archive_records;

/* -EINVAL with words when the directory cannot be used (-EEXIST: is not empty). */
int esi_archive_create(const struct esi_archive_config *config,
                       struct es_error *error,
                       struct esi_archive **ret_archive);

/* To be filled.  Hosts get their UUIDs by themselves. */
struct esi_archive_tables *esi_archive_writer_tables(struct esi_archive *archive);

/* The expanded pathmap as text. */
int esi_archive_write_map(struct esi_archive *archive, const char *text);

/* The ledgers or the profiles of the processes. */
int esi_archive_write_records(struct esi_archive *archive,
                              const struct esi_archive_records *records);

/* Replaces the file of the tables by what they are now. */
int esi_archive_write_tables(struct esi_archive *archive);

/* Appends a tuple of an element, in the order in which they were published.  Its times
 * are nanoseconds of run time; `position` counts the tuples of the element, for people.
 * The operation must be one of the table: -EINVAL else, which is no failure of the
 * archive; such a tuple is counted as lost.  Elements that were added since the tables
 * were written last are written to the tables first. */
int esi_archive_append(struct esi_archive *archive,
                       uint32_t element,
                       const struct es_tuple *tuple,
                       uint64_t position);

/* Where the tuple that was appended last to this element was called; 0 = not known. */
int esi_archive_note_site(struct esi_archive *archive, uint32_t element, uint64_t site);

/* `lost` tuples of the element are missing at this point. */
int esi_archive_lose(struct esi_archive *archive, uint32_t element, uint64_t lost);

/* Writes the packets that were begun more than `age_ns` ago, by the clock of the host;
 * 0: all. */
int esi_archive_flush(struct esi_archive *archive, uint64_t age_ns);

/* Bytes in streams, written and to be written. */
uint64_t esi_archive_bytes(const struct esi_archive *archive);

/* Writes what is left, and the tables with `ended_ns`; frees the archive in any case.
 * 0 or the first failure, with words that name the file. */
int esi_archive_close(struct esi_archive *archive,
                      uint64_t ended_ns,
                      struct es_error *error);

/* What the first failure was; NULL = none.  Borrowed. */
const struct es_error *esi_archive_failure(const struct esi_archive *archive);

#endif
