/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The ledgers of an archive (tuplespace/ledger.h): what each process had outstanding
 * when recording ended, a line of DIR/.eventspace/ledgers.jsonl for each process.
 *
 * Times in them are nanoseconds of run time, as in the archive's tuples.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_LEDGERS_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_LEDGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "tuplespace/ledger.h"

struct esi_archive;
struct esi_archive_reader;

/* By the archive's numbers of processes.  All zero is an empty list. */
struct esi_archive_ledgers {
    struct esi_archive_ledger {
        bool is_known;
        struct esi_ledger ledger;
    } * processes; /* owned */
    size_t count;
};

/* Room for so many processes, all unknown; -ENOMEM. */
int esi_archive_ledgers_init(struct esi_archive_ledgers *ledgers, size_t processes);
/* All zero is allowed. */
void esi_archive_ledgers_fini(struct esi_archive_ledgers *ledgers);

void esi_archive_ledgers_write(const struct esi_archive_ledgers *ledgers, FILE *stream);

/* Reads such a text of an archive of so many processes.  -EINVAL with line and words;
 * -ENOMEM. */
int esi_archive_ledgers_parse(const char *text,
                              size_t length,
                              size_t processes,
                              struct es_error *error,
                              struct esi_archive_ledgers *ret_ledgers);

/* Those of an archive; free with esi_archive_ledgers_fini().  -ENOENT: it has none, as
 * those of older versions. */
int esi_archive_read_ledgers(const struct esi_archive_reader *reader,
                             struct es_error *error,
                             struct esi_archive_ledgers *ret_ledgers);

#endif
