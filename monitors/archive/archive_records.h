/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records of the processes at the end of recording, one line of JSON per process: the
 * ledgers (tuplespace/ledger.h) in DIR/.eventspace/ledgers.jsonl, the profiles
 * (tuplespace/profile.h) in DIR/.eventspace/profiles.jsonl.
 *
 * Times are nanoseconds of run time, as in the archive's tuples.
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

/* Records by process number in the archive.  A zeroed list is empty. */
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

/* Makes room for `processes` processes, all unknown.  Returns 0 or -ENOMEM. */
int esi_archive_records_init(struct esi_archive_records *records,
                             enum esi_archive_record_kind kind,
                             size_t processes);
/* Accepts a zeroed list. */
void esi_archive_records_fini(struct esi_archive_records *records);

/* Returns the name of the file that contains them. */
const char *esi_archive_records_file(enum esi_archive_record_kind kind);
/* Writes one line for each known process. */
void esi_archive_records_write(const struct esi_archive_records *records, FILE *stream);

/* Parses the text of such a file of an archive with `processes` processes.  Returns 0,
 * -ENOMEM, or -EINVAL with line and message, also if a process occurs twice. */
int esi_archive_records_parse(enum esi_archive_record_kind kind,
                              const char *text,
                              size_t length,
                              size_t processes,
                              struct es_error *error,
                              struct esi_archive_records *ret_records);

/* Reads the records of an archive; the caller frees them with
 * esi_archive_records_fini().  Returns -ENOENT if there are none, as in archives of
 * older versions. */
int esi_archive_read_records(const struct esi_archive_reader *reader,
                             enum esi_archive_record_kind kind,
                             struct es_error *error,
                             struct esi_archive_records *ret_records);

#endif
