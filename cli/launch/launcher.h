/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The command line by which `eventspace run` has its ranks started. */
#ifndef ES_CLI_LAUNCH_LAUNCHER_H
#define ES_CLI_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

struct esi_launcher_request {
    const char
        *command; /* --launcher; NULL = $EVENTSPACE_LAUNCHER, else that of the MPI */
    int ranks;
    const char *hostfile; /* NULL = none */
    bool collect;         /* start the ranks through `eventspace exec` */
    char **program;       /* borrowed, NULL at its end */
};

/* A command line; its array and words are owned. */
struct esi_command_line {
    char **words; /* NULL at its end */
    size_t count;
    size_t capacity;
};

/* Makes "LAUNCHER -n N [-machinefile F] [SELF exec --] PROGRAM ARGUMENTS...".  LAUNCHER
 * is split into words as a shell does it, without running commands.  -EINVAL with words
 * in `error`, or -ENOMEM. */
int esi_launcher_command_line(const struct esi_launcher_request *request,
                              struct es_error *error,
                              struct esi_command_line *ret_line);

/* Frees what the line owns; the struct is the caller's. */
void esi_command_line_fini(struct esi_command_line *line);

#endif
