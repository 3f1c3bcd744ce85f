/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs a program as a child with minimal interference: the launcher of `run`.
 *
 * The child inherits descriptors, process group, session, terminal and signal settings
 * unchanged.  The supervisor sleeps and forwards signals sent only to itself.
 * Single-threaded programs only.
 */
#ifndef ES_CLI_LAUNCH_SUPERVISE_H
#define ES_CLI_LAUNCH_SUPERVISE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/launch/unseen.h"

struct esi_supervision {
    char **argv;      /* borrowed; argv[0] is searched in PATH */
    int death_signal; /* sent to the child when the supervisor dies; 0 = none */
};

/* Starts the child.  Returns its process id or -errno. */
pid_t esi_supervise_start(const struct esi_supervision *supervision);

/* Waits for the child and forwards signals meanwhile; stops and continues with it, as a
 * member of the same job.  `unseen`: looks at its processes meanwhile; or NULL.
 * Returns its status like waitpid(2), or -1 if not available; and whether SIGINT was
 * received.  Once per start. */
int esi_supervise_wait(pid_t child, struct esi_unseen *unseen, bool *ret_interrupted);

/* Ignores all signals that end or stop a job: for other children of `run`, which end
 * with the program, and go on while it does. */
void esi_supervise_leave_signals(void);

/* Executes the program; on failure prints the reason and exits with 127 (not found) or
 * 126. */
_Noreturn void esi_supervise_become(char **argv);

#endif
