/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_ledgers.c - ledgers as JSON Lines. */
#include "config.h"

#include "monitors/archive/archive_ledgers.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_read.h"
#include "monitors/archive/process_lines.h"
#include "scopes/ledger_json.h"

int esi_archive_ledgers_init(struct esi_archive_ledgers *ledgers, size_t processes)
{
    ledgers->processes = calloc(processes + 1, sizeof *ledgers->processes);
    if (!ledgers->processes)
        return -ENOMEM;
    ledgers->count = processes;
    return 0;
}

void esi_archive_ledgers_fini(struct esi_archive_ledgers *ledgers)
{
    for (size_t i = 0; i < ledgers->count; i++)
        if (ledgers->processes[i].is_known)
            esi_ledger_fini(&ledgers->processes[i].ledger);
    free(ledgers->processes);
    *ledgers = (struct esi_archive_ledgers){.count = 0};
}

void esi_archive_ledgers_write(const struct esi_archive_ledgers *ledgers, FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    for (size_t i = 0; i < ledgers->count; i++) {
        if (!ledgers->processes[i].is_known)
            continue;
        esi_json_out_begin_object(&out, NULL);
        esi_json_out_unsigned(&out, "process", i);
        esi_ledger_json_write(&ledgers->processes[i].ledger, &out);
        esi_json_out_end(&out);
    }
}

static int take_ledger(void *data,
                       size_t process,
                       const struct es_member *object,
                       struct es_error *error)
{
    struct esi_archive_ledgers *ledgers = data;
    struct esi_archive_ledger *entry = &ledgers->processes[process];
    int rc = esi_ledger_json_read(object, error, &entry->ledger);

    entry->is_known = rc == 0;
    return rc;
}

int esi_archive_ledgers_parse(const char *text,
                              size_t length,
                              size_t processes,
                              struct es_error *error,
                              struct esi_archive_ledgers *ret_ledgers)
{
    struct esi_archive_ledgers ledgers = {.count = 0};
    int rc = esi_archive_ledgers_init(&ledgers, processes);

    if (rc == 0)
        rc = esi_process_lines_parse(ESI_ARCHIVE_LEDGERS, text, length, processes,
                                     take_ledger, &ledgers, error);
    if (rc < 0) {
        esi_archive_ledgers_fini(&ledgers);
        return rc;
    }
    *ret_ledgers = ledgers;
    return 0;
}

int esi_archive_read_ledgers(const struct esi_archive_reader *reader,
                             struct es_error *error,
                             struct esi_archive_ledgers *ret_ledgers)
{
    char *text;
    size_t length;
    int rc = esi_archive_read_side(reader, ESI_ARCHIVE_LEDGERS, &text, &length);

    if (rc < 0)
        return rc;
    rc = esi_archive_ledgers_parse(
        text, length, esi_archive_tables(reader)->process_count, error, ret_ledgers);
    free(text);
    return rc;
}
