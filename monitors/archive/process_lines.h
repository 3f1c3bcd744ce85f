/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_lines.h - files of an archive with a line of JSON for each process. */
#ifndef ES_MONITORS_ARCHIVE_PROCESS_LINES_H
#define ES_MONITORS_ARCHIVE_PROCESS_LINES_H

#include <stddef.h>

#include "eventspace/error.h"
#include "pathmap/message.h"

/* Gets the line of a process.  0, or a negative result, which ends the parsing. */
typedef int (*esi_process_line_fn)(void *data,
                                   size_t process,
                                   const struct es_member *object,
                                   struct es_error *error);

/* Calls back for each line of the file `name` of an archive of so many processes.
 * -EINVAL with line and words: also for a process that has two; -ENOMEM. */
int esi_process_lines_parse(const char *name,
                            const char *text,
                            size_t length,
                            size_t processes,
                            esi_process_line_fn take,
                            void *data,
                            struct es_error *error);

#endif
