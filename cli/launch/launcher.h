/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The command line with which `eventspace run` starts its ranks. */
#ifndef ES_CLI_LAUNCH_LAUNCHER_H
#define ES_CLI_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

struct esi_launcher_request {
    const char
        *command; /* --launcher; NULL = $EVENTSPACE_LAUNCHER, or else that of the MPI */
    int ranks;    /* of all sections */
    const char *hostfile; /* NULL = none */
    bool collect;         /* start the ranks through `eventspace exec` */
    char **program;       /* with its arguments, and ": OPTIONS PROGRAM ..." for further
                             sections; borrowed, terminated by NULL */
};

/* A command line; its array and words are owned. */
struct esi_command_line {
    char **words; /* terminated by NULL */
    size_t count;
    size_t capacity;
};

/* Number of ranks of the sections after the first.  `command` as in the request. */
int esi_launcher_later_ranks(const char *command, char *const *program);

/* Builds "LAUNCHER -n N [-machinefile F] [SELF exec --] PROGRAM ARGUMENTS... [: OPTIONS
 * [SELF exec --] PROGRAM ARGUMENTS...]...".  LAUNCHER is split into words like in a
 * shell, without running commands.  Returns 0, -EINVAL with `error` filled, or
 * -ENOMEM. */
int esi_launcher_command_line(const struct esi_launcher_request *request,
                              struct es_error *error,
                              struct esi_command_line *ret_line);

/* Frees the contents; the struct is the caller's. */
void esi_command_line_fini(struct esi_command_line *line);

#endif
