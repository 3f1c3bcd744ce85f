/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_records.c - ledgers and profiles as JSON Lines. */
#include "config.h"

#include "monitors/archive/archive_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_read.h"
#include "pathmap/message.h"
#include "scopes/ledger_json.h"
#include "scopes/profile_json.h"

int esi_archive_records_init(struct esi_archive_records *records,
                             enum esi_archive_record_kind kind,
                             size_t processes)
{
    records->processes = calloc(processes + 1, sizeof *records->processes);
    if (!records->processes)
        return -ENOMEM;
    records->kind = kind;
    records->count = processes;
    return 0;
}

void esi_archive_records_fini(struct esi_archive_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        if (!records->processes[i].is_known)
            continue;
        if (records->kind == ESI_RECORD_LEDGER)
            esi_ledger_fini(&records->processes[i].ledger);
        else
            esi_profile_fini(&records->processes[i].profile);
    }
    free(records->processes);
    *records = (struct esi_archive_records){.count = 0};
}

const char *esi_archive_records_file(enum esi_archive_record_kind kind)
{
    return kind == ESI_RECORD_LEDGER ? ESI_ARCHIVE_LEDGERS : ESI_ARCHIVE_PROFILES;
}

void esi_archive_records_write(const struct esi_archive_records *records, FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    for (size_t i = 0; i < records->count; i++) {
        if (!records->processes[i].is_known)
            continue;
        esi_json_out_begin_object(&out, NULL);
        esi_json_out_unsigned(&out, "process", i);
        if (records->kind == ESI_RECORD_LEDGER)
            esi_ledger_json_write(&records->processes[i].ledger, &out);
        else
            esi_profile_json_write(&records->processes[i].profile, &out);
        esi_json_out_end(&out);
    }
}

/* --- Reading ---------------------------------------------------------------------- */

static int read_record(struct esi_archive_records *records,
                       const struct es_member *object,
                       struct es_error *error)
{
    int64_t number = esi_member_integer_within(object, "process", 0, INT32_MAX, -1);
    struct esi_archive_record *record;
    int rc;

    if (number < 0 || (uint64_t)number >= records->count ||
        records->processes[number].is_known)
        return es_error_set(error, -EINVAL,
                            "\"process\": expected the number of a process that no "
                            "earlier line has");
    record = &records->processes[number];
    if (records->kind == ESI_RECORD_LEDGER)
        rc = esi_ledger_json_read(object, error, &record->ledger);
    else
        rc = esi_profile_json_read(object, error, &record->profile);
    record->is_known = rc == 0;
    return rc;
}

static int parse_line(struct esi_archive_records *records,
                      const char *text,
                      size_t length,
                      struct es_error *error)
{
    struct es_message *message;
    int rc = esi_message_parse(text, length, esi_archive_records_file(records->kind),
                               error, &message);

    if (rc < 0)
        return rc;
    rc = read_record(records, esi_message_root(message), error);
    esi_message_destroy(message);
    return rc;
}

/* Errors of members do not contain their location. */
static void locate_error(struct es_error *error, const char *name, int line)
{
    if (!error)
        return;
    error->line = line;
    if (!error->source[0])
        snprintf(error->source, sizeof error->source, "%s", name);
}

int esi_archive_records_parse(enum esi_archive_record_kind kind,
                              const char *text,
                              size_t length,
                              size_t processes,
                              struct es_error *error,
                              struct esi_archive_records *ret_records)
{
    struct esi_archive_records records = {.count = 0};
    const char *end = text + length;
    int rc = esi_archive_records_init(&records, kind, processes);

    for (int line = 1; rc == 0 && text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end;
        rc = parse_line(&records, text, (size_t)(stop - text), error);
        if (rc < 0)
            locate_error(error, esi_archive_records_file(kind), line);
        text = stop + 1;
    }
    if (rc < 0) {
        esi_archive_records_fini(&records);
        return rc;
    }
    *ret_records = records;
    return 0;
}

int esi_archive_read_records(const struct esi_archive_reader *reader,
                             enum esi_archive_record_kind kind,
                             struct es_error *error,
                             struct esi_archive_records *ret_records)
{
    char *text;
    size_t length;
    int rc =
        esi_archive_read_side(reader, esi_archive_records_file(kind), &text, &length);

    if (rc < 0)
        return rc;
    rc = esi_archive_records_parse(kind, text, length,
                                   esi_archive_tables(reader)->process_count, error,
                                   ret_records);
    free(text);
    return rc;
}
