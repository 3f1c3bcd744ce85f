/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_ledgers.c - ledgers as JSON Lines. */
#include "config.h"

#include "monitors/archive/archive_ledgers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_read.h"
#include "pathmap/message.h"
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

/* One line: the ledger of a process that has none yet. */
static int parse_line(const char *line,
                      size_t length,
                      struct es_error *error,
                      struct esi_archive_ledgers *ledgers)
{
    struct es_message *message;
    struct esi_archive_ledger *process;
    int64_t number;
    int rc = esi_message_parse(line, length, "ledgers.jsonl", error, &message);

    if (rc < 0)
        return rc;
    number = esi_member_integer_within(esi_message_root(message), "process", 0,
                                       INT32_MAX, -1);
    if (number < 0 || (uint64_t)number >= ledgers->count ||
        ledgers->processes[number].is_known) {
        rc = es_error_set(error, -EINVAL,
                          "\"process\": expected the number of a process that no "
                          "line before has");
    } else {
        process = &ledgers->processes[number];
        rc = esi_ledger_json_read(esi_message_root(message), error, &process->ledger);
        process->is_known = rc == 0;
    }
    esi_message_destroy(message);
    return rc;
}

int esi_archive_ledgers_parse(const char *text,
                              size_t length,
                              size_t processes,
                              struct es_error *error,
                              struct esi_archive_ledgers *ret_ledgers)
{
    struct esi_archive_ledgers ledgers = {.count = 0};
    const char *end = text + length;
    int rc = esi_archive_ledgers_init(&ledgers, processes);

    for (int line = 1; rc == 0 && text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end;
        rc = parse_line(text, (size_t)(stop - text), error, &ledgers);
        if (rc < 0 && error)
            error->line = line;
        text = stop + 1;
    }
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
