/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What an archive says of each process when recording ended, a line of JSON for each:
 * its ledger (tuplespace/ledger.h) in DIR/.eventspace/ledgers.jsonl, its profile
 * (tuplespace/profile.h) in DIR/.eventspace/profiles.jsonl.
 *
 * Times in them are nanoseconds, of run time as in the archive's tuples.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_RECORDS_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "tuplespace/ledger.h"
#include "tuplespace/profile.h"

struct esi_archive_reader;

enum esi_archive_record_kind { ESI_RECORD_LEDGER, ESI_RECORD_PROFILE };

/* By the archive's numbers of processes.  All zero is an empty list. */
struct esi_archive_records {
    enum esi_archive_record_kind kind;
    struct esi_archive_record {
        bool is_known;
        union {
            struct esi_ledger ledger;
            struct esi_profile profile;
        };
    } * processes; /* owned */
    size_t count;
};

/* Room for so many processes, all unknown; -ENOMEM. */
int esi_archive_records_init(struct esi_archive_records *records,
                             enum esi_archive_record_kind kind,
                             size_t processes);
/* All zero is allowed. */
void esi_archive_records_fini(struct esi_archive_records *records);

/* The name of the file that holds them. */
const char *esi_archive_records_file(enum esi_archive_record_kind kind);
void esi_archive_records_write(const struct esi_archive_records *records, FILE *stream);

/* Reads such a text of an archive of so many processes.  -EINVAL with line and words,
 * also for a process that has two lines; -ENOMEM. */
int esi_archive_records_parse(enum esi_archive_record_kind kind,
                              const char *text,
                              size_t length,
                              size_t processes,
                              struct es_error *error,
                              struct esi_archive_records *ret_records);

/* Those of an archive; free with esi_archive_records_fini().  -ENOENT: it has none, as
 * those of older versions. */
int esi_archive_read_records(const struct esi_archive_reader *reader,
                             enum esi_archive_record_kind kind,
                             struct es_error *error,
                             struct esi_archive_records *ret_records);

#endif
