/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The profiles of an archive (tuplespace/profile.h): sums over all calls of each
 * process until recording ended, a line of DIR/.eventspace/profiles.jsonl for each.
 *
 * Times in them are nanoseconds, of run time as in the archive's tuples.
 */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_PROFILES_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_PROFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "tuplespace/profile.h"

struct esi_archive;
struct esi_archive_reader;

/* By the archive's numbers of processes.  All zero is an empty list. */
struct esi_archive_profiles {
    struct esi_archive_profile {
        bool is_known;
        struct esi_profile profile;
    } * processes; /* owned */
    size_t count;
};

/* Room for so many processes, all unknown; -ENOMEM. */
int esi_archive_profiles_init(struct esi_archive_profiles *profiles, size_t processes);
/* All zero is allowed. */
void esi_archive_profiles_fini(struct esi_archive_profiles *profiles);

void esi_archive_profiles_write(const struct esi_archive_profiles *profiles,
                                FILE *stream);

/* Reads such a text of an archive of so many processes.  -EINVAL with line and words;
 * -ENOMEM. */
int esi_archive_profiles_parse(const char *text,
                               size_t length,
                               size_t processes,
                               struct es_error *error,
                               struct esi_archive_profiles *ret_profiles);

/* Those of an archive; free with esi_archive_profiles_fini().  -ENOENT: it has none, as
 * those of older versions. */
int esi_archive_read_profiles(const struct esi_archive_reader *reader,
                              struct es_error *error,
                              struct esi_archive_profiles *ret_profiles);

#endif
