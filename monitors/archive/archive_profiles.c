/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_profiles.c - profiles as JSON Lines. */
#include "config.h"

#include "monitors/archive/archive_profiles.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_read.h"
#include "monitors/archive/process_lines.h"
#include "scopes/profile_json.h"

int esi_archive_profiles_init(struct esi_archive_profiles *profiles, size_t processes)
{
    profiles->processes = calloc(processes + 1, sizeof *profiles->processes);
    if (!profiles->processes)
        return -ENOMEM;
    profiles->count = processes;
    return 0;
}

void esi_archive_profiles_fini(struct esi_archive_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        if (profiles->processes[i].is_known)
            esi_profile_fini(&profiles->processes[i].profile);
    free(profiles->processes);
    *profiles = (struct esi_archive_profiles){.count = 0};
}

void esi_archive_profiles_write(const struct esi_archive_profiles *profiles,
                                FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    for (size_t i = 0; i < profiles->count; i++) {
        if (!profiles->processes[i].is_known)
            continue;
        esi_json_out_begin_object(&out, NULL);
        esi_json_out_unsigned(&out, "process", i);
        esi_profile_json_write(&profiles->processes[i].profile, &out);
        esi_json_out_end(&out);
    }
}

static int take_profile(void *data,
                        size_t process,
                        const struct es_member *object,
                        struct es_error *error)
{
    struct esi_archive_profiles *profiles = data;
    struct esi_archive_profile *entry = &profiles->processes[process];
    int rc = esi_profile_json_read(object, error, &entry->profile);

    entry->is_known = rc == 0;
    return rc;
}

int esi_archive_profiles_parse(const char *text,
                               size_t length,
                               size_t processes,
                               struct es_error *error,
                               struct esi_archive_profiles *ret_profiles)
{
    struct esi_archive_profiles profiles = {.count = 0};
    int rc = esi_archive_profiles_init(&profiles, processes);

    if (rc == 0)
        rc = esi_process_lines_parse(ESI_ARCHIVE_PROFILES, text, length, processes,
                                     take_profile, &profiles, error);
    if (rc < 0) {
        esi_archive_profiles_fini(&profiles);
        return rc;
    }
    *ret_profiles = profiles;
    return 0;
}

int esi_archive_read_profiles(const struct esi_archive_reader *reader,
                              struct es_error *error,
                              struct esi_archive_profiles *ret_profiles)
{
    char *text;
    size_t length;
    int rc = esi_archive_read_side(reader, ESI_ARCHIVE_PROFILES, &text, &length);

    if (rc < 0)
        return rc;
    rc = esi_archive_profiles_parse(
        text, length, esi_archive_tables(reader)->process_count, error, ret_profiles);
    free(text);
    return rc;
}
