/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_lines.c - each line names a process that no line before has. */
#include "config.h"

#include "monitors/archive/process_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who gets the lines, and which processes had theirs. */
struct process_lines {
    const char *name;
    size_t processes;
    bool *seen;
    esi_process_line_fn take;
    void *data;
};

static int parse_process_line(struct process_lines *lines,
                              const char *text,
                              size_t length,
                              struct es_error *error)
{
    struct es_message *message;
    int64_t number;
    int rc = esi_message_parse(text, length, lines->name, error, &message);

    if (rc < 0)
        return rc;
    number = esi_member_integer_within(esi_message_root(message), "process", 0,
                                       INT32_MAX, -1);
    if (number < 0 || (uint64_t)number >= lines->processes || lines->seen[number])
        rc = es_error_set(error, -EINVAL,
                          "\"process\": expected the number of a process that no "
                          "line before has");
    else
        rc = lines->take(lines->data, (size_t)number, esi_message_root(message), error);
    if (rc == 0)
        lines->seen[number] = true;
    esi_message_destroy(message);
    return rc;
}

/* Faults of members do not say where they are. */
static void locate_error(struct es_error *error, const char *name, int line)
{
    if (!error)
        return;
    error->line = line;
    if (!error->source[0])
        snprintf(error->source, sizeof error->source, "%s", name);
}

int esi_process_lines_parse(const char *name,
                            const char *text,
                            size_t length,
                            size_t processes,
                            esi_process_line_fn take,
                            void *data,
                            struct es_error *error)
{
    struct process_lines lines = {.name = name,
                                  .processes = processes,
                                  .seen = calloc(processes + 1, sizeof(bool)),
                                  .take = take,
                                  .data = data};
    const char *end = text + length;
    int rc = lines.seen ? 0 : -ENOMEM;

    for (int line = 1; rc == 0 && text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end;
        rc = parse_process_line(&lines, text, (size_t)(stop - text), error);
        if (rc < 0)
            locate_error(error, name, line);
        text = stop + 1;
    }
    free(lines.seen);
    return rc;
}
