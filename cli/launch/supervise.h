/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs a program as a child and gets out of its way: the launcher of `run`.
 *
 * The child inherits descriptors, process group, session, terminal and signal settings
 * as they were.  The supervisor sleeps and passes on the signals that are sent to it
 * alone.  Single-threaded programs only.
 */
#ifndef ES_CLI_LAUNCH_SUPERVISE_H
#define ES_CLI_LAUNCH_SUPERVISE_H

#include <stdbool.h>
#include <sys/types.h>

struct esi_supervision {
    char **argv;      /* borrowed; argv[0] is looked up in PATH */
    int death_signal; /* the child gets it when the supervisor dies; 0 = none */
};

/* Starts the child.  Returns its process id, or -errno. */
pid_t esi_supervise_start(const struct esi_supervision *supervision);

/* Waits for the child, passing signals on meanwhile.  Returns its status as waitpid(2)
 * does, or -1 when it was not to be had; and whether SIGINT came.  Once per start. */
int esi_supervise_wait(pid_t child, bool *ret_interrupted);

/* Becomes the program; prints why and ends with 127 (not found) or 126 when that fails.
 */
_Noreturn void esi_supervise_become(char **argv);

#endif
